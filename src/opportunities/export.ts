/** The catalogue as `records` NDJSON: all that `import records` needs to make the same opportunities again. */
import type { CatalogDb, CatalogTables, Sql } from "../../db/engine.ts";

type Row = {
  seq: number;
  source_opportunity_id: string;
  lineage: string;
  status_basis: string;
  document: Uint8Array;
  sidecar: Uint8Array;
};

type UpstreamId = { seq: number; upstream_id: string };

/** Hands over one line a record, the least recently updated first; `codes` (upper case) keeps only those sources. One snapshot of the database. */
export async function exportLines(db: CatalogDb, codes: readonly string[] | undefined, take: (line: string) => void): Promise<void> {
  await db.snapshot((sql) =>
    sql.each<Row>(
      `select seq, source_opportunity_id, lineage, status_basis, document, sidecar from opportunities
       ${codes === undefined ? "" : `where source in (select value from ${sql.dialect.elements("?")})`}
       order by updated_at, id`,
      codes === undefined ? [] : [JSON.stringify(codes)],
      async (rows) => {
        const ids = await upstreamIdsOf(sql, rows);
        for (const row of rows) take(lineOf(row, ids.get(row.seq) ?? []));
      },
    ),
  );
}

const utf8 = new TextDecoder();

/** Three JSON objects become one: the document's own text is kept to the letter. */
function lineOf({ source_opportunity_id, lineage, status_basis, document, sidecar }: Row, upstreamIds: readonly UpstreamId[]): string {
  const earlierIds = upstreamIds.map(({ upstream_id }) => upstream_id).filter((id) => id !== source_opportunity_id);
  const unserved = `"lineage":${JSON.stringify(lineage)},"earlier_ids":${JSON.stringify(earlierIds)},"status_basis":"${status_basis}"`;
  return `${utf8.decode(document).slice(0, -1)},${utf8.decode(sidecar).slice(1, -1)},${unserved}}`;
}

/** Upstream ids in order, by row number. */
async function upstreamIdsOf({ all, dialect }: Sql<CatalogTables>, rows: readonly Row[]): Promise<Map<number, UpstreamId[]>> {
  const found = await all<UpstreamId>(
    `select opportunity_seq as seq, upstream_id from upstream_ids
     where opportunity_seq in (select cast(value as bigint) from ${dialect.elements("?")}) order by upstream_id`,
    JSON.stringify(rows.map(({ seq }) => seq)),
  );
  return Map.groupBy(found, ({ seq }) => seq);
}
