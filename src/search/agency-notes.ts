/** Notes on the agencies of a filter: agencies without records, and texts that occur in the names of several agencies. (E-59) */
import type { CatalogDb } from "../../db/engine.ts";
import { resolveAgency } from "../agencies/resolve.ts";
import { isWithin, withParents } from "../agencies/table.ts";
import { agencyInWords, codesMeant } from "../agencies/understand.ts";
import { needleOf } from "../filter/agency.ts";
import { publishedWords } from "../filter/columns.ts";
import { listPublishedAgencies } from "../sources/published-agencies.ts";
import { withCommas } from "../text/in-words.ts";
import { quoted } from "../text/quoted.ts";
import { countByAgency } from "./agencies.ts";
import type { SearchFile } from "./search-file.ts";

/** The most departments in a sentence. */
const SHOWN = 3;

/** Sentences without a period about the values of the filter `agency`. They count all records, whatever the other filters are. */
export async function agencyNotes(catalog: CatalogDb, index: SearchFile, values: readonly string[]): Promise<string[]> {
  const notes: string[] = [];
  for (const value of values) {
    const codes = codesMeant(value);
    const empty = codes.length === 0 ? null : withoutRecords(index, codes);
    if (empty !== null) notes.push(empty);
    if (/^[A-Z\d&.-]+$/.test(value)) continue; // An abbreviation or a code, not a word of a name.
    const named = await countNamed(catalog, value, codes);
    if (named === "") continue;
    notes.push(
      `${quoted(value)} ${codes.length === 0 ? "stands in names of agencies" : "also stands in names of other agencies"}: ${named}`,
    );
  }
  return notes;
}

/** "Cybersecurity … Agency (CISA): no records; Department of Homeland Security (DHS) and its agencies: 164"; null if there are records. */
function withoutRecords(index: SearchFile, codes: readonly string[]): string | null {
  const counts = new Map(countByAgency(index).map(({ agency, records }) => [agency.code, records]));
  const [code] = codes;
  if (code === undefined || codes.some((each) => counts.has(each))) return null;
  const above = withParents(code)
    .slice(0, -1)
    .findLast((each) => counts.has(each));
  const whole = above === undefined ? "" : `; ${agencyInWords(above)}: ${withCommas(counts.get(above) ?? 0)}`;
  return `${agencyInWords(code)}: no records${whole}`;
}

/**
 * "Department of Defense (DOD) and its agencies 120, others 3": counts the records whose agency name contains a text and whose code is not
 * among `codes`.
 */
async function countNamed(catalog: CatalogDb, text: string, codes: readonly string[]): Promise<string> {
  const needle = needleOf(text);
  // A text must begin a word. "State" means an agency, so "United States" does not count as another one with that name.
  const hasText = (names: string) =>
    codes.length === 0 ? names.includes(needle) : names.split("\n").some((name) => `${name} `.includes(`${needle} `));
  const counts = new Map<string | null, number>();
  for (const { source: _, records, ...published } of await listPublishedAgencies(catalog)) {
    if (!hasText(publishedWords({ organization: published }))) continue;
    const code = resolveAgency({ ...published, issuing_office: null });
    if (codes.some((each) => code !== null && isWithin(code, each))) continue;
    const [department = null] = code === null ? [] : withParents(code);
    counts.set(department, (counts.get(department) ?? 0) + records);
  }
  const sorted = [...counts].sort(([, left], [, right]) => right - left);
  const shown = sorted.filter(([code]) => code !== null).slice(0, SHOWN);
  const others = sorted.reduce((sum, entry) => sum + (shown.includes(entry) ? 0 : entry[1]), 0);
  const parts = shown.map(([code, records]) => `${agencyInWords(code ?? "")} ${withCommas(records)}`);
  return [...parts, ...(others === 0 ? [] : [`others ${withCommas(others)}`])].join(", ");
}
