/**
 * Links records of the same opportunity in two sources. Nothing is merged: both records stay, and one of them names the other, the
 * canonical record, in `relationships.canonical_id`.
 */
import { and, asc, eq, sql as fragment, isNotNull } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { CatalogSql } from "../../db/engine.ts";
import { pick, query, type RowsOf, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { IndexedFields } from "./content.ts";

type LinkRule = {
  /** The source of the canonical records. */
  canonical: string;
  /** The source of the records that name them. */
  other: string;
  /** What both records have in common, for the documentation. */
  by: string;
  /** The value that both records have in common; `null` if the record has none. */
  keyOf: (record: IndexedFields) => string | null;
};

/** Which sources are linked, and by what. */
const linkRules: readonly LinkRule[] = [
  { canonical: "DSIP", other: "SBIR_GOV", by: "the topic code of the Department of Defense", keyOf: topicCodeOf },
  { canonical: "GRANTS_GOV", other: "SIMPLER_GRANTS_GOV", by: "the opportunity number", keyOf: ({ program }) => program.solicitation_id },
];

/**
 * The key that linked records have in common, in upper case and without white space. `null` if there is no rule for the record's source, if
 * it has no key, or if it already names its canonical record.
 */
export function linkKeyOf(record: IndexedFields): string | null {
  const { code } = record.source;
  const rule = linkRules.find(({ canonical, other }) => canonical === code || other === code);
  if (rule === undefined || (rule.other === code && record.relationships.canonical_id !== null)) return null;
  return (rule.keyOf(record) ?? "").replace(/\s+/g, "").toUpperCase() || null;
}

/** Only topics of the Department of Defense: other agencies number theirs "1", "2" or "A1.02". */
function topicCodeOf({ source, organization }: IndexedFields): string | null {
  return source.code === "DSIP" || organization.agency === "Department of Defense" ? source.opportunity_id : null;
}

const recordByLinkKey = query(pick(opportunities, "link_key", "source"), ({ link_key, source }) =>
  select({ id: opportunities.id })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, link_key), eq(opportunities.source, source)))
    .orderBy(asc(opportunities.seq))
    .limit(1),
);
const unlinked = alias(opportunities, "unlinked");
const unlinkedRecords = query({ canonical: opportunities.source, other: opportunities.source }, ({ canonical, other }) => {
  const canonicalRecord = select({ id: opportunities.id })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, unlinked.link_key), eq(opportunities.source, canonical)))
    .orderBy(asc(opportunities.seq))
    .limit(1);
  const found = select({ seq: unlinked.seq, canonical_id: fragment<string>`(${canonicalRecord})`.as("canonical_id") })
    .from(unlinked)
    .where(and(eq(unlinked.source, other), isNotNull(unlinked.link_key)))
    .as("found");
  return select({ seq: found.seq, canonical_id: found.canonical_id })
    .from(found)
    .where(isNotNull(found.canonical_id))
    .orderBy(asc(found.seq));
});

/** The id of the record's canonical record, or `null` if there is none or it is not stored yet. */
export async function findCanonicalId(sql: CatalogSql, record: IndexedFields): Promise<string | null> {
  const rule = linkRules.find(({ other }) => other === record.source.code);
  const key = linkKeyOf(record);
  if (rule === undefined || key === null) return null;
  const found = await sql.get(recordByLinkKey, { link_key: key, source: rule.canonical });
  return found?.id ?? null;
}

/** A record that does not name its canonical record although that is stored: its row number and the canonical record's id. */
type Unlinked = RowsOf<typeof unlinkedRecords>;

/** The unlinked records with a canonical record of one of these sources. */
export async function listUnlinked(sql: CatalogSql, sources: ReadonlySet<string>): Promise<Unlinked[]> {
  const found: Unlinked[] = [];
  for (const { canonical, other } of linkRules)
    if (sources.has(canonical)) found.push(...(await sql.all(unlinkedRecords, { canonical, other })));
  return found;
}

/** Whether there is a rule for the record's source. */
export function mayBeLinked({ source }: IndexedFields): boolean {
  return linkRules.some(({ canonical, other }) => canonical === source.code || other === source.code);
}

type Keyed = { id: string; link_key: string };

const keyedOfSource = query({ source: opportunities.source }, ({ source }) =>
  select({ id: opportunities.id, link_key: fragment<string>`${opportunities.link_key}` })
    .from(opportunities)
    .where(and(eq(opportunities.source, source), isNotNull(opportunities.link_key))),
);

/** How many records `listUnlinked` would return if `incoming` were stored. Keys of `incoming` are record ids. */
export async function countLinks(
  sql: CatalogSql,
  sources: ReadonlySet<string>,
  incoming: ReadonlyMap<string, IndexedFields>,
): Promise<number> {
  let count = 0;
  for (const { canonical, other } of linkRules) {
    if (!sources.has(canonical)) continue;
    const canonicalKeys = new Set((await keyedRecords(sql, canonical, incoming)).map(({ link_key }) => link_key));
    count += (await keyedRecords(sql, other, incoming)).filter(({ link_key }) => canonicalKeys.has(link_key)).length;
  }
  return count;
}

/** A source's records with a link key as they would be if `incoming` were stored. */
async function keyedRecords(sql: CatalogSql, source: string, incoming: ReadonlyMap<string, IndexedFields>): Promise<Keyed[]> {
  const stored = await sql.all(keyedOfSource, { source });
  const added = [...incoming].flatMap(([id, record]) => {
    const link_key = record.source.code === source ? linkKeyOf(record) : null;
    return link_key === null ? [] : [{ id, link_key }];
  });
  return [...stored.filter(({ id }) => !incoming.has(id)), ...added];
}
