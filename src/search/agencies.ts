/** How many records each agency has. */
import type { Database } from "bun:sqlite";
import { type Agency, agencyByCode } from "../agencies/table.ts";
import type { SearchFile } from "./search-file.ts";

export type AgencyCount = { agency: Agency; records: number };

const kept = new WeakMap<Database, { state: string; counts: AgencyCount[] }>();

/** The agencies that have records, those of their parts included: the most first. */
export function countByAgency({ sqlite }: SearchFile): AgencyCount[] {
  const state = JSON.stringify(sqlite.query("select * from progress").get());
  const known = kept.get(sqlite);
  if (known?.state === state) return known.counts;
  const counts = countAll(sqlite);
  kept.set(sqlite, { state, counts });
  return counts;
}

function countAll(sqlite: Database): AgencyCount[] {
  const rows = sqlite
    .query<{ code: string; records: number }, []>(
      "select agency_code as code, count(*) as records from records where agency_code is not null group by agency_code",
    )
    .all();
  const sums = new Map<string, number>();
  for (const { code, records } of rows) {
    for (let each = code; each !== ""; each = each.slice(0, Math.max(0, each.lastIndexOf("."))))
      sums.set(each, (sums.get(each) ?? 0) + records);
  }
  return [...sums]
    .flatMap(([code, records]) => {
      const agency = agencyByCode(code);
      return agency === undefined ? [] : [{ agency, records }];
    })
    .sort((left, right) => right.records - left.records);
}
