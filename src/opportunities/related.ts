/** How records belong together: a group's records name each other in `canonical_id`, a part names its whole in `parent_id`. (E-57) */
import type { Static } from "@sinclair/typebox";
import { and, asc, count, eq, inArray, isNotNull } from "drizzle-orm";
import { listOf, parameter, query, select, selectAmong, selectFrom } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { object } from "../text/schema.ts";
import { Opportunity, type WholeOpportunity } from "./opportunity.ts";
import { readOpportunities } from "./records.ts";
import { openStatuses, statusInWords } from "./status.ts";

export const RELATED_MAX = 20;
/** The rest of a longer chain is left out; sources make none. */
const CHAIN_MAX = 20;

const namingAny = selectAmong(opportunities, ["id", "canonical_id"], "canonical_id");
const linkedOf = query({ ids: listOf(opportunities.id) }, ({ ids }) =>
  selectFrom(opportunities, "id", "canonical_id").where(and(inArray(opportunities.id, ids), isNotNull(opportunities.canonical_id))),
);
const partsOf = query({ parent_id: opportunities.parent_id, limit: parameter<number>() }, ({ parent_id, limit }) =>
  selectFrom(opportunities, "id").where(eq(opportunities.parent_id, parent_id)).orderBy(asc(opportunities.id)).limit(limit),
);
const countParts = query({ parent_id: opportunities.parent_id }, ({ parent_id }) =>
  select({ parts: count() }).from(opportunities).where(eq(opportunities.parent_id, parent_id)),
);

type Reading = Parameters<typeof readOpportunities>[0];

/** The canonical record, which may not be stored, then the others by id. */
type Group = readonly string[];

/** The groups of records, by the id of each. Records without duplicates have none. */
export async function readGroups(sql: Reading, ids: readonly string[]): Promise<Map<string, Group>> {
  const canonicalIds = await readLinks(sql, ids);
  if (canonicalIds.size === 0) return new Map();
  const linked = [...new Set([...canonicalIds].flat())].sort();
  const groups = Map.groupBy(linked, (id) => groupOf(id, (each) => canonicalIds.get(each)));
  const ordered = [...groups].map(([first, group]): Group => [first, ...group.filter((id) => id !== first)]);
  return new Map(ordered.flatMap((group) => group.map((id) => [id, group] as const)));
}

async function readLinks(sql: Reading, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const seen = new Set(ids);
  let next = [...seen];
  for (let round = 0; next.length > 0 && round < CHAIN_MAX; round++) {
    const rows = [...(await sql.all(linkedOf, { ids: next })), ...(await sql.all(namingAny, { canonical_id: next }))];
    for (const { id, canonical_id } of rows) if (canonical_id !== null) found.set(id, canonical_id);
    next = [...new Set([...found].flat())].filter((id) => !seen.has(id));
    for (const id of next) seen.add(id);
  }
  return found;
}

/** The canonical record of a record's group: where its chain of names ends; of a circle the smallest id. */
export function groupOf(id: string, canonicalIdOf: (id: string) => string | null | undefined): string {
  const chain = [id];
  while (chain.length <= CHAIN_MAX) {
    const next = canonicalIdOf(chain.at(-1) ?? id) ?? undefined;
    if (next === undefined) break;
    if (chain.includes(next)) return chain.slice(chain.indexOf(next)).sort()[0] ?? next;
    chain.push(next);
  }
  return chain.at(-1) ?? id;
}

/** The other records of the same opportunities, the canonical one first, by the id of each; those without any have none. */
export async function readDuplicates(sql: Reading, ids: readonly string[], now: EpochMs): Promise<Map<string, WholeOpportunity[]>> {
  const groups = await readGroups(sql, ids);
  const duplicatesOf = (id: string) => (groups.get(id) ?? []).filter((each) => each !== id).slice(0, RELATED_MAX);
  const wanted = new Set(ids.flatMap(duplicatesOf));
  const records = new Map((await readOpportunities(sql, [...wanted], now)).map((record) => [record.id, record]));
  const duplicates = ids.map((id) => [id, duplicatesOf(id).flatMap((each) => records.get(each) ?? [])] as const);
  return new Map(duplicates.filter(([, records]) => records.length > 0));
}

/** One record for each opportunity that these are records of: the canonical one if it is stored, else the first of these. */
export async function readRows(sql: Reading, records: readonly WholeOpportunity[], now: EpochMs): Promise<WholeOpportunity[]> {
  const ids = records.map(({ id }) => id);
  const groups = await readGroups(sql, ids);
  const rows = new Map<string, WholeOpportunity>();
  for (const record of records) {
    rows.getOrInsert(groups.get(record.id)?.[0] ?? record.id, record);
  }
  const canonical = new Map((await readOpportunities(sql, [...rows.keys()], now)).map((record) => [record.id, record]));
  return [...rows].map(([first, record]) => canonical.get(first) ?? record);
}

const { code, name, opportunity_id, url } = Opportunity.properties.source.properties;

export const AlsoAt = object({
  id: Opportunity.properties.id,
  source: code,
  source_name: name,
  upstream_id: opportunity_id,
  status: Opportunity.properties.status,
  url,
});
export type AlsoAt = Static<typeof AlsoAt>;

export function alsoAt(duplicates: readonly Opportunity[]): AlsoAt[] {
  return duplicates.map(({ id, source, status }) => {
    return { id, source: source.code, source_name: source.name, upstream_id: source.opportunity_id, status, url: source.url };
  });
}

/** "also at NSF, SBIR.gov (closed there)", next to a record whose status is `shown`; null without duplicates. */
export function alsoAtInWords(duplicates: readonly Pick<AlsoAt, "source_name" | "status">[], shown: string): string | null {
  const places = new Set(duplicates.map(({ source_name, status }) => `${source_name}${statusThere(status, shown)}`));
  return places.size === 0 ? null : `also at ${[...places].join(", ")}`;
}

/** " (closed there)", next to `shown`, if one of the two statuses is open and the other is not; else "". */
export function statusThere(status: string, shown: string): string {
  return openStatuses.includes(status) === openStatuses.includes(shown) ? "" : ` (${statusInWords(status)} there)`;
}

/** The ids of the first parts of a record. */
export async function listParts(sql: Reading, id: string, limit: number): Promise<string[]> {
  return (await sql.all(partsOf, { parent_id: id, limit })).map((part) => part.id).filter((part) => part !== id);
}

export type Belonging = { parent: WholeOpportunity | undefined; parts: WholeOpportunity[]; total: number };

/** The record that a record belongs to, and those that belong to it. */
export async function readBelonging(sql: Reading, { id, relationships }: WholeOpportunity, now: EpochMs): Promise<Belonging> {
  const { parent_id } = relationships;
  const [parent] = parent_id === null || parent_id === id ? [] : await readOpportunities(sql, [parent_id], now);
  const ids = await listParts(sql, id, RELATED_MAX);
  const [counted] = ids.length < RELATED_MAX ? [] : await sql.all(countParts, { parent_id: id });
  return { parent, parts: await readOpportunities(sql, ids, now), total: counted?.parts ?? ids.length };
}
