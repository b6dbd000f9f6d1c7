/** `fundfeed watch add`: save a search with a receiver. */
import { InvalidArgumentError } from "commander";
import { Failure } from "../../../db/reason.ts";
import type { Severity } from "../../events/event.ts";
import { resolveFilter } from "../../filter/known.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { matchesAtEnd } from "../../watch/matching.ts";
import { nextTime } from "../../watch/schedule.ts";
import { isName, NAME_RULE, type Receiver, type WatchDefinition } from "../../watch/watch.ts";
import { addWatch } from "../../watch/watches.ts";
import type { Cli, CliCommand } from "../command.ts";
import {
  addAllSourcesOption,
  addFilterOptions,
  type FilterOptions,
  givenFilter,
  refuseUnknownOptions,
  withWords,
} from "../filter-options.ts";
import { printResult } from "../output.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import { addWatchOptions, definitionInWords, refuseAlwaysEmptyRanges, type WatchOptions, withWatches } from "../watch-options.ts";
import { addMessageOptions, type MessageOptions, messageFields, receiversOf } from "../watch-receiver.ts";

type AddOptions = WatchOptions &
  SearchOptions &
  FilterOptions &
  MessageOptions & { to: Receiver["to"]; atLeast: Severity; zone: string; allSources?: true };

export function addCommand(adding: CliCommand, cli: Cli): CliCommand {
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
      refuseAlwaysEmptyRanges(adding, filter, cli.machine.now());
      const { to, atLeast: at_least, zone } = options;
      const matching = { filter, ...(options.allSources && { all_sources: true as const }) };
      const fields = messageFields(adding, words, options);
      await add(cli, name, { ...matching, at_least, ...fields, zone }, receiversOf(cli, adding, to, options), options);
    });
}

async function add(
  cli: Cli,
  name: string,
  definition: Omit<WatchDefinition, "receiver">,
  receivers: readonly Receiver[],
  options: AddOptions,
): Promise<void> {
  const { machine } = cli;
  const matched = await withWatches(cli, options, "create", async (db, catalog) => {
    await resolveFilter(catalog, definition.filter, "watch opportunities of"); // Throws for a mistyped source.
    return withSearchIndex(cli, options, catalog, async (index) => {
      const now = machine.now();
      const { matching, position } = await matchesAtEnd(catalog, index, definition, now);
      const beginning = { at: now, feed: position, matched: options.fromStart ? [] : matching };
      const definitions = receivers.map((receiver) => ({ ...definition, receiver }));
      if (!(await addWatch(db, name, definitions, beginning)))
        throw new Failure(`Cannot add watch ${name}: there is one with this name; fundfeed watch set ${name} changes it`);
      return matching.length;
    });
  });
  const what = definitionInWords(definition, matched, machine.now());
  const text = `Added watch ${name} for ${what}. fundfeed watch run sends its messages${firstInWords(definition, machine.now())}`;
  printResult(cli, options, { name, ...definition, receivers, matching: matched }, text);
}

/** ", the first at 2026-11-24T13:00:00Z" */
function firstInWords({ every, zone }: Pick<WatchDefinition, "every" | "zone">, now: EpochMs): string {
  return every === undefined ? "" : `, the first ones at ${formatInstant(nextTime(every, zone, now))}`;
}

function watchName(text: string): string {
  if (!isName(text)) throw new InvalidArgumentError(NAME_RULE);
  return text;
}
