/** `fundfeed changes`: show what changed in all opportunities. */
import type { CatalogDb } from "../../../db/engine.ts";
import { type EventType, eventTypes, type Severity } from "../../events/event.ts";
import {
  type FeedEntry,
  type FeedFilter,
  type FeedPage,
  LostPositionError,
  readWindow,
  type WindowOrder,
  type WindowPosition,
} from "../../events/feed.ts";
import { BadCursorFile } from "../../feed/cursor-file.ts";
import { describeFilter } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { readFreshness } from "../../sources/freshness.ts";
import { timeInWords } from "../../text/date-in-words.ts";
import { counted } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { PAST, readMoment, SINCE } from "../../text/moment.ts";
import { followFeed, lostPosition, printFeed } from "../change-feed.ts";
import { addOutputOptions, type ChangeFormat, changeFormats, printerFor, widthOf, withOutput } from "../change-output.ts";
import { type CliCommand, type CommonOptions, momentOption, parserBy, refuseValue, typesAmong, wholeNumber } from "../command.ts";
import { addAllSourcesOption, addFilterOptions, type FilterOptions, givenFilter, refuseEmptyRanges } from "../filter-options.ts";
import { instantOrNull, wrapped } from "../output.ts";
import { freshnessInWords, repeatsInWords } from "../results.ts";

type ChangesOptions = CommonOptions &
  FilterOptions & {
    since?: EpochMs | "all";
    until?: EpochMs;
    type?: EventType[];
    atLeast: Severity;
    format?: ChangeFormat;
    bom?: true;
    output?: string;
    limit?: number;
    follow?: true;
    cursorFile?: string;
    feedUrl?: string;
    allSources?: true;
  };

const DEFAULT_SINCE = "7d";
/** For formats that people and feed readers show as a whole. */
const DEFAULT_LIMITS: { [Format in ChangeFormat]?: number } = { table: 50, atom: 500 };
const PAGE = 500;

export function changesCommand(changes: CliCommand): CliCommand {
  changes
    .option(
      "--since <when>",
      "detected after this: 7d or 12h ago, yesterday, monday, a date, a timestamp, or all (default: 7d; with --follow: now)",
      momentOption(changes, SINCE),
    )
    .option("--until <when>", "detected until this, in the same forms but all (default: now)", momentOption(changes, PAST))
    .option("--type <types>", `event types: ${eventTypes.join(", ")}`, typesAmong(eventTypes));
  addOutputOptions(changes, "events", changeFormats)
    .option(
      "--limit <n>",
      "only the newest n events (default: 50 in a table, 500 in Atom); with --cursor-file, the next n",
      wholeNumber(1, 1_000_000),
    )
    .option("--follow", "go on: print new events as they are stored, until SIGINT or SIGTERM")
    .option("--cursor-file <file>", "continue where the last run with this file ended; its first run begins at --since")
    .option("--feed-url <url>", "where the Atom feed will be published", feedUrl);
  addAllSourcesOption(addFilterOptions(changes)).examples(
    "fundfeed changes --since 2d --at-least material --agency navy",
    "fundfeed changes --cursor-file changes.cursor --format ndjson",
    "fundfeed changes --since 30d --format atom -o /var/www/feed.xml",
  );
  return changes.action(async (options: ChangesOptions) => {
    const format = options.format ?? (options.json ? "json" : "table");
    refuseContradictions(changes, options, format);
    const { type: types, atLeast, follow, cursorFile, allSources } = options;
    const chosen: FeedFilter = { filter: givenFilter(options), allSources, types, atLeast };
    refuseEmptyRanges(changes, chosen.filter, changes.machine.now());
    if (!follow && cursorFile === undefined) {
      const now = changes.machine.now();
      const { since = readMoment(DEFAULT_SINCE, now, SINCE), until } = options;
      if (since !== "all" && until !== undefined && since >= until) changes.error("error: --since must be earlier than --until");
      const period = { since: since === "all" ? undefined : since, until };
      return changes.withCatalog((db) => printWindow(changes, db, { ...options, format }, { ...chosen, ...period }, now));
    }
    const since = options.since ?? (follow ? "now" : readMoment(DEFAULT_SINCE, changes.machine.now(), SINCE));
    try {
      await (follow ? followFeed : printFeed)(changes, { ...options, format, chosen, since });
    } catch (error) {
      if (error instanceof BadCursorFile) refuseValue(changes, "--cursor-file", error.message);
      if (error instanceof LostPositionError) throw lostPosition(cursorFile);
      throw error;
    }
  });
}

function refuseContradictions(changes: CliCommand, options: ChangesOptions, format: ChangeFormat): void {
  const { follow, cursorFile, until, limit, output, bom, feedUrl } = options;
  const refuse = (reason: string) => changes.error(`error: ${reason}`);
  if (follow && (format === "json" || format === "atom")) refuse(`--follow cannot print ${format}, which has an end; use --format ndjson`);
  if (follow && output !== undefined) refuse("--follow prints on standard output; leave out --output");
  if (follow && limit !== undefined) refuse("--follow has no end; leave out --limit");
  if (cursorFile !== undefined && format === "atom") refuse("--format atom shows a whole period; leave out --cursor-file");
  if ((follow || cursorFile !== undefined) && until !== undefined) refuse("--follow and --cursor-file skip nothing; leave out --until");
  if (bom && format !== "csv") refuse("--bom needs --format csv");
  if (feedUrl !== undefined && format !== "atom") refuse("--feed-url needs --format atom");
}

/** Prints the events of a period, page by page. With a limit, these are the newest; all but Atom still begins with the oldest of them. */
async function printWindow(
  command: CliCommand,
  db: CatalogDb,
  run: ChangesOptions & { format: ChangeFormat },
  chosen: FeedFilter,
  now: EpochMs,
): Promise<void> {
  const { since, until } = chosen;
  const filter = await resolveFilter(db, chosen.filter, "show changes of");
  const window: FeedFilter = { ...chosen, filter };
  const limit = run.limit ?? DEFAULT_LIMITS[run.format];
  const printer = await printerFor(command, db, run, chosen);
  await withOutput(command, run, async (output) => {
    output.print(printer.begin ?? "");
    const read = { db, filter: window, now };
    const leftOut = limit === undefined ? null : await newestBeyond(read, limit);
    const pages = run.format === "atom" ? pagesOf(read, "newest", limit, null) : pagesOf(read, "oldest", limit, leftOut);
    let [printed, repeats] = [0, 0];
    for await (const page of pages) {
      output.print(printer.entries(page.entries));
      await output.stopIfAsked();
      printed += page.entries.length;
      repeats += page.repeats;
    }
    const isMore = leftOut !== null;
    const freshness = run.format === "table" || run.format === "json" ? await readFreshness(db, now) : [];
    const period = { since: instantOrNull(since ?? null), until: instantOrNull(until ?? null) };
    const words = describeFilter(chosen.filter, now);
    const conditions = { at_least: chosen.atLeast, types: chosen.types ?? null, filter: chosen.filter, filter_in_words: words };
    const summary = { ...period, ...conditions, has_more: isMore, repeats };
    output.print(printer.end?.({ ...summary, sources: freshness }) ?? "");
    const foot = [footOf(printed, isMore, window, words), repeatsInWords(repeats), freshnessInWords(freshness)];
    if (run.format === "table")
      output.print(
        `${printed > 0 ? "\n" : ""}${foot
          .filter((line) => line !== "")
          .flatMap((line) => wrapped(line, widthOf(command.machine, run)))
          .join("\n")}\n`,
      );
    else {
      if (isMore || (run.format !== "json" && (run.since ?? "all") !== "all") || run.until !== undefined)
        command.machine.printError(foot[0] ?? "");
      if (repeats > 0) command.machine.printError(repeatsInWords(repeats));
    }
    output.finish();
    if (run.format === "atom" && run.output !== undefined && run.feedUrl === undefined)
      command.machine.printError(`${run.output} does not say where it is published, which feeds should; --feed-url adds that`);
  });
}

/** What was looked for, so that nobody wonders why something is missing. */
function footOf(printed: number, isMore: boolean, { since, until, types, atLeast }: FeedFilter, conditions: readonly string[]): string {
  const count = printed === 0 ? "No changes" : counted(printed, "change");
  const start = since === undefined ? "the beginning" : timeInWords(formatInstant(since));
  const end = until === undefined ? "" : ` until ${timeInWords(formatInstant(until))}`;
  const kinds = [`${atLeast} or more`, ...(types === undefined ? [] : [`type ${types.join(", ")}`])];
  return `${count} since ${start}${end}, ${[...kinds, ...conditions].join("; ")}${isMore ? "; older ones are not shown: --limit shows more" : ""}`;
}

type Window = { db: CatalogDb; filter: FeedFilter; now: EpochMs };

/** The place of the newest event that a limit leaves out; null if it leaves out none. */
async function newestBeyond(window: Window, limit: number): Promise<WindowPosition> {
  let count = 0;
  let last: FeedEntry | undefined;
  for await (const { entries } of pagesOf(window, "newest", limit + 1, null)) {
    count += entries.length;
    last = entries.at(-1) ?? last;
  }
  return count <= limit || last === undefined ? null : { detected_at: Date.parse(last.event.detected_at), seq: last.seq };
}

async function* pagesOf(
  { db, filter, now }: Window,
  order: WindowOrder,
  limit: number | undefined,
  start: WindowPosition,
): AsyncIterable<Pick<FeedPage<WindowPosition>, "entries" | "repeats">> {
  let [after, left] = [start, limit ?? Number.POSITIVE_INFINITY];
  while (left > 0) {
    const { entries, repeats, position, atEnd } = await readWindow(db, after, filter, now, Math.min(PAGE, left), order);
    yield { entries, repeats };
    if (atEnd) return;
    [after, left] = [position, left - entries.length];
  }
}

const feedUrl = parserBy("It must be an http or https URL without credentials, such as https://example.org/feed.xml.", (text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "" ? url.href : undefined;
});
