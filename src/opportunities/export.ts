/** The catalogue as `records` NDJSON: all that `import records` needs to make the same opportunities again. */
import type { CatalogDb } from "../../db/open.ts";

type Row = { document: string; sidecar: string; lineage: string; status_basis: string; earlier_ids: string };

/** One line a record, the least recently updated first; `codes` (upper case) keeps only those sources. One snapshot of the database. */
export function* exportLines({ sqlite }: CatalogDb, codes?: readonly string[]): Iterable<string> {
  const rows = sqlite.query<Row, [string | null]>(
    `select cast(document as text) as document, cast(sidecar as text) as sidecar, lineage, status_basis,
       (select json_group_array(upstream_id order by upstream_id) from upstream_ids
        where opportunity_seq = seq and upstream_id <> source_opportunity_id) as earlier_ids
     from opportunities
     where ?1 is null or source in (select value from json_each(?1))
     order by updated_at, id`,
  );
  for (const { document, sidecar, lineage, status_basis, earlier_ids } of rows.iterate(
    codes === undefined ? null : JSON.stringify(codes),
  )) {
    // Three JSON objects become one: the document's own text is kept to the letter.
    const unserved = `"lineage":${JSON.stringify(lineage)},"earlier_ids":${earlier_ids},"status_basis":"${status_basis}"`;
    yield `${document.slice(0, -1)},${sidecar.slice(1, -1)},${unserved}}`;
  }
}
