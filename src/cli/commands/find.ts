/** `fundfeed find`: find opportunities by words and filters. */
import { foundCsvHeader, foundCsvLine } from "../../export/csv.ts";
import { foundPage } from "../../export/found.ts";
import { CALENDAR_LIMIT, deadlinesCalendar } from "../../feed/deadlines.ts";
import { IN_WORDS } from "../../filter/applicants.ts";
import { describeFilter, type FieldName, type Filter } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { withoutSidecar } from "../../opportunities/opportunity.ts";
import { UNLIMITED } from "../../search/budget.ts";
import { BadCursor } from "../../search/cursor.ts";
import { hinderedSentence } from "../../search/hindered.ts";
import { applicantsSentence } from "../../search/in-words.ts";
import { dropInWords, resultCountsInWords } from "../../search/result-counts.ts";
import { firstPartial, type SearchPage, type Sort, search, sorts } from "../../search/search.ts";
import {
  matchedElsewhere,
  matchedInWords,
  partialInWords,
  preferencesInWords,
  readingInWords,
  type Understood,
} from "../../search/understood.ts";
import { readFreshness, type SourceFreshness } from "../../sources/freshness.ts";
import { BYTE_ORDER_MARK } from "../../text/csv.ts";
import { capitalized, withCommas } from "../../text/in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { type CliCommand, refuseValue, wholeNumber } from "../command.ts";
import {
  addAllSourcesOption,
  addFilterOptions,
  type FilterOptions,
  flagOf,
  givenFilter,
  refuseEmptyRanges,
  refuseUnknownOptions,
  withWords,
} from "../filter-options.ts";
import { wrapped } from "../output.ts";
import {
  colorStyle,
  duplicatesInWords,
  freshnessInShort,
  freshnessInWords,
  isWide,
  markdownTable,
  matchLines,
  PLAIN_WIDTH,
  plainStyle,
  resultTable,
} from "../results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";

const formats = ["table", "json", "ndjson", "csv", "md", "ics"] as const;
type Format = (typeof formats)[number];
const LIMIT = 20;

type FindOptions = SearchOptions &
  FilterOptions & {
    sort?: Sort;
    limit?: number;
    cursor?: string;
    format?: Format;
    bom?: true;
    allSources?: true;
  };

export function findCommand(finding: CliCommand): CliCommand {
  finding.argument("[words...]", 'what is sought: quantum sensors, "a phrase", quant*, +must, -mustnot').allowUnknownOption(); // -optical
  addAllSourcesOption(addFilterOptions(finding))
    .choice("--sort <order>", "order (default: relevance, the best matches, with words, else updated)", sorts)
    .option("--limit <n>", `the most opportunities to show (default: ${LIMIT}; ${CALENDAR_LIMIT} with ics)`, wholeNumber(1, 1_000_000))
    .option("--cursor <cursor>", "continue after the results that gave this cursor; the words, filters and sort must be the same")
    .choice("--format <format>", "output format (default: table; json with --json); ics is a calendar of the deadlines", formats)
    .option("--bom", "begin CSV with a byte-order mark, by which Excel recognizes UTF-8")
    .examples(
      "fundfeed find quantum --status open,closing_soon",
      "fundfeed find drones at least two million in Ohio",
      'fundfeed find "machine learning" -medical --closes-after 0d --sort closes',
      "fundfeed find --naics 5417 --set-aside SBA --format csv",
      "fundfeed find quantum --format ics > quantum.ics",
    );
  return addSearchOptions(finding).action(async (words: string[], options: FindOptions) => {
    refuseUnknownOptions(finding, words, { "--as-of": "see fundfeed help past", "--all-words": "quotes and + ask for exact words" });
    const filter = withWords(finding, givenFilter(options), words);
    const { limit = LIMIT, sort, cursor: after, bom = false, allSources = false } = options;
    const format = options.format ?? (options.json ? "json" : "table");
    if (bom && format !== "csv") finding.error("error: --bom needs --format csv");
    if (format === "ics" && (sort ?? after) !== undefined)
      finding.error("error: --format ics is in the order of dates and has no pages; leave out --sort and --cursor");
    const now = finding.machine.now();
    refuseEmptyRanges(finding, filter, now);
    await finding.withCatalog(async (catalog) => {
      const resolved = await resolveFilter(catalog, filter, "find opportunities of");
      if (format === "ics") {
        const search = { filter: resolved, shown: filter, allSources, limit: options.limit };
        finding.machine.printText(await withSearchIndex(finding, catalog, (index) => deadlinesCalendar(catalog, index, search, now)));
        return;
      }
      const onlyMatching = format === "csv" || format === "ndjson";
      const request = { filter: resolved, limit, sort, after, onlyMatching, allSources, budget: UNLIMITED };
      const searching = withSearchIndex(finding, catalog, (index) => search(catalog, index, request, now));
      const page = await searching.catch((error) => {
        if (error instanceof BadCursor) refuseValue(finding, "--cursor", error.message);
        throw error;
      });
      const freshness = await readFreshness(catalog, now);
      tellFilters(finding, filter, page.total, now);
      print(finding, format, { ...page, isInOrder: (sort ?? "relevance") !== "relevance", filter, freshness, bom, now });
    });
  });
}

/** The filters in words, so that nobody wonders why something is missing. */
function tellFilters({ machine }: CliCommand, { words, ...filter }: Filter, total: number, now: EpochMs): void {
  const conditions = describeFilter(filter, now);
  if (conditions.length > 0) machine.printError(`Found ${withCommas(total)} with ${conditions.join("; ")}`);
}

type Answer = SearchPage & {
  /** Whether the results are in another order than the best matches first. */
  isInOrder: boolean;
  filter: Filter;
  freshness: readonly SourceFreshness[];
  bom: boolean;
  now: EpochMs;
};

function footOf(answer: Answer, continuing: string): string[] {
  const { results, total, duplicates, next, understood, counts, freshness } = answer;
  const hidden = `${withCommas(results.length)} of ${withCommas(total)} shown${next === null ? "" : `; ${continuing}`}`;
  return [
    ...readingOf(understood, answer.now),
    ...matchedElsewhere(answer, answer.isInOrder ? "; --sort relevance shows them" : ""),
    total > results.length ? hidden : "",
    duplicatesInWords(duplicates),
    ...notesOf(answer),
    counts === null || understood === null ? "" : resultCountsInWords(counts),
    freshnessInWords(freshness),
  ].filter((line) => line !== "");
}

function notesOf({ agencyNotes, hindered, inWords, drop, filter: { applicant = [] } }: Answer): string[] {
  const applicants = applicantsSentence(inWords, `--applicant ${[...applicant, IN_WORDS].join(",")}`);
  return [...agencyNotes, hinderedSentence(hindered), applicants, ...dropInWords(drop)].filter((note) => note !== "");
}

/** The lines below the results on a narrow terminal: how the question was read, and one line for the rest. */
function shortFootOf(answer: Answer): string[] {
  const { results, total, next, understood, freshness } = answer;
  const parts = [
    results.length === 0 ? null : `${withCommas(results.length)} of ${withCommas(total)}`,
    matchedInWords(answer),
    next === null ? null : "more with --limit",
    freshnessInShort(freshness),
  ];
  const line = capitalized(parts.filter((part) => part !== null).join("; "));
  return [...readingOf(understood, answer.now), ...notesOf(answer), line];
}

function readingOf(understood: Understood | null, now: EpochMs): string[] {
  if (understood === null) return [];
  const how = ({ words, ...filter }: Filter) =>
    words === undefined
      ? Object.entries(filter)
          .map(([name, value]) => `${flagOf(name as FieldName)} ${[value].flat().join(",")}`)
          .join(" ")
      : `with ${words}`;
  return [...readingInWords(understood), ...preferencesInWords(understood, now, how)];
}

function print({ machine }: CliCommand, format: Exclude<Format, "ics">, answer: Answer): void {
  const { filter, results, freshness, bom, now, isInOrder: _, ...page } = answer;
  const { understood, next } = page;
  if (format === "json") {
    machine.printLine(JSON.stringify({ ...foundPage({ ...page, results }, filter, now), sources: freshness }, null, 2));
  } else if (format === "table") {
    const { columns, hasColors } = machine.terminal() ?? { columns: PLAIN_WIDTH, hasColors: false };
    const style = hasColors ? colorStyle : plainStyle;
    const first = firstPartial(results);
    const rows = results.map((result, n) => ({
      ...result,
      above: n === first ? `${partialInWords(answer)}:` : undefined,
      below: matchLines(result, understood, now, columns, style),
    }));
    const table = results.length === 0 ? "Nothing found" : resultTable(rows, now, columns, style);
    const lines = (isWide(columns) ? footOf(answer, "--limit shows more") : shortFootOf(answer)).flatMap((line) => wrapped(line, columns));
    machine.printText(`${[table, "", ...lines].join("\n")}\n`);
  } else {
    if (format === "ndjson") for (const { opportunity } of results) machine.printLine(JSON.stringify(withoutSidecar(opportunity)));
    if (format === "csv")
      machine.printText(
        (bom ? BYTE_ORDER_MARK : "") +
          foundCsvHeader +
          results.map(({ opportunity, duplicates }) => foundCsvLine(opportunity, duplicates, now)).join(""),
      );
    if (format === "md") machine.printLine(markdownTable(results, `${partialInWords(answer)}:`, now));
    for (const line of footOf(answer, `--cursor ${next} continues`)) machine.printError(line);
  }
}
