/** How many records each agency has. */
import type { Database } from "bun:sqlite";
import { type Agency, agencyByCode, withParents } from "../agencies/table.ts";
import { keptUntilChanged } from "./kept-counts.ts";

type AgencyCount = { agency: Agency; records: number };

const kept = keptUntilChanged<AgencyCount[]>();

/** The agencies that have records, including those of their parts. Sorted by number of records, the largest first. */
export function countByAgency({ sqlite }: { sqlite: Database }): AgencyCount[] {
  return kept(sqlite, () => countAll(sqlite));
}

function countAll(sqlite: Database): AgencyCount[] {
  return [...recordsByAgency(sqlite)]
    .flatMap(([code, records]) => {
      const agency = agencyByCode(code);
      return agency === undefined ? [] : [{ agency, records }];
    })
    .sort((left, right) => right.records - left.records);
}

const keptCounts = keptUntilChanged<Map<string, number>>();

/** How many records are of an agency or its parts. Counted once, because a large one takes 10 ms of a million records. */
export function recordsOfAgency(sqlite: Database, agency: string): number {
  return keptCounts(sqlite, () => new Map()).getOrInsertComputed(agency, () => countOne(sqlite, agency));
}

function countOne(sqlite: Database, agency: string): number {
  const sql = `select count(*) as records from records where agency_code = $agency or agency_code > $agency || '.' and agency_code < $agency || '/'`;
  return sqlite.query<{ records: number }, { agency: string }>(sql).get({ agency })?.records ?? 0;
}

/** The number of records of each agency and its parts, by code. */
export function recordsByAgency(sqlite: Database): Map<string, number> {
  const rows = sqlite
    .query<{ code: string; records: number }, []>(
      "select agency_code as code, count(*) as records from records where agency_code is not null group by agency_code",
    )
    .all();
  const sums = new Map<string, number>();
  for (const { code, records } of rows) for (const each of withParents(code)) sums.set(each, (sums.get(each) ?? 0) + records);
  return sums;
}
