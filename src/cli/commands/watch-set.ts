/** `fundfeed watch set`: change the filters or the receiver of a watch. */
import { InvalidArgumentError } from "commander";
import { Failure } from "../../../db/reason.ts";
import { type FieldName, fieldNames } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { didYouMean } from "../../text/closest.ts";
import { matchingEach } from "../../watch/matching.ts";
import { statusOf } from "../../watch/pending.ts";
import type { Watch, WatchDefinition } from "../../watch/watch.ts";
import { changeWatch, requireWatch } from "../../watch/watches.ts";
import type { Cli, CliCommand } from "../command.ts";
import {
  addAllSourcesOption,
  addFilterOptions,
  type FilterOptions,
  flagOf,
  givenFilter,
  refuseUnknownOptions,
  withWords,
} from "../filter-options.ts";
import { printResult } from "../output.ts";
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
import { addMessageOptions, changedReceiver, clearableOptions, type MessageOptions, messageFields } from "../watch-receiver.ts";

/** What a watch can be without. */
type Clearable = FieldName | (typeof clearableOptions)[number];
const clearable: readonly Clearable[] = [...fieldNames, ...clearableOptions];

type SetOptions = WatchOptions & SearchOptions & FilterOptions & MessageOptions & { clear?: Clearable[]; allSources?: boolean };

export function setCommand(setting: CliCommand, cli: Cli): CliCommand {
  addWatchOptions(setting)
    .argument("<name>", "name of the watch")
    .argument("[words...]", "words in place of its own")
    .allowUnknownOption() // -optical
    .option("--clear <filters>", "remove these filters, or what type, remind, every or note says: agency,words", clearableNames);
  addMessageOptions(setting, false);
  addAllSourcesOption(addFilterOptions(setting)).option("--no-all-sources", "one record of each opportunity again");
  return addSearchOptions(setting)
    .addHelpText("after", "\nWhat is not given stays. --to replaces the receiver and all of its options.")
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
      if (Object.keys(filter).length + cleared.size === 0 && !isAnyGiven(setting))
        setting.error("error: nothing to change; give words, filters or other options");
      await set(cli, setting, name, options, ({ filter: present, types, remind, every, note }) => {
        const keptOf = <Fields extends object>(fields: Fields) =>
          Object.fromEntries(Object.entries(fields).filter(([field, value]) => value !== undefined && !cleared.has(field as Clearable)));
        const { type, ...kept } = keptOf({ type: types, remind, every, note });
        const fields = { ...(type && { types: type }), ...kept, ...messageFields(setting, words, options) };
        return { filter: { ...keptOf(present), ...filter }, ...fields };
      });
    });
}

/** Options that change nothing of a watch. */
const OTHER_OPTIONS = ["json", "data", "database", "watchData", "searchData", "mode"];

function isAnyGiven(setting: CliCommand): boolean {
  return Object.keys(setting.opts()).some((name) => !OTHER_OPTIONS.includes(name) && setting.getOptionValueSource(name) === "cli");
}

async function set(
  cli: Cli,
  setting: CliCommand,
  name: string,
  options: SetOptions,
  changed: (definition: WatchDefinition) => Pick<WatchDefinition, "filter" | "types" | "remind" | "every" | "note">,
): Promise<void> {
  const now = cli.machine.now();
  const { watch, matching, paused } = await withWatches(cli, options, "create", async (db, catalog) => {
    const before = await requireWatch(db, name);
    const { filter, ...fields } = changed(before.definition);
    refuseAlwaysEmptyRanges(setting, filter, now);
    await resolveFilter(catalog, filter, "watch opportunities of");
    const { receiver, at_least, zone, all_sources } = before.definition;
    const allSources = options.allSources ?? all_sources ?? false;
    const definition: WatchDefinition = {
      filter,
      ...(allSources && { all_sources: true as const }),
      at_least: options.atLeast ?? at_least,
      ...fields,
      zone: options.zone ?? zone,
      receiver: changedReceiver(cli, setting, receiver, options),
    };
    return withSearchIndex(cli, options, catalog, async (index) => {
      const [former = [], matching = []] = await matchingEach(catalog, index, [before.definition, definition], now);
      const watch: Watch = { ...before, definition };
      if (!(await changeWatch(db, watch, options.fromStart ? "all" : differenceOf(former, matching))))
        throw new Failure(`Cannot change watch ${name}: ${CHANGED_MEANWHILE}`);
      const { paused } = await statusOf(db, await requireWatch(db, name));
      return { watch, matching: matching.length, paused };
    });
  });
  const text = `Changed watch ${name}: ${definitionInWords(watch.definition, matching, now)}. It continues where it was`;
  printResult(cli, options, { name, ...watch.definition, matching }, text);
  tellTrouble(cli, watch, { paused, pending: null });
}

/** What matches only because of the change of a filter, and what no longer does because of it. */
function differenceOf(former: readonly string[], present: readonly string[]): { joining: string[]; leaving: string[] } {
  const [before, after] = [new Set(former), new Set(present)];
  return { joining: present.filter((id) => !before.has(id)), leaving: former.filter((id) => !after.has(id)) };
}

function clearableNames(text: string, earlier: Clearable[] = []): Clearable[] {
  const given = text.split(",").map((each) => {
    const name = each.trim().replaceAll("-", "_");
    const field = clearable.find((known) => known === name);
    if (field === undefined) throw new InvalidArgumentError(`There is no filter "${each}"${didYouMean(name, clearable)}.`);
    return field;
  });
  return [...earlier, ...given];
}
