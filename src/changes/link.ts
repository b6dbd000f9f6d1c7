/**
 * Links records of the same opportunity in two sources. Nothing is merged: both records stay, and one of them names the other, the
 * canonical record, in `relationships.canonical_id`. (E-12)
 */
import { and, asc, count, desc, eq, sql as fragment, inArray, isNotNull, min } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { CatalogSql } from "../../db/engine.ts";
import { listOf, pick, query, select } from "../../db/query.ts";
import { opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
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
  /** Also finds the canonical record by its upstream id, present or earlier: returns the id that the key stands for. */
  idOf?: (key: string) => string;
};

/** Which sources are linked, and by what. */
const linkRules: readonly LinkRule[] = [
  { canonical: "DSIP", other: "SBIR_GOV", by: "the topic code of the Department of Defense", keyOf: topicCodeOf },
  { canonical: "GRANTS_GOV", other: "SIMPLER_GRANTS_GOV", by: "the opportunity number", keyOf: ({ program }) => program.solicitation_id },
  { canonical: "GRANTS_GOV", other: "NSF", by: "the number of the solicitation or program description", keyOf: grantsGovNumberOf },
  {
    canonical: "SAM_GOV",
    other: "DARPA",
    by: "the notice id in the address",
    keyOf: ({ source }) => (source.code === "DARPA" ? noticeIdIn(source.url) : null),
    idOf: (key) => key.toLowerCase(),
  },
  {
    canonical: "NASA_NSPIRES",
    other: "NASA_ROSES",
    by: "the solicitation's GUID or number in the address",
    keyOf: ({ source, program }) => (source.code === "NASA_ROSES" ? nspiresKeyIn(source.url) : program.solicitation_id),
    idOf: (key) => key,
  },
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

/** NSF writes `nsf22586` and `pd161266` for what is 22-586 and PD-16-1266 at Grants.gov. */
function grantsGovNumberOf({ source, program }: IndexedFields): string | null {
  const number = program.solicitation_id ?? "";
  if (source.code !== "NSF") return number;
  const [, kind = "", year, rest] = /^(nsf|pd)(\d\d)(\w{3,4})$/i.exec(number) ?? [];
  return kind === "" ? null : `${kind.toLowerCase() === "pd" ? "PD-" : ""}${year}-${rest}`;
}

/** The notice that an address of SAM.gov shows: `https://sam.gov/opp/<id>/view`, or `/workspace/contract/opp/<id>/view`. */
function noticeIdIn(url: string | null): string | null {
  return /^https:\/\/sam\.gov\/(?:workspace\/contract\/)?opp\/([0-9a-f]{32})\/view/i.exec(url ?? "")?.[1] ?? null;
}

/** The GUID or the number of the solicitation that an address of NSPIRES shows. Addresses of documents name another element's solicitation. */
function nspiresKeyIn(url: string | null): string | null {
  const [, guid, number] =
    /\bsolId=(?:\{|%7b)([0-9a-f-]{36})(?:\}|%7d)/i.exec(url ?? "") ??
    /(?:\bsolNum=|solicitation\.nasaprs\.com\/)()([\w-]+)/.exec(url ?? "") ??
    [];
  return guid || number || null;
}

// A key that several canonical records have, such as the number "1", links nothing.
const recordByLinkKey = query(pick(opportunities, "link_key", "source"), ({ link_key, source }) =>
  select({ id: min(opportunities.id) })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, link_key), eq(opportunities.source, source)))
    .having(eq(count(), 1)),
);
const unlinked = alias(opportunities, "unlinked");
const unlinkedRecords = query({ canonical: opportunities.source, other: opportunities.source }, ({ canonical, other }) => {
  const canonicalRecord = select({ id: min(opportunities.id) })
    .from(opportunities)
    .where(and(eq(opportunities.link_key, unlinked.link_key), eq(opportunities.source, canonical)))
    .having(eq(count(), 1));
  const found = select({ seq: unlinked.seq, canonical_id: fragment<string>`(${canonicalRecord})`.as("canonical_id") })
    .from(unlinked)
    .where(and(eq(unlinked.source, other), isNotNull(unlinked.link_key)))
    .as("found");
  return select({ seq: found.seq, canonical_id: found.canonical_id })
    .from(found)
    .where(isNotNull(found.canonical_id))
    .orderBy(asc(found.seq));
});

const idsByUpstreamIds = query(
  { source: upstreamIds.source, ids: listOf(upstreamIds.upstream_id) },
  ({ source, ids }) =>
    select({ upstream_id: upstreamIds.upstream_id, id: opportunities.id })
      .from(upstreamIds)
      .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
      .where(and(eq(upstreamIds.source, source), inArray(upstreamIds.upstream_id, ids)))
      .orderBy(desc(opportunities.seq)), // The record that was stored first comes last: it stays in the map.
);
const keyedOfSource = query({ source: opportunities.source }, ({ source }) =>
  select({ seq: opportunities.seq, id: opportunities.id, link_key: fragment<string>`${opportunities.link_key}` })
    .from(opportunities)
    .where(and(eq(opportunities.source, source), isNotNull(opportunities.link_key)))
    .orderBy(asc(opportunities.seq)),
);

/** A record's canonical record, and the key by which it was found. */
export type FoundLink = { key: string; canonical_id: string };

/** The link to the record's canonical record; undefined if there is none, or it is not stored yet. */
export async function findLink(sql: CatalogSql, record: IndexedFields): Promise<FoundLink | undefined> {
  const rule = ruleOf(record.source.code);
  const key = rule === undefined ? null : linkKeyOf(record);
  if (rule === undefined || key === null) return undefined;
  const canonical_id = await canonicalIdOf(sql, rule, key);
  return canonical_id === null ? undefined : { key, canonical_id };
}

/** Where a link leads after records of `sources` were stored: null if nowhere, undefined if it leads where it did. */
export async function findMovedLink(
  sql: CatalogSql,
  sources: ReadonlySet<string>,
  { source, key, canonical_id }: FoundLink & { source: string },
): Promise<string | null | undefined> {
  const rule = ruleOf(source);
  if (rule === undefined || !sources.has(rule.canonical)) return undefined;
  const now = await canonicalIdOf(sql, rule, key);
  return now === canonical_id ? undefined : now;
}

/** The rule by which records of a source name their canonical records. */
function ruleOf(source: string): LinkRule | undefined {
  return linkRules.find(({ other }) => other === source);
}

async function canonicalIdOf(sql: CatalogSql, rule: LinkRule, key: string): Promise<string | null> {
  const found = await sql.get(recordByLinkKey, { link_key: key, source: rule.canonical });
  return found?.id ?? (await idsByKey(sql, rule, [key])).get(key) ?? null;
}

/** The ids of canonical records that are found by an upstream id, by key. */
async function idsByKey(sql: CatalogSql, { canonical, idOf }: LinkRule, keys: readonly string[]): Promise<Map<string, string>> {
  if (idOf === undefined || keys.length === 0) return new Map();
  const rows = await sql.all(idsByUpstreamIds, { source: canonical, ids: keys.map(idOf) });
  const ids = new Map(rows.map(({ upstream_id, id }) => [upstream_id, id]));
  return new Map(
    keys.flatMap((key) => {
      const id = ids.get(idOf(key));
      return id === undefined ? [] : [[key, id] as const];
    }),
  );
}

/** A record that does not name its canonical record although that is stored: its row number and the canonical record's id. */
type Unlinked = { seq: number; canonical_id: string };

/** The unlinked records with a canonical record of one of these sources. */
export async function listUnlinked(sql: CatalogSql, sources: ReadonlySet<string>): Promise<Unlinked[]> {
  const found: Unlinked[] = [];
  for (const rule of linkRules) {
    if (!sources.has(rule.canonical)) continue;
    const byKey = await sql.all(unlinkedRecords, { canonical: rule.canonical, other: rule.other });
    for (const unlinked of byKey) found.push(unlinked); // Not spread: there may be more than a call has arguments.
    if (rule.idOf === undefined) continue;
    const linked = new Set(byKey.map(({ seq }) => seq));
    const others = (await sql.all(keyedOfSource, { source: rule.other })).filter(({ seq }) => !linked.has(seq));
    const ids = await idsByKey(
      sql,
      rule,
      others.map(({ link_key }) => link_key),
    );
    for (const { seq, link_key } of others) {
      const canonical_id = ids.get(link_key);
      if (canonical_id !== undefined) found.push({ seq, canonical_id });
    }
  }
  return found;
}

/** Whether there is a rule for the record's source. */
export function mayBeLinked({ source }: IndexedFields): boolean {
  return linkRules.some(({ canonical, other }) => canonical === source.code || other === source.code);
}

type Keyed = { id: string; link_key: string };

/** What an import would store: records by their ids, the ids of records by source and upstream id, and the links that were found before. */
export type Incoming = {
  records: Map<string, IndexedFields>;
  ids: Map<string, Map<string, string>>;
  links: readonly (FoundLink & { source: string })[];
};

/** How many links would be new, and how many of those found would move, if all that is incoming were stored. */
export async function countLinks(sql: CatalogSql, sources: ReadonlySet<string>, incoming: Incoming): Promise<number> {
  let linked = 0;
  for (const rule of linkRules) {
    if (!sources.has(rule.canonical)) continue;
    const canonicalKeys = Map.groupBy(await keyedRecords(sql, rule.canonical, incoming.records), ({ link_key }) => link_key);
    const others = await keyedRecords(sql, rule.other, incoming.records);
    const links = incoming.links.filter(({ source }) => source === rule.other);
    const stored = await idsByKey(sql, rule, [...others.map(({ link_key }) => link_key), ...links.map(({ key }) => key)]);
    const arriving = incoming.ids.get(rule.canonical);
    const canonicalIdOf = (key: string) => {
      const [only, ...more] = canonicalKeys.get(key) ?? [];
      return (more.length === 0 ? only?.id : undefined) ?? stored.get(key) ?? (rule.idOf && arriving?.get(rule.idOf(key)));
    };
    linked += others.filter(({ link_key }) => canonicalIdOf(link_key) !== undefined).length;
    linked += links.filter(({ key, canonical_id }) => canonicalIdOf(key) !== canonical_id).length;
  }
  return linked;
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
