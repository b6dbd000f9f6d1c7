/** Found opportunities for a terminal of some width, and for Markdown. */
import { agencyInShort } from "../agencies/understand.ts";
import { applicantsInShort } from "../filter/applicants.ts";
import { agencyCodeOf } from "../filter/columns.ts";
import { doubtsOf, dueInShort, dueOf, dueOnDay, isDueSoon } from "../opportunities/due.ts";
import { numberInWords } from "../opportunities/opportunity.ts";
import { alsoAt, alsoAtInWords, statusThere } from "../opportunities/related.ts";
import { firstPartial, type SearchResult } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { missingInWords, type Understood } from "../search/understood.ts";
import { type SourceFreshness, silentInWords } from "../sources/freshness.ts";
import { counted, formatDuration, withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { cut } from "./output.ts";

export const PLAIN_WIDTH = 80;

export type TableStyle = {
  due: (text: string, isSoon: boolean) => string;
  match: (text: string) => string;
  header: (text: string) => string;
};

export const plainStyle: TableStyle = { due: (text) => text, match: (text) => `[${text}]`, header: (text) => text };

export const colorStyle: TableStyle = {
  due: (text, isSoon) => (isSoon ? `\u001b[33m${text}\u001b[39m` : text),
  match: (text) => `\u001b[1m${text}\u001b[22m`,
  header: (text) => `\u001b[2m${text}\u001b[22m`,
};

/** The most columns of a number on a terminal of 80, and on a wide one, which has room for names of agencies. The title gets the rest. */
const [NUMBER_MAX, WIDE_NUMBER_MAX, AGENCY_MAX, WIDE_AGENCY_MAX, GAP] = [18, 32, 12, 36, 2];
const TITLE_MIN = 20;
const WIDE = 120;

export function isWide(width: number): boolean {
  return width >= WIDE;
}

type TableRow = Pick<SearchResult, "opportunity" | "duplicates"> & { above?: string | undefined; below: readonly string[] };

/** A line for each opportunity, with the lines below it indented. */
export function resultTable(rows: readonly TableRow[], now: EpochMs, width: number, style: TableStyle): string {
  const header = ["due", "status", "agency", "number", "title"] as const;
  const dues = rows.map(({ opportunity, duplicates }) => dueOf(opportunity, now, duplicates));
  const [agencyMax, numberMax] = isWide(width) ? [WIDE_AGENCY_MAX, WIDE_NUMBER_MAX] : [AGENCY_MAX, NUMBER_MAX];
  const cells = rows.map(({ opportunity }, n) => {
    const { sub_agency, agency } = opportunity.organization;
    const short = () => agencyInShort(agencyCodeOf(opportunity)) ?? sub_agency ?? agency;
    return [
      oneLine(dues[n] === undefined ? "" : dueInShort(dues[n], now)),
      oneLine(opportunity.status),
      cut(oneLine((isWide(width) ? agency : short()) ?? "–"), agencyMax),
      cut(oneLine(numberInWords(opportunity)), numberMax),
      oneLine(opportunity.title),
    ];
  });
  const widths = header
    .slice(0, -1)
    .map((name, column) => Math.max(...[name, ...cells.map((row) => row[column] ?? "")].map((cell) => Bun.stringWidth(cell))));
  const rest = width - widths.reduce((sum, each) => sum + each + GAP, 0);
  const titleWidth = Math.max(TITLE_MIN, rest);
  const number = header.indexOf("number");
  widths[number] = (widths[number] ?? 0) - (titleWidth - rest); // A readable title says more than a whole number.
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const shown = cut(cell, widths[column] ?? titleWidth);
        return shown + " ".repeat(Math.max(0, (widths[column] ?? 0) - Bun.stringWidth(shown)));
      })
      .join(" ".repeat(GAP))
      .trimEnd();
  const lines = rows.flatMap(({ above, below }, n) => {
    const row = cells[n] ?? [];
    const [due = ""] = row;
    const shown = style.due(due, dues[n] !== undefined && isDueSoon(dues[n], now)) + line(row).slice(due.length);
    return [...(above === undefined ? [] : ["", style.header(above)]), shown, ...below.map((text) => `  ${text}`)];
  });
  return [style.header(line(header)), ...lines].join("\n");
}

/** The lines below a result: doubts about its status, and its other sources; then the words it lacks, and where the others matched outside of the title. */
export function matchLines(
  { opportunity, snippet, missing, named, isFar, duplicates }: SearchResult,
  understood: Understood | null,
  now: EpochMs,
  width: number,
  style: TableStyle,
): string[] {
  const room = width - 2;
  const where = alsoAtInWords(alsoAt(duplicates), opportunity.status);
  const lacks = understood === null ? null : missingInWords({ missing, named, isFar }, understood);
  const words = snippet?.replaceAll(MATCH_BEGIN, "").replaceAll(MATCH_END, "").replace(/^…|…$/g, "");
  const match = words === undefined || opportunity.title.replace(/\s+/g, " ").includes(words) ? null : snippet;
  const before = lacks === null ? "" : match === null ? cut(lacks, room) : `${cut(lacks, Math.floor(width / 2))}: `;
  const matched = match === null ? "" : snippetLine(match, room - Bun.stringWidth(before), style);
  const applicants = isWide(width) ? applicantsInShort(opportunity) : null;
  const openTo = applicants === null ? null : `open to ${applicants}`;
  const about = [...doubtsOf(opportunity, now), openTo, where].filter((part) => part !== null).join("; ");
  return [cut(oneLine(about), room), before + matched].filter((line) => line !== "");
}

/** `line` stands between the matches and the partial matches, which have a table of their own. */
export function markdownTable(results: readonly SearchResult[], line: string, now: EpochMs): string {
  const cell = (text: string) => oneLine(text).replace(/([\\|`*_<>[\]])/g, "\\$1");
  const linked = (text: string, url: string | null) =>
    url !== null && /^https?:\/\/[^\s()<>]+$/.test(url) ? `[${cell(text)}](${url})` : cell(text);
  const rows = results.map(({ opportunity, duplicates }) => {
    const { status, organization, title, source } = opportunity;
    const due = dueOf(opportunity, now, duplicates);
    const day = due.kind === "none" ? "" : dueOnDay(due).replace(/^due /, "");
    const others = alsoAt(duplicates)
      .map((duplicate) => linked(duplicate.source_name, duplicate.url) + statusThere(duplicate.status, status))
      .join(", ");
    const where = others === "" ? "" : ` (also at ${others})`;
    const number = linked(numberInWords(opportunity), source.url);
    return `| ${cell(day)} | ${cell(status)} | ${cell(organization.agency ?? "")} | ${number} | ${cell(title)}${where} |`;
  });
  const table = (some: readonly string[]) => ["| Due | Status | Agency | Number | Title |", "|---|---|---|---|---|", ...some].join("\n");
  const first = firstPartial(results);
  if (first === undefined) return table(rows);
  return [...(first > 0 ? [table(rows.slice(0, first))] : []), line, table(rows.slice(first))].join("\n\n");
}

/** How many records were left out because another one of their opportunity is shown; "" if none was. */
export function duplicatesInWords(duplicates: number): string {
  return duplicates === 0 ? "" : `${counted(duplicates, "more record")} of the same opportunities: --all-sources`;
}

/** How many changes were left out because another record of the opportunity had them first; "" if none was. */
export function repeatsInWords(repeats: number): string {
  const changes = repeats === 1 ? "1 more change was" : `${withCommas(repeats)} more changes were`;
  return repeats === 0 ? "" : `${changes} already reported by another source's record: --all-sources`;
}

/** When each source was last imported. */
export function freshnessInWords(freshness: readonly SourceFreshness[]): string {
  const sources = freshness.map(({ source, age_seconds }) => {
    return `${oneLine(source)} ${age_seconds === null ? "at an unknown time" : `${formatDuration(age_seconds * 1000)} ago`}`;
  });
  const silent = silentInWords(freshness);
  const words = `Imported: ${sources.join(", ")}${silent === null ? "" : `; ${oneLine(silent)}`}`;
  return sources.length === 0 ? "Nothing has been imported yet" : words;
}

/** How long ago the stalest source was imported: "imported up to 3 days ago". */
export function freshnessInShort(freshness: readonly SourceFreshness[]): string {
  const ages = freshness.flatMap(({ age_seconds }) => age_seconds ?? []);
  if (ages.length === 0) return freshness.length === 0 ? "nothing has been imported yet" : "imported at an unknown time";
  const [newest, oldest] = [Math.min(...ages), Math.max(...ages)].map((seconds) => formatDuration(seconds * 1000));
  const silent = silentInWords(freshness);
  return `imported ${newest === oldest ? "" : "up to "}${oldest} ago${silent === null ? "" : `; ${oneLine(silent)}`}`;
}

function snippetLine(snippet: string, width: number, style: TableStyle): string {
  const [before = "", ...rest] = snippet.split(MATCH_BEGIN);
  const room = width - 24;
  const beginning = before.length > room ? `…${before.slice(before.length - room + 1)}` : before;
  const marked = [beginning, ...rest].join(MATCH_BEGIN);
  let line = "";
  let columns = 0;
  // Brackets of the plain style take two columns for each match.
  for (const part of marked.split(/(\u0002[^\u0003]*\u0003)/)) {
    const isMatch = part.startsWith(MATCH_BEGIN);
    const text = oneLine(isMatch ? part.slice(1, -1) : part);
    const left = width - columns - (isMatch ? 2 : 0);
    if (left <= 1) break;
    const fitting = cut(text, left);
    line += isMatch ? style.match(fitting) : fitting;
    columns += Bun.stringWidth(fitting) + (isMatch ? 2 : 0);
    if (fitting !== text) break;
  }
  return line;
}
