/**
 * Counts of records by facet, and by source and date of `posted_at` (`posted`) or agency as published (`agency`). Each transaction adds up
 * its changes, because triggers would cost a row version a record on PostgreSQL.
 */
import { sql } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { jsonOf, pick, query, select } from "../../db/query.ts";
import { facets } from "../../db/schema/sqlite/catalog.ts";
import { addToCounts, listCounts } from "../sources/counts.ts";
import { countNameOf } from "../sources/published-agencies.ts";
import type { IndexedFields } from "./content.ts";

export type CountChanges = { facets: Map<number, number>; posted: CountsBySource; agency: CountsBySource };

type CountsBySource = Map<string, Map<string, number>>;

type Counted = Pick<IndexedFields, "organization" | "agency_codes"> & { dates: Pick<IndexedFields["dates"], "posted_at"> };

export function noChanges(): CountChanges {
  return { facets: new Map(), posted: new Map(), agency: new Map() };
}

/** Adds a record to the counts, or with -1 takes it away. */
export function countRecord(
  { facets, posted, agency }: CountChanges,
  { source, facet_id }: { source: string; facet_id: number },
  { organization, dates, agency_codes }: Counted,
  by: 1 | -1,
): void {
  add(facets, facet_id, by);
  if (dates.posted_at !== null) add(posted.getOrInsert(source, new Map()), dates.posted_at.slice(0, "2026-01-31".length), by);
  add(agency.getOrInsert(source, new Map()), countNameOf({ ...organization, codes: agency_codes }), by);
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

type FacetSum = { id: number; records: number };

const addToFacets = query({ sums: jsonOf<FacetSum>() }, ({ sums }, { jsonElements, jsonMember }) => {
  const member = (name: string) => sql`cast(${jsonMember(sql.identifier("value"), name)} as bigint)`;
  return sql`update ${facets} set records = ${facets.records} + sums.records
    from (select ${member("id")} as id, ${member("records")} as records from ${jsonElements(sums)}) as sums
    where ${facets.id} = sums.id`;
});

export async function saveCounts(sql: CatalogSql, { facets, ...counts }: CountChanges): Promise<void> {
  const byFacet = [...facets].map(([id, records]) => ({ id, records })).filter(({ records }) => records !== 0);
  const sums = counted.flatMap((kind) =>
    [...counts[kind]].flatMap(([subject, ofSource]) => [...ofSource].map(([name, number]) => ({ kind, subject, name, number }))),
  );
  if (byFacet.length > 0) await sql.run(addToFacets, { sums: byFacet });
  const changed = sums.filter(({ number }) => number !== 0);
  await addToCounts(sql, changed);
}

const counted = ["posted", "agency"] as const;

const allFacets = query({}, () => select(pick(facets, "id", "records")).from(facets));

/** The saved counts that differ from those of all records, as sentences. */
export async function wrongCounts(sql: CatalogSql, { facets, ...counts }: CountChanges): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, records } of await sql.all(allFacets)) {
    const right = facets.get(id) ?? 0;
    if (records !== right) wrong.push(`facet ${id} counts ${records} records, but ${right} have it`);
  }
  for (const kind of counted) {
    const what = (name: string) => (kind === "posted" ? `posted on ${name}` : `of the agency ${name}`);
    for (const { subject: source, name, number: records } of await listCounts(sql, kind)) {
      const right = counts[kind].get(source)?.get(name) ?? 0;
      if (records !== right) wrong.push(`${source} counts ${records} records ${what(name)}, but has ${right}`);
      counts[kind].get(source)?.delete(name);
    }
    for (const [source, ofSource] of counts[kind])
      for (const [name, right] of ofSource) wrong.push(`${source} counts no records ${what(name)}, but has ${right}`);
  }
  return wrong;
}
