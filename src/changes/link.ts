/**
 * The same opportunity in two sources. Nothing is merged: both records stay, and the one of the second source names the other in
 * `relationships.canonical_id`. The rules are data; a record of a canonical source names none.
 */
import { and, asc, eq, sql as fragment, isNotNull } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { CatalogSql } from "../../db/engine.ts";
import { pick, query, type RowsOf, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { IndexedFields } from "./content.ts";

export type LinkRule = {
  canonical: string;
  other: string;
  /** What both records have in common, in words for people. */
  by: string;
  keyOf: (record: IndexedFields) => string | null;
};

export const linkRules: readonly LinkRule[] = [
  { canonical: "DSIP", other: "SBIR_GOV", by: "the topic code of the Department of Defense", keyOf: topicCodeOf },
  { canonical: "GRANTS_GOV", other: "SIMPLER_GRANTS_GOV", by: "the opportunity number", keyOf: ({ program }) => program.solicitation_id },
];

/**
 * What a record is found by, or waits by, for the one that it has to do with; `null` where no rule is about its source, and where it
 * names its canonical record already. Letter case and blanks do not count.
 */
export function linkKeyOf(record: IndexedFields): string | null {
  const { code } = record.source;
  const rule = linkRules.find(({ canonical, other }) => canonical === code || other === code);
  if (rule === undefined || (rule.other === code && record.relationships.canonical_id !== null)) return null;
  return (rule.keyOf(record) ?? "").replace(/\s+/g, "").toUpperCase() || null;
}

/** Other agencies number their topics "1", "2" or "A1.02". */
function topicCodeOf({ source, organization }: IndexedFields): string | null {
  return source.code === "DSIP" || organization.agency === "Department of Defense" ? source.opportunity_id : null;
}

const hasLinkKey = pick(opportunities, "link_key", "source");
const recordByLinkKey = query(hasLinkKey, ({ link_key, source }) =>
  select({ id: opportunities.id })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, link_key), eq(opportunities.source, source)))
    .orderBy(asc(opportunities.seq))
    .limit(1),
);
const waiting = alias(opportunities, "waiting");
const waitingRecords = query({ canonical: opportunities.source, other: opportunities.source }, ({ canonical, other }) => {
  const canonicalRecord = select({ id: opportunities.id })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, waiting.link_key), eq(opportunities.source, canonical)))
    .orderBy(asc(opportunities.seq))
    .limit(1);
  const found = select({ seq: waiting.seq, canonical_id: fragment<string>`(${canonicalRecord})`.as("canonical_id") })
    .from(waiting)
    .where(and(eq(waiting.source, other), isNotNull(waiting.link_key)))
    .as("found");
  return select({ seq: found.seq, canonical_id: found.canonical_id })
    .from(found)
    .where(isNotNull(found.canonical_id))
    .orderBy(asc(found.seq));
});

/** The id of the canonical record of the same opportunity, or `null` where there is none (yet). */
export async function findCanonicalId(sql: CatalogSql, record: IndexedFields): Promise<string | null> {
  const rule = linkRules.find(({ other }) => other === record.source.code);
  const key = linkKeyOf(record);
  if (rule === undefined || key === null) return null;
  const found = await sql.get(recordByLinkKey, { link_key: key, source: rule.canonical });
  return found?.id ?? null;
}

/** The row number of a record that does not name its canonical one, although it is there. */
export type Waiting = RowsOf<typeof waitingRecords>;

/** The records that waited for a canonical one of these sources and have it by now. */
export async function listWaiting(sql: CatalogSql, sources: ReadonlySet<string>): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  for (const { canonical, other } of linkRules)
    if (sources.has(canonical)) waiting.push(...(await sql.all(waitingRecords, { canonical, other })));
  return waiting;
}

/** Whether a rule is about the record's source. */
export function mayBeLinked({ source }: IndexedFields): boolean {
  return linkRules.some(({ canonical, other }) => canonical === source.code || other === source.code);
}

type Keyed = { id: string; link_key: string };

const keyedOfSource = query({ source: opportunities.source }, ({ source }) =>
  select({ id: opportunities.id, link_key: fragment<string>`${opportunities.link_key}` })
    .from(opportunities)
    .where(and(eq(opportunities.source, source), isNotNull(opportunities.link_key))),
);

/** How many records `listWaiting` would return if these, by id, were stored. */
export async function countLinks(
  sql: CatalogSql,
  sources: ReadonlySet<string>,
  arriving: ReadonlyMap<string, IndexedFields>,
): Promise<number> {
  let count = 0;
  for (const { canonical, other } of linkRules) {
    if (!sources.has(canonical)) continue;
    const named = new Set((await keyedAfter(sql, canonical, arriving)).map(({ link_key }) => link_key));
    count += (await keyedAfter(sql, other, arriving)).filter(({ link_key }) => named.has(link_key)).length;
  }
  return count;
}

/** A source's records that have a link key once those that arrive are stored. */
async function keyedAfter(sql: CatalogSql, source: string, arriving: ReadonlyMap<string, IndexedFields>): Promise<Keyed[]> {
  const stored = await sql.all(keyedOfSource, { source });
  const arrived = [...arriving].flatMap(([id, indexed]) => {
    const link_key = indexed.source.code === source ? linkKeyOf(indexed) : null;
    return link_key === null ? [] : [{ id, link_key }];
  });
  return [...stored.filter(({ id }) => !arriving.has(id)), ...arrived];
}
