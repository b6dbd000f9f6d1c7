/**
 * Lists found by scanning backwards over every record, newest first, until the page is full. Benchmarks compare the program's list index with
 * this and check its results, so this file uses none of the program's code.
 */
import type { DatabaseFile } from "../db/sqlite/open.ts";
import type { ListFilter } from "../src/opportunities/list.ts";
import type { Position } from "../src/opportunities/page.ts";

type ListQuery = { filter: ListFilter; limit: number; after: Position | null };
/** The ids of a page, and the last of them if there are further pages. */
export type Expected = { ids: string[]; next: string | undefined };

type Facet = { id: number; status: string; source: string; program_type: string; agency: string };

/** Reads what a scan needs into memory. The returned function finds a page and reads its documents. */
export function createScan({ sqlite }: DatabaseFile<"catalog">): (query: ListQuery) => Expected {
  const { count, facetMax } = sqlite
    .query<{ count: number; facetMax: number }, []>("select max(seq) as count, max(facet_id) as facetMax from opportunities")
    .get() ?? { count: 0, facetMax: 0 };
  const [times, rows, facetIds, indexOfRow] = [
    new Float64Array(count),
    new Uint32Array(count),
    new Uint32Array(count),
    new Uint32Array(count + 1),
  ];
  let length = 0;
  const inOrder = sqlite.query<{ updated_at: number; seq: number; facet_id: number }, []>(
    "select updated_at, seq, facet_id from opportunities order by updated_at, id",
  );
  for (const { updated_at, seq, facet_id } of inOrder.iterate()) {
    times[length] = updated_at;
    rows[length] = seq;
    facetIds[length] = facet_id;
    indexOfRow[seq] = length++;
  }
  const facets = sqlite.query<Facet, []>("select id, status, source, program_type, lower(agency) as agency from facets").all();
  const agencies = [...new Set(facets.map(({ agency }) => agency))];
  const named = new Set(Array.from(sqlite.query<{ code: string }, []>("select code from sources").iterate(), ({ code }) => code));
  const next = sqlite.query<{ seq: number }, [number, string]>(
    "select seq from opportunities where (updated_at, id) < (?, ?) order by updated_at desc, id desc limit 1",
  );
  const document = sqlite.query<{ id: string; document: Uint8Array }, [number]>("select id, document from opportunities where seq = ?");

  const indexOf = (seq: number | undefined) => (seq === undefined ? -1 : (indexOfRow[seq] as number));
  const allowedBy = ({ status, source, program_type, agency }: ListFilter): Uint8Array => {
    const part = agency?.toLowerCase();
    const matching = part === undefined ? undefined : new Set(agencies.filter((each) => each.includes(part)));
    const allowed = new Uint8Array(facetMax + 1);
    for (const facet of facets) {
      if (status !== undefined && !status.includes(facet.status)) continue;
      if (program_type !== undefined && !program_type.includes(facet.program_type)) continue;
      if (source !== undefined && !source.includes(facet.source) && !(source.includes("OTHER") && !named.has(facet.source))) continue;
      if (matching !== undefined && !matching.has(facet.agency)) continue;
      allowed[facet.id] = 1;
    }
    return allowed;
  };

  return ({ filter, limit, after }) => {
    const allowed = allowedBy(filter);
    const since = filter.updated_since?.ms ?? Number.NEGATIVE_INFINITY;
    const first = after === null ? length - 1 : indexOf(next.get(after.time, after.id)?.seq);
    const found: number[] = [];
    for (let index = first; index >= 0 && found.length <= limit && (times[index] as number) > since; index--) {
      if (allowed[facetIds[index] as number] === 1) found.push(rows[index] as number);
    }
    const ids = found.slice(0, limit).map((seq) => document.get(seq)?.id ?? "");
    return { ids, next: found.length > limit ? ids.at(-1) : undefined };
  };
}
