/** An opportunity as a line of CSV. */
import { cellsOf, type FlatOpportunity, flatColumns, inOneCell } from "../facts/columns.ts";
import { dueOf } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { alsoAt } from "../opportunities/related.ts";
import { csvLine } from "../text/csv.ts";
import type { EpochMs } from "../text/instant.ts";

const names = Object.keys(flatColumns) as (keyof typeof flatColumns)[];

export const csvHeader = csvLine(names);

export function csvLineOf(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): string {
  return csvLine(cellsOf(flat(opportunity, now, duplicates), names));
}

/** The header of `find`, whose last column names the other records of the same opportunity. */
export const foundCsvHeader = csvLine([...names, "also_at"]);

export function foundCsvLine(opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[], now: EpochMs): string {
  const others = inOneCell(alsoAt(duplicates).map(({ source, url }) => (url === null ? source : `${source} ${url}`)));
  return csvLine([...cellsOf(flat(opportunity, now, duplicates), names), others]);
}

function flat(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): FlatOpportunity {
  return { ...opportunity, due: dueOf(opportunity, now, duplicates) };
}
