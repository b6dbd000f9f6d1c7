/**
 * Records that match except for who may apply, which only their text says. Guessing from the text would be wrong for some records, and nobody
 * could see for which.
 */
import { codesOfKind, IN_WORDS } from "../filter/applicants.ts";
import type { Filter } from "../filter/filter.ts";
import { counted } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Budget } from "./budget.ts";
import { COUNTED_MAX } from "./candidates.ts";
import { matchingRows } from "./find.ts";
import { opportunitiesIn } from "./group-counts.ts";
import type { SearchFile } from "./search-file.ts";

/**
 * How many more opportunities match if those that state only in text who may apply are included; 0 if this was not asked, or if there are too
 * many to count.
 */
export function countInWords({ sqlite }: SearchFile, filter: Filter, now: EpochMs, allSources: boolean, budget: Budget): number {
  const { applicant = [] } = filter;
  const codes = applicant.flatMap(codesOfKind);
  if (applicant.length === 0 || codesOfKind(IN_WORDS).every((code) => codes.includes(code))) return 0;
  const [fewer, more] = [applicant, [...applicant, IN_WORDS]].map((applicant) => {
    const { rows, isAll } = matchingRows(sqlite, { ...filter, applicant }, now, COUNTED_MAX, budget);
    return isAll && rows.length < COUNTED_MAX ? rows : undefined;
  });
  if (fewer === undefined || more === undefined) return 0;
  const countOf = (rows: readonly number[]) => (allSources ? rows.length : opportunitiesIn(sqlite, rows));
  return countOf(more) - countOf(fewer);
}

/** "28 more say in words who may apply (--applicant university,other)"; "" without any. */
export function applicantsSentence(inWords: number, how = ""): string {
  if (inWords === 0) return "";
  return `${counted(inWords, "more says", "more say")} in words who may apply${how === "" ? "" : ` (${how})`}`;
}
