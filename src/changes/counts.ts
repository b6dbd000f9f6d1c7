/**
 * Counts of records, so that no command has to count them: by facet (`facets.records`), and by source and date of `posted_at` (the figures
 * `posted`). Each transaction adds up what it changes and saves the sums at its end. (E-17)
 */
import { eq, sql } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { jsonOf, pick, query, select } from "../../db/query.ts";
import { facets, figures } from "../../db/schema/sqlite/catalog.ts";
import { addToFigures } from "../sources/figures.ts";

/** What a transaction adds to the counts: by facet id, and by source and date. */
export type CountChanges = { facets: Map<number, number>; days: Map<string, Map<string, number>> };

/** The columns of a record that are counted. */
type Counted = { source: string; facet_id: number; document: Uint8Array };

/** Nothing is counted yet. */
export function noChanges(): CountChanges {
  return { facets: new Map(), days: new Map() };
}

/** Adds a record to the counts, or with -1 takes it away. */
export function countRecord({ facets, days }: CountChanges, { source, facet_id, document }: Counted, by: 1 | -1): void {
  add(facets, facet_id, by);
  const postedOn = postedOnOf(document);
  if (postedOn === undefined) return;
  const ofSource = days.get(source) ?? new Map<string, number>();
  days.set(source, ofSource);
  add(ofSource, postedOn, by);
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

const POSTED_AT = '"posted_at":"';

/** The date of a document's `posted_at`. This text cannot occur in a JSON string, where quotes are escaped. */
function postedOnOf({ buffer, byteOffset, byteLength }: Uint8Array): string | undefined {
  const document = Buffer.from(buffer, byteOffset, byteLength);
  const found = document.indexOf(POSTED_AT);
  const start = found + POSTED_AT.length;
  return found === -1 ? undefined : document.toString("latin1", start, start + "2026-01-31".length);
}

type FacetSum = { id: number; records: number };

const addToFacets = query({ sums: jsonOf<FacetSum>() }, ({ sums }, { jsonElements, jsonMember }) => {
  const member = (name: string) => sql`cast(${jsonMember(sql.identifier("value"), name)} as bigint)`;
  return sql`update ${facets} set records = ${facets.records} + sums.records
    from (select ${member("id")} as id, ${member("records")} as records from ${jsonElements(sums)}) as sums
    where ${facets.id} = sums.id`;
});

/** Saves the changes of a transaction. */
export async function saveCounts(sql: CatalogSql, { facets, days }: CountChanges): Promise<void> {
  const byFacet = [...facets].map(([id, records]) => ({ id, records })).filter(({ records }) => records !== 0);
  const byDay = [...days].flatMap(([subject, counts]) =>
    [...counts].map(([name, number]) => ({ kind: "posted" as const, subject, name, number })),
  );
  if (byFacet.length > 0) await sql.run(addToFacets, { sums: byFacet });
  await addToFigures(
    sql,
    byDay.filter(({ number }) => number !== 0),
  );
}

const allFacets = query({}, () => select(pick(facets, "id", "records")).from(facets));
const allDays = query({}, () =>
  select({ source: figures.subject, day: figures.name, records: figures.number }).from(figures).where(eq(figures.kind, "posted")),
);

/** The saved counts that differ from those of all records, as sentences. */
export async function wrongCounts(sql: CatalogSql, counted: CountChanges): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, records } of await sql.all(allFacets)) {
    const right = counted.facets.get(id) ?? 0;
    if (records !== right) wrong.push(`facet ${id} counts ${records} records, but ${right} have it`);
  }
  for (const { source, day, records } of await sql.all(allDays)) {
    const right = counted.days.get(source)?.get(day) ?? 0;
    if (records !== right) wrong.push(`${source} counts ${records} records posted on ${day}, but has ${right}`);
    counted.days.get(source)?.delete(day);
  }
  for (const [source, days] of counted.days)
    for (const [day, right] of days) wrong.push(`${source} counts no records posted on ${day}, but has ${right}`);
  return wrong;
}
