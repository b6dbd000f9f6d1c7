/** How many opportunities of each source are open at an instant. (E-64) */
import { asc, lte } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { openStatuses, type SourceStatus, sourceStatuses } from "../sources/source.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { shownAt } from "./clock.ts";

const dueRecords = query({ until: opportunities.turns_at }, ({ until }) =>
  select(pick(opportunities, "source", "status_basis", "turns_at", "document", "sidecar"))
    .from(opportunities)
    .where(lte(opportunities.turns_at, until))
    .orderBy(asc(opportunities.turns_at)),
);

/** `sourceStatuses` at an instant: records whose status no writer has turned yet count with the status that readers are shown. */
export async function sourceStatusesAt(db: CatalogDb, now: EpochMs): Promise<SourceStatus[]> {
  return db.readTransaction(async (sql) => {
    const stored = new Map((await sourceStatuses(sql)).map((each) => [each.source, { ...each }]));
    await sql.each(dueRecords, { until: now }, (rows) => {
      for (const row of rows) {
        const counts = stored.get(row.source);
        if (counts === undefined) continue;
        const [before, after] = [row, shownAt(row, now)].map(({ document }) => parseStored<{ status: string }>(document).status);
        counts.open += Number(isOpen(after)) - Number(isOpen(before));
        counts.live += Number(after !== "archived") - Number(before !== "archived");
      }
    });
    return [...stored.values()];
  });
}

function isOpen(status: string | undefined): boolean {
  return status !== undefined && openStatuses.includes(status);
}
