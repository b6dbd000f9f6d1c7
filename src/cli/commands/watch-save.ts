/** `fundfeed watch add` and `fundfeed watch set`: save a search with its receivers, and change it. */
import { InvalidArgumentError } from "commander";
import { Failure } from "../../../db/reason.ts";
import type { Severity } from "../../events/event.ts";
import { type FieldName, fieldNames } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { didYouMean } from "../../text/closest.ts";
import { formatInstant } from "../../text/instant.ts";
import { differenceOf, matchesAtEnd, matchingEach } from "../../watch/matching.ts";
import { watchStatusOf } from "../../watch/pending.ts";
import { nextTime } from "../../watch/schedule.ts";
import { isName, NAME_RULE, type Receiver, type Watch, type WatchDefinition } from "../../watch/watch.ts";
import { addWatch, changeWatch, requireWatch } from "../../watch/watches.ts";
import { type CliCommand, parserBy, parserOfList } from "../command.ts";
import {
  addAllSourcesOption,
  addFilterOptions,
  type FilterOptions,
  flagOf,
  givenFilter,
  refuseUnknownOptions,
  withWords,
} from "../filter-options.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import {
  addWatchOptions,
  CHANGED_MEANWHILE,
  definitionInWords,
  refuseAlwaysEmptyRanges,
  tellTrouble,
  type WatchOptions,
  withWatches,
} from "../watch-options.ts";
import {
  addMessageOptions,
  changedReceivers,
  clearableOptions,
  type MessageOptions,
  messageFields,
  receiversOf,
} from "../watch-receiver.ts";

type Clearable = FieldName | (typeof clearableOptions)[number];
export const clearable: readonly Clearable[] = [...fieldNames, ...clearableOptions];

type SavingOptions = WatchOptions & SearchOptions & FilterOptions & MessageOptions;
type AddOptions = SavingOptions & { to: Receiver["to"]; atLeast: Severity; zone: string; allSources?: true };
type SetOptions = SavingOptions & { clear?: Clearable[]; allSources?: boolean; also?: true; drop?: string };

export function addCommand(adding: CliCommand): CliCommand {
  addWatchOptions(adding)
    .argument("<name>", "name of the watch", watchName)
    .argument("[words...]", 'words that must all occur, as in find: quantum, "a phrase", quant*, -optical')
    .allowUnknownOption(); // -optical
  addMessageOptions(adding, true);
  addAllSourcesOption(addFilterOptions(adding));
  return addSearchOptions(adding)
    .examples(
      "fundfeed watch add quantum quantum --status open,closing_soon --to stdout",
      "fundfeed watch add navy --agency navy --to webhook --url https://example.org/x",
      "fundfeed watch add sbir --program-type SBIR --to smtp --mail-to a@example.org",
      'fundfeed watch add nsf --agency nsf --remind 3d --every "monday 08:00" …',
    )
    .action(async (name: string, words: string[], options: AddOptions) => {
      refuseUnknownOptions(adding, words);
      const filter = withWords(adding, givenFilter(options), words);
      refuseAlwaysEmptyRanges(adding, filter, adding.machine.now());
      const { to, atLeast: at_least, zone } = options;
      const matching = { filter, ...(options.allSources && { all_sources: true as const }) };
      const fields = messageFields(adding, words, options);
      const receivers = receiversOf(adding, to, options);
      const definition = { ...matching, at_least, ...fields, zone };
      const matched = await withWatches(adding, "create", async (db, catalog) => {
        await resolveFilter(catalog, filter, "watch opportunities of"); // Throws for a mistyped source.
        return withSearchIndex(adding, catalog, async (index) => {
          const now = adding.machine.now();
          const { matching, position } = await matchesAtEnd(catalog, index, definition, now);
          const beginning = { at: now, feed: position, matched: options.fromStart ? [] : matching };
          const definitions = receivers.map((receiver) => ({ ...definition, receiver }));
          if (!(await addWatch(db, name, definitions, beginning)))
            throw new Failure(`Cannot add watch ${name}: there is one with this name; fundfeed watch set ${name} changes it`);
          return matching.length;
        });
      });
      const [now, { every }] = [adding.machine.now(), options];
      const first = every === undefined ? "" : `, the first ones at ${formatInstant(nextTime(every, zone, now))}`;
      const what = definitionInWords(definition, matched, now);
      const text = `Added watch ${name} for ${what}. fundfeed watch run sends its messages${first}`;
      adding.print({ name, ...definition, receivers, matching: matched }, text);
    });
}

const watchName = parserBy(NAME_RULE, (text) => (isName(text) ? text : undefined));

export function setCommand(setting: CliCommand): CliCommand {
  addWatchOptions(setting)
    .argument("<name>", "name of the watch")
    .argument("[words...]", "words in place of its own")
    .allowUnknownOption() // -optical
    .option("--clear <filters>", "remove these filters, or what type, remind, every or note says: agency,words", clearableNames);
  addMessageOptions(setting, false)
    .option("--also", "keep the receivers that the watch has, and add this one: --to, or --mail-to alone")
    .option("--drop <receiver>", "remove this receiver, as watch list shows it");
  addAllSourcesOption(addFilterOptions(setting)).option("--no-all-sources", "one record of each opportunity again");
  return addSearchOptions(setting)
    .addHelpText("after", "\nWhat is not given stays. --to without --also replaces all receivers.")
    .examples(
      "fundfeed watch set quantum --status open --at-least critical",
      "fundfeed watch set quantum photonics --clear agency,naics",
      "fundfeed watch set quantum --to smtp --mail-to ann@example.org",
    )
    .action(async (name: string, words: string[], options: SetOptions) => {
      refuseUnknownOptions(setting, words);
      const filter = withWords(setting, givenFilter(options), words);
      const cleared = new Set(options.clear);
      const given = { ...filter, ...messageFields(setting, words, options), type: options.type };
      for (const field of cleared)
        if (given[field] !== undefined) setting.error(`error: give a new value of ${flagOf(field)} or --clear ${field}, not both`);
      const isOwn = (option: string) => !["json", "data", "database", "watchData", "searchData", "mode"].includes(option);
      const isAnyGiven = Object.keys(setting.opts()).some((option) => isOwn(option) && setting.getOptionValueSource(option) === "cli");
      if (Object.keys(filter).length + cleared.size === 0 && !isAnyGiven)
        setting.error("error: nothing to change; give words, filters or other options");
      const keptOf = <Fields extends object>(fields: Fields) =>
        Object.fromEntries(Object.entries(fields).filter(([field, value]) => value !== undefined && !cleared.has(field as Clearable)));
      const now = setting.machine.now();
      const { definition, receivers, matching, paused } = await withWatches(setting, "create", async (db, catalog) => {
        const all = await requireWatch(db, name);
        const before = all[0];
        const { at_least, zone, all_sources, types, remind, every, note } = before.definition;
        const whole = { ...keptOf(before.definition.filter), ...filter };
        refuseAlwaysEmptyRanges(setting, whole, now);
        await resolveFilter(catalog, whole, "watch opportunities of");
        const { type, ...kept } = keptOf({ type: types, remind, every, note });
        const allSources = options.allSources ?? all_sources ?? false;
        const definition: Omit<WatchDefinition, "receiver"> = {
          filter: whole,
          ...(allSources && { all_sources: true as const }),
          at_least: options.atLeast ?? at_least,
          ...(type && { types: type }),
          ...kept,
          ...messageFields(setting, words, options),
          zone: options.zone ?? zone,
        };
        const present = all.map((each) => each.definition.receiver);
        const receivers = changedReceivers(setting, present, options);
        // A receiver that stays keeps its row. Of the others, the first new one takes the place of the first old one, and so on.
        const isSame = (one: Receiver) => (other: Receiver) => Bun.deepEquals(one, other);
        const added = receivers.filter((each) => !present.some(isSame(each)));
        const staying: Watch[] = [];
        const dropped: Watch[] = [];
        for (const watch of all) {
          const { receiver: former } = watch.definition;
          const receiver = receivers.some(isSame(former)) ? former : options.also || options.drop !== undefined ? undefined : added.shift();
          if (receiver === undefined) dropped.push(watch);
          else staying.push({ ...watch, definition: { ...definition, receiver } });
        }
        return withSearchIndex(setting, catalog, async (index) => {
          // Read before the rest: an import that commits meanwhile is then still to be reported to a receiver that is added.
          const end = await matchesAtEnd(catalog, index, definition, now);
          const [former = [], matching = []] = await matchingEach(catalog, index, [before.definition, definition], now);
          const beginning = { at: now, feed: end.position, matched: options.fromStart ? [] : end.matching };
          const definitions = added.map((receiver) => ({ ...definition, receiver }));
          const difference = options.fromStart ? "all" : differenceOf(former, matching);
          if (!(await changeWatch(db, staying, difference, { added: definitions, beginning, dropped })))
            throw new Failure(`Cannot change watch ${name}: ${CHANGED_MEANWHILE}`);
          const statuses = await Promise.all((await requireWatch(db, name)).map((watch) => watchStatusOf(db, watch)));
          return { matching: matching.length, receivers, definition, paused: statuses.map(({ paused }) => paused) };
        });
      });
      const text = `Changed watch ${name}: ${definitionInWords(definition, matching, now)}. It continues where it was`;
      setting.print({ name, ...definition, receivers, matching }, text);
      for (const each of paused) tellTrouble(setting, name, { paused: each, pending: null });
    });
}

const clearableNames = parserOfList((text) =>
  text.split(",").map((each) => {
    const name = each.trim().replaceAll("-", "_");
    const field = clearable.find((known) => known === name);
    if (field === undefined) throw new InvalidArgumentError(`There is no filter "${each}"${didYouMean(name, clearable)}.`);
    return field;
  }),
);
