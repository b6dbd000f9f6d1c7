import { type Command, Option } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { describeFilter, type Filter } from "../filter/filter.ts";
import { csvHeader, csvLineOf } from "../opportunities/csv.ts";
import { find, MATCH_BEGIN, MATCH_END, type Sort, sorts } from "../search/find.ts";
import { type Freshness, readFreshness } from "../search/freshness.ts";
import { readOpportunities } from "../search/records.ts";
import { readWords } from "../search/words.ts";
import { requireSources } from "../sources/source.ts";
import { closest } from "../text/closest.ts";
import { oneLine } from "../text/terminal-text.ts";
import { wholeNumber } from "./arguments.ts";
import { type Cli, command, withCatalog } from "./command.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./filter-options.ts";
import { examples, formatCount, formatDuration } from "./output.ts";
import { colorStyle, markdownTable, plainStyle, type Result, resultTable } from "./results.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "./search-options.ts";
import { wrapped } from "./wrap.ts";

const formats = ["table", "json", "ndjson", "csv", "md"] as const;
type Format = (typeof formats)[number];

type FindOptions = SearchOptions & FilterOptions & { sort?: Sort; limit: number; format?: Format };

/** The width of a table that does not go to a terminal. */
const PLAIN_WIDTH = 80;

export function findCommand(cli: Cli): Command {
  const finding = command("find", "Find opportunities by words and filters")
    .usage("[options] [words...]")
    .argument("[words...]", 'words that must all occur: quantum, "a phrase", quant*, -optical')
    .allowUnknownOption(); // -optical
  addFilterOptions(finding)
    .addOption(new Option("--sort <order>", "order (default: relevance with words, else updated)").choices(sorts))
    .addOption(new Option("--limit <n>", "the most opportunities to show").default(20).argParser(wholeNumber(1, 1_000_000)))
    .addOption(new Option("--format <format>", "output format (default: table; json with --json)").choices(formats))
    .addHelpText(
      "after",
      examples(
        "fundfeed find quantum --status open,closing_soon",
        'fundfeed find "machine learning" -medical --agency navy --closes-after 0d --sort closes',
        "fundfeed find --naics 5417 --set-aside SBA --format csv",
      ),
    );
  return addSearchOptions(finding).action(async (words: string[], options: FindOptions) => {
    refuseUnknownOptions(finding, words);
    const filter = filterOf(options);
    const now = cli.machine.now();
    const search = { words: readWords(words), filter, limit: options.limit };
    const sort = options.sort ?? (search.words.include === undefined ? "updated" : "relevance");
    await withCatalog(cli, options, async (catalog) => {
      await requireSources(catalog, filter.source ?? [], "find opportunities of");
      const { total, results } = await withSearchIndex(cli, options, catalog, async (index) => {
        const { total, found } = find(index, { ...search, sort }, now);
        return { total, results: await resultsOf(catalog, found) };
      });
      const freshness = await readFreshness(catalog, now);
      tellFilters(cli, filter, total);
      print(cli, options.format ?? (options.json ? "json" : "table"), { filter, total, results, freshness });
    });
  });
}

/** A word that begins with "--" was meant as an option. */
function refuseUnknownOptions(finding: Command, words: readonly string[]): void {
  const unknown = words.find((word) => word.startsWith("--"));
  if (unknown === undefined) return;
  const name = unknown.replace(/=.*/, "");
  const meant = closest(
    name,
    finding.options.map(({ long }) => long ?? ""),
  );
  finding.error(`error: unknown option '${name}'${meant === undefined ? "" : `\n(Did you mean ${meant}?)`}`);
}

async function resultsOf(catalog: CatalogDb, found: readonly { id: string; snippet: string | null }[]): Promise<Result[]> {
  const snippets = new Map(found.map(({ id, snippet }) => [id, snippet]));
  const opportunities = await readOpportunities(
    catalog,
    found.map(({ id }) => id),
  );
  return opportunities.map((opportunity) => ({ opportunity, snippet: snippets.get(opportunity.id) ?? null }));
}

/** The filters in words, so that nobody wonders why something is missing. */
function tellFilters({ machine }: Cli, filter: Filter, total: number): void {
  const conditions = describeFilter(filter, machine.now());
  if (conditions.length > 0) machine.printError(`Found ${formatCount(total)} with ${conditions.join("; ")}`);
}

type Answer = { filter: Filter; total: number; results: readonly Result[]; freshness: readonly Freshness[] };

function print({ machine }: Cli, format: Format, { filter, total, results, freshness }: Answer): void {
  const hidden = total > results.length ? `${formatCount(results.length)} of ${formatCount(total)} shown; --limit shows more` : "";
  const foot = [hidden, freshnessInWords(freshness)].filter((line) => line !== "");
  if (format === "json") {
    const data = results.map(({ opportunity, snippet }) => ({ ...opportunity, match: snippet && plainSnippet(snippet) }));
    machine.printLine(JSON.stringify({ data, total, filter, sources: freshness }, null, 2));
  } else if (format === "table") {
    const { columns, hasColors } = machine.terminal() ?? { columns: PLAIN_WIDTH, hasColors: false };
    const table =
      results.length === 0 ? "Nothing found" : resultTable(results, machine.now(), columns, hasColors ? colorStyle : plainStyle);
    const lines = foot.flatMap((line) => wrapped(line, columns));
    machine.printText(`${[table, "", ...lines].join("\n")}\n`);
  } else {
    if (format === "ndjson") for (const { opportunity } of results) machine.printLine(JSON.stringify(opportunity));
    if (format === "csv") machine.printText(csvHeader + results.map(({ opportunity }) => csvLineOf(opportunity)).join(""));
    if (format === "md") machine.printLine(markdownTable(results));
    for (const line of foot) machine.printError(line);
  }
}

function plainSnippet(snippet: string): string {
  return snippet.replaceAll(MATCH_BEGIN, "[").replaceAll(MATCH_END, "]");
}

function freshnessInWords(freshness: readonly Freshness[]): string {
  const sources = freshness.map(({ source, age_seconds }) => {
    return `${oneLine(source)} ${age_seconds === null ? "at an unknown time" : `${formatDuration(age_seconds * 1000)} ago`}`;
  });
  return sources.length === 0 ? "Nothing has been imported yet" : `Imported: ${sources.join(", ")}`;
}
