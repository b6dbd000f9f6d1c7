/**
 * What can be applied for now or soon: how many opportunities, when they are due, and how much each department offers. Totals are often
 * missing or mean different things, so departments are compared by their largest awards.
 */
import type { Database } from "bun:sqlite";
import { type Agency, agencyByCode } from "../agencies/table.ts";
import type { Obstacle } from "../opportunities/obstacle.ts";
import { openStatuses } from "../opportunities/status.ts";
import { wholeOfKey } from "../text/decimal.ts";
import type { EpochMs } from "../text/instant.ts";
import { IS_UNENDED } from "./accepting.ts";
import { countObstacles, type Hindered } from "./hindered.ts";
import { keptUntilChanged } from "./kept-counts.ts";
import type { SearchFile } from "./search-file.ts";

/**
 * Open opportunities of a department. `amount` is the sum of the largest awards, and `withAmount` the number of opportunities that state one.
 */
export type DepartmentOpenings = { agency: Agency | undefined; opportunities: number; withAmount: number; amount: bigint };

/** Each opportunity is counted once, however many sources have it. */
export type Openings = {
  open: number;
  /** Further opportunities that a source calls open but that cannot be applied for, by reason, the most frequent first. */
  uncounted: readonly Hindered[];
  /** Forecast or pre-release. */
  coming: number;
  /** When the open ones are due. Those without a date are left out. */
  dueAt: readonly EpochMs[];
  /** Sorted by number of opportunities, the largest first. Agencies that are not in the table form one entry. */
  departments: readonly DepartmentOpenings[];
};

const kept = keptUntilChanged<Openings>();

/** The openings in the index. They are counted again only after the index has changed. */
export function countOpenings({ sqlite }: SearchFile): Openings {
  return kept(sqlite, () => countAll(sqlite));
}

type OpenRow = {
  opportunity: string;
  status: string;
  obstacle: Obstacle | null;
  due_at: EpochMs | null;
  agency_code: string | null;
  amount_high: string | null;
};

function countAll(sqlite: Database): Openings {
  const rows = sqlite
    .query<OpenRow, []>(
      `select coalesce(duplicate_of, id) as opportunity, status, obstacle, due_at, agency_code, amount_high from records where ${IS_UNENDED}
        order by duplicate_of, id`, // Canonical records come first, so the first of several is the one that a list shows. (E-57)
    )
    .all();
  const isOpen = ({ status }: OpenRow) => openStatuses.includes(status);
  const open = rows.filter((row) => isOpen(row) && row.obstacle === null);
  const shown = firstOfEach(open);
  const byDepartment = Map.groupBy(open, ({ agency_code }) => agency_code?.split(".")[0]);
  return {
    open: shown.length,
    uncounted: countObstacles(rows.filter(isOpen)),
    coming: firstOfEach(rows.filter((row) => !isOpen(row) && row.obstacle === null)).length,
    dueAt: shown.flatMap(({ due_at }) => due_at ?? []),
    departments: [...byDepartment]
      .map(([code, ofDepartment]) => openingsOf(code, firstOfEach(ofDepartment)))
      .sort((left, right) => right.opportunities - left.opportunities || (codeOf(left) < codeOf(right) ? -1 : 1)),
  };
}

/** Sorts those whose agency is not in the table last. */
function codeOf({ agency }: DepartmentOpenings): string {
  return agency?.code ?? "~";
}

function firstOfEach(rows: readonly OpenRow[]): OpenRow[] {
  const seen = new Set<string>();
  return rows.filter(({ opportunity }) => seen.size < seen.add(opportunity).size);
}

function openingsOf(code: string | undefined, rows: readonly OpenRow[]): DepartmentOpenings {
  const amounts = rows.flatMap(({ amount_high }) => (amount_high === null ? [] : wholeOfKey(amount_high)));
  return {
    agency: code === undefined ? undefined : agencyByCode(code),
    opportunities: rows.length,
    withAmount: amounts.length,
    amount: amounts.reduce((sum, each) => sum + each, 0n),
  };
}
