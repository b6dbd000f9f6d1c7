/**
 * Counts of records, so that no command has to count them: by facet (`facets.records`), and by source and date of `posted_at` (the figures
 * `posted`) or agency as published (the figures `agency`). Each transaction adds up what it changes and saves the sums at its end. (E-17)
 */
import { eq, sql } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { jsonOf, pick, query, select } from "../../db/query.ts";
import { facets, figures } from "../../db/schema/sqlite/catalog.ts";
import { addToFigures } from "../sources/figures.ts";
import { figureNameOf, type SaidAgency } from "../sources/published-agencies.ts";
import { arrayOf, objectOf, parseJson } from "../text/json-value.ts";

/** What a transaction adds to the counts: by facet id, and by source and name of a figure. */
export type CountChanges = { facets: Map<number, number>; posted: CountsBySource; agency: CountsBySource };

type CountsBySource = Map<string, Map<string, number>>;

/** The columns of a record that are counted. */
type Counted = { source: string; facet_id: number; document: Uint8Array; sidecar: Uint8Array };

/** Nothing is counted yet. */
export function noChanges(): CountChanges {
  return { facets: new Map(), posted: new Map(), agency: new Map() };
}

/** Adds a record to the counts, or with -1 takes it away. */
export function countRecord({ facets, posted, agency }: CountChanges, { source, facet_id, document, sidecar }: Counted, by: 1 | -1): void {
  add(facets, facet_id, by);
  const postedOn = postedOnOf(document);
  if (postedOn !== undefined) addOfSource(posted, source, postedOn, by);
  addOfSource(agency, source, figureNameOf(publishedIn(document, sidecar)), by);
}

function addOfSource(counts: CountsBySource, source: string, name: string, by: number): void {
  const ofSource = counts.get(source) ?? new Map<string, number>();
  counts.set(source, ofSource);
  add(ofSource, name, by);
}

function add<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** What a record says about its agency, without parsing all of it. */
function publishedIn(document: Uint8Array, sidecar: Uint8Array): SaidAgency {
  const { agency = null, sub_agency = null } = objectOf(parseJson(textBetween(document, '"organization":', ',"program":') ?? ""));
  const codes = arrayOf(parseJson(`[${textBetween(sidecar, '"agency_codes":[', "]") ?? ""}]`));
  return { agency, sub_agency, codes } as SaidAgency;
}

/** The text after one text up to another one. Neither can occur in a JSON string, where quotes are escaped. */
function textBetween({ buffer, byteOffset, byteLength }: Uint8Array, before: string, after: string): string | undefined {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const found = bytes.indexOf(before);
  if (found === -1) return undefined;
  const start = found + before.length;
  return bytes.toString("utf8", start, bytes.indexOf(after, start));
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
export async function saveCounts(sql: CatalogSql, { facets, ...figures }: CountChanges): Promise<void> {
  const byFacet = [...facets].map(([id, records]) => ({ id, records })).filter(({ records }) => records !== 0);
  const sums = counted.flatMap((kind) =>
    [...figures[kind]].flatMap(([subject, counts]) => [...counts].map(([name, number]) => ({ kind, subject, name, number }))),
  );
  if (byFacet.length > 0) await sql.run(addToFacets, { sums: byFacet });
  const changed = sums.filter(({ number }) => number !== 0);
  await addToFigures(sql, changed);
}

/** The kinds of figures that count records. */
const counted = ["posted", "agency"] as const;

const allFacets = query({}, () => select(pick(facets, "id", "records")).from(facets));
const allCounts = query(pick(figures, "kind"), ({ kind }) =>
  select({ source: figures.subject, name: figures.name, records: figures.number }).from(figures).where(eq(figures.kind, kind)),
);

/** The saved counts that differ from those of all records, as sentences. */
export async function wrongCounts(sql: CatalogSql, { facets, ...figures }: CountChanges): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, records } of await sql.all(allFacets)) {
    const right = facets.get(id) ?? 0;
    if (records !== right) wrong.push(`facet ${id} counts ${records} records, but ${right} have it`);
  }
  for (const kind of counted) {
    const said = (name: string) => (kind === "posted" ? `posted on ${name}` : `of the agency ${name}`);
    for (const { source, name, records } of await sql.all(allCounts, { kind })) {
      const right = figures[kind].get(source)?.get(name) ?? 0;
      if (records !== right) wrong.push(`${source} counts ${records} records ${said(name)}, but has ${right}`);
      figures[kind].get(source)?.delete(name);
    }
    for (const [source, counts] of figures[kind])
      for (const [name, right] of counts) wrong.push(`${source} counts no records ${said(name)}, but has ${right}`);
  }
  return wrong;
}
