/** Exports records as NDJSON, with everything that `import records` needs to restore them. */
import { asc, inArray } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, pick, query, type RowsOf, select } from "../../db/query.ts";
import { opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";

const recordsInOrder = () =>
  select(pick(opportunities, "seq", "source_opportunity_id", "lineage", "status_basis", "document", "sidecar"))
    .from(opportunities)
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id));
const allRecords = query({}, recordsInOrder);
const recordsOfSources = query({ codes: listOf(opportunities.source) }, ({ codes }) =>
  recordsInOrder().where(inArray(opportunities.source, codes)),
);
const upstreamIdsOfRows = query({ seqs: listOf(upstreamIds.opportunity_seq) }, ({ seqs }) =>
  select({ seq: upstreamIds.opportunity_seq, upstream_id: upstreamIds.upstream_id })
    .from(upstreamIds)
    .where(inArray(upstreamIds.opportunity_seq, seqs))
    .orderBy(asc(upstreamIds.upstream_id)),
);

type Row = RowsOf<typeof allRecords>;
type UpstreamId = RowsOf<typeof upstreamIdsOfRows>;

/**
 * Calls `take` with one line for each record, least recently updated first, in one read transaction. `codes` limits it to these sources,
 * in upper case.
 */
export async function exportLines(db: CatalogDb, codes: readonly string[] | undefined, take: (line: string) => void): Promise<void> {
  await db.readTransaction(async (sql) => {
    const takeRows = async (rows: Row[]) => {
      const ids = await upstreamIdsOf(sql, rows);
      for (const row of rows) take(lineOf(row, ids.get(row.seq) ?? []));
    };
    if (codes === undefined) await sql.each(allRecords, {}, takeRows);
    else await sql.each(recordsOfSources, { codes }, takeRows);
  });
}

const utf8 = new TextDecoder();

/** One JSON object of the document, the sidecar and the columns that neither has. Joins texts, so that the document stays as it is. */
function lineOf({ source_opportunity_id, lineage, status_basis, document, sidecar }: Row, upstreamIds: readonly UpstreamId[]): string {
  const earlierIds = upstreamIds.map(({ upstream_id }) => upstream_id).filter((id) => id !== source_opportunity_id);
  const unserved = `"lineage":${JSON.stringify(lineage)},"earlier_ids":${JSON.stringify(earlierIds)},"status_basis":"${status_basis}"`;
  return `${utf8.decode(document).slice(0, -1)},${utf8.decode(sidecar).slice(1, -1)},${unserved}}`;
}

/** The upstream ids of records, sorted, by row number. */
async function upstreamIdsOf(sql: CatalogSql, rows: readonly Row[]): Promise<Map<number, UpstreamId[]>> {
  const found = await sql.all(upstreamIdsOfRows, { seqs: rows.map(({ seq }) => seq) });
  return Map.groupBy(found, ({ seq }) => seq);
}
