/** Found opportunities for a terminal of some width, and for Markdown. */
import { dueDateOf } from "../opportunities/clock.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { alsoAt, alsoAtInWords } from "../opportunities/related.ts";
import { numberInWords } from "../search/number.ts";
import type { SearchResult } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { missingInWords, type Understood } from "../search/understood.ts";
import type { SourceFreshness } from "../sources/freshness.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { formatDuration } from "../text/duration.ts";
import { DAY_MS, type EpochMs, parseInstantMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { cut, formatCount } from "./output.ts";

/** The width of a table that does not go to a terminal. */
export const PLAIN_WIDTH = 80;

/** How text is emphasized: not at all where there are no colors. */
type TableStyle = { due: (text: string, isSoon: boolean) => string; match: (text: string) => string; header: (text: string) => string };

export const plainStyle: TableStyle = { due: (text) => text, match: (text) => `[${text}]`, header: (text) => text };

export const colorStyle: TableStyle = {
  due: (text, isSoon) => (isSoon ? `\u001b[33m${text}\u001b[39m` : text),
  match: (text) => `\u001b[1m${text}\u001b[22m`,
  header: (text) => `\u001b[2m${text}\u001b[22m`,
};

/** The most columns of an agency and of a number on a terminal of 80, and on a wide one. The title gets the rest. */
const [AGENCY_MAX, NUMBER_MAX, GAP] = [[12, 36], [20, 32], 2] as const;
const TITLE_MIN = 20;
const SOON_DAYS = 14;

/**
 * A line for each opportunity, one that says where it is, too, and one that shows which words it lacks and where the others matched, unless
 * the title shows it.
 */
export function resultTable(
  results: readonly SearchResult[],
  now: EpochMs,
  width: number,
  style: TableStyle,
  understood: Understood | null,
): string {
  const header = ["due", "status", "agency", "number", "title"] as const;
  const rows = results.map(({ opportunity }) => [
    dueInShort(opportunity.dates, now),
    oneLine(opportunity.status),
    cut(oneLine(opportunity.organization.agency ?? "–"), mostColumns(AGENCY_MAX, width)),
    cut(oneLine(numberInWords(opportunity)), mostColumns(NUMBER_MAX, width)),
    oneLine(opportunity.title),
  ]);
  const widths = header
    .slice(0, -1)
    .map((name, column) => Math.max(...[name, ...rows.map((row) => row[column] ?? "")].map((cell) => Bun.stringWidth(cell))));
  const titleWidth = Math.max(TITLE_MIN, width - widths.reduce((sum, each) => sum + each + GAP, 0));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column < widths.length ? padded(cell, widths[column] ?? 0) : cut(cell, titleWidth)))
      .join(" ".repeat(GAP))
      .trimEnd();
  const lines = rows.flatMap((row, n) => {
    const { opportunity, snippet, missing, twins } = results[n] as SearchResult;
    const [due = ""] = row;
    const shown = style.due(due, isSoon(dueDateOf(opportunity.dates, now), now)) + line(row).slice(due.length);
    const where = alsoAtInWords(alsoAt(twins));
    const lacks = understood === null ? null : missingInWords(missing, understood);
    const match = snippet === null || isIn(snippet, opportunity.title) ? null : snippet;
    const before = lacks === null ? "" : match === null ? cut(lacks, width - 2) : `${cut(lacks, Math.floor(width / 2))}: `;
    const matched = match === null ? "" : snippetLine(match, width - 2 - Bun.stringWidth(before), style);
    return [
      shown,
      ...(where === null ? [] : [`  ${cut(oneLine(where), width - 2)}`]),
      ...(before + matched === "" ? [] : [`  ${before}${matched}`]),
    ];
  });
  return [style.header(line(header)), ...lines].join("\n");
}

/** A third of the columns beyond 80 goes to each of the two, up to its width on a wide terminal. */
function mostColumns([narrow, wide]: readonly [number, number], width: number): number {
  return Math.min(wide, Math.max(narrow, narrow + Math.floor((width - 80) / 3)));
}

export function markdownTable(results: readonly SearchResult[], now: EpochMs): string {
  const cell = (text: string) => oneLine(text).replace(/([\\|`*_<>[\]])/g, "\\$1");
  const linked = (text: string, url: string | null) =>
    url !== null && /^https?:\/\/[^\s()<>]+$/.test(url) ? `[${cell(text)}](${url})` : cell(text);
  const rows = results.map(({ opportunity, twins }) => {
    const { dates, status, organization, title, source } = opportunity;
    const due = dueDateOf(dates, now);
    const others = alsoAt(twins)
      .map(({ source_name, url }) => linked(source_name, url))
      .join(", ");
    const where = others === "" ? "" : ` (also at ${others})`;
    const number = linked(numberInWords(opportunity), source.url);
    return `| ${due === null ? "" : dateInWords(due)} | ${cell(status)} | ${cell(organization.agency ?? "")} | ${number} | ${cell(title)}${where} |`;
  });
  return ["| Closes | Status | Agency | Number | Title |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** How many records were left out because another one of their opportunity is shown; "" if none was. */
export function twinsInWords(twins: number): string {
  const records = twins === 1 ? "1 more record" : `${formatCount(twins)} more records`;
  return twins === 0 ? "" : `${records} of the same opportunities: --all-sources`;
}

/** How many changes were left out because another record of the opportunity had told them; "" if none was. */
export function repeatsInWords(repeats: number): string {
  const told = repeats === 1 ? "1 more change was" : `${formatCount(repeats)} more changes were`;
  return repeats === 0 ? "" : `${told} told before by another source's record: --all-sources`;
}

/** When each source was last imported. */
export function freshnessInWords(freshness: readonly SourceFreshness[]): string {
  const sources = freshness.map(({ source, age_seconds }) => {
    return `${oneLine(source)} ${age_seconds === null ? "at an unknown time" : `${formatDuration(age_seconds * 1000)} ago`}`;
  });
  return sources.length === 0 ? "Nothing has been imported yet" : `Imported: ${sources.join(", ")}`;
}

/** "in 12d", "today", "3y ago", "in 5mo"; without a date, "–, 2016": the year in which it was posted. */
function dueInShort(dates: WholeOpportunity["dates"], now: EpochMs): string {
  const due = dueDateOf(dates, now);
  const closes = due === null ? undefined : parseInstantMs(due);
  if (closes === undefined) return dates.posted_at === null ? "–" : `–, ${dates.posted_at.slice(0, 4)}`;
  const days = Math.floor(Math.abs(closes - now) / DAY_MS);
  if (days === 0) return closes >= now ? "today" : "just now";
  const text = days < 60 ? `${days}d` : days < 730 ? `${Math.round(days / 30.44)}mo` : `${Math.round(days / 365.25)}y`;
  return closes >= now ? `in ${text}` : `${text} ago`;
}

function isSoon(closesAt: string | null, now: EpochMs): boolean {
  const closes = closesAt === null ? undefined : parseInstantMs(closesAt);
  return closes !== undefined && closes >= now && closes < now + SOON_DAYS * DAY_MS;
}

function isIn(snippet: string, title: string): boolean {
  return title.replace(/\s+/g, " ").includes(snippet.replaceAll(MATCH_BEGIN, "").replaceAll(MATCH_END, "").replace(/^…|…$/g, ""));
}

/** The part of a snippet around its first match that fits the width. */
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

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));
}
