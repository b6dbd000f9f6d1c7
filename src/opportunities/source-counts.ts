/** How many opportunities of each source there are, and how many of them are open at an instant. (E-64) */
import { and, asc, eq, sql as fragment, gt, inArray, lte, max, ne, type SQL, sum } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { query, type RowsOf, select, selectFrom } from "../../db/query.ts";
import { facets, instants, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { shownAt } from "./clock.ts";
import { openStatuses } from "./status.ts";

const recordsWhere = (condition: SQL) => fragment<number>`cast(coalesce(sum(${facets.records}) filter (where ${condition}), 0) as bigint)`;
const statuses = query({}, () =>
  select({
    source: facets.source,
    records: fragment<number>`cast(sum(${facets.records}) as bigint)`.as("records"),
    open: recordsWhere(inArray(facets.status, [...openStatuses])).as("open"),
    live: recordsWhere(ne(facets.status, "archived")).as("live"),
    last_import_at: max(instants.at).as("last_import_at"),
  })
    .from(facets)
    .leftJoin(instants, and(eq(instants.source, facets.source), eq(instants.day, ""), eq(instants.name, "imported")))
    .groupBy(facets.source)
    .having(gt(sum(facets.records), fragment`0`))
    .orderBy(asc(facets.source)),
);

export type SourceStatus = RowsOf<typeof statuses>;

/** Every source with records: how many it has, how many are open, how many are not archived, and when its last import finished. */
export async function sourceStatuses(db: Pick<CatalogSql, "all">): Promise<SourceStatus[]> {
  return db.all(statuses);
}

const dueRecords = query({ until: opportunities.turns_at }, ({ until }) =>
  selectFrom(opportunities, "source", "status_basis", "turns_at", "document", "sidecar")
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
        counts.open += Number(openStatuses.includes(after ?? "")) - Number(openStatuses.includes(before ?? ""));
        counts.live += Number(after !== "archived") - Number(before !== "archived");
      }
    });
    return [...stored.values()];
  });
}
