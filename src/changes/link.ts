/**
 * Links between sources. Nothing is merged: a record names the canonical one of the same opportunity, or its parent. A wrong merge could
 * not be undone. (E-72, E-74)
 */

import { hash } from "node:crypto";
import { and, asc, desc, eq, exists as existsIn, sql as fragment, inArray } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { CatalogSql } from "../../db/engine.ts";
import {
  deleteBy,
  deleteFrom,
  exists,
  insertInto,
  jsonOf,
  listOf,
  orIgnore,
  parameter,
  pick,
  query,
  select,
  selectBy,
} from "../../db/query.ts";
import { linkKeys, movedLinkKeys, opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import { awardKeyOf } from "../opportunities/earlier-awards.ts";
import { parseInstantMs } from "../text/instant.ts";
import { memoizeLast } from "../text/memoize.ts";
import type { IndexedFields, Relationships } from "./content.ts";

type ValueOf = (record: IndexedFields) => string | null;

type LinkRule = {
  canonical: string;
  others: readonly string[];
  by: string;
  /** The value by which a canonical record is found; "id" for its upstream ids. */
  held: ValueOf | "id";
  sought: ValueOf;
  /** Of several canonical records with one value, the newest counts. Without this, the value links nothing. */
  several?: "newest";
  as?: keyof Relationships;
};

const byNumberAndTitle = {
  by: "number and title",
  held: withTitle(numberOf),
  sought: withTitle(numberOf),
  several: "newest",
} as const;

const byElement = { by: "element", held: elementOf, sought: elementOf };

/** Of each relationship, the first rule that finds a record counts. A source never leads back to itself. */
const linkRules: readonly LinkRule[] = [
  { canonical: "GRANTS_GOV", others: ["SIMPLER_GRANTS_GOV"], by: "id", held: "id", sought: ({ source }) => source.opportunity_id },
  { canonical: "DSIP", others: ["SBIR_GOV"], by: "topic", held: topicCodeOf, sought: topicCodeOf },
  { canonical: "SAM_GOV", others: ["DARPA"], by: "id", held: "id", sought: noticeIdOf },
  { canonical: "NASA_NSPIRES", others: ["NASA_ROSES"], by: "id", held: "id", sought: guidOf },
  {
    canonical: "NASA_NSPIRES",
    others: ["NASA_ROSES"],
    by: "number",
    held: ({ program }) => withoutBlanks(program.solicitation_id ?? ""),
    sought: numberInAddressOf,
  },
  { ...byElement, canonical: "NASA_NSPIRES", others: ["NASA_ROSES", "GRANTS_GOV", "SIMPLER_GRANTS_GOV"] },
  { ...byElement, canonical: "NASA_ROSES", others: ["GRANTS_GOV", "SIMPLER_GRANTS_GOV"] },
  { ...byNumberAndTitle, canonical: "GRANTS_GOV", others: ["SIMPLER_GRANTS_GOV", "SBIR_GOV"] },
  { canonical: "GRANTS_GOV", others: ["SIMPLER_GRANTS_GOV", "SBIR_GOV"], by: "number", held: numberOf, sought: numberOf },
  {
    ...byNumberAndTitle,
    canonical: "SAM_GOV",
    others: ["SIMPLER_GRANTS_GOV", "GRANTS_GOV"],
    held: withTitle((record) => (isAward(record) ? null : numberOf(record))),
  },
  {
    canonical: "GRANTS_GOV",
    others: ["NSF"],
    by: "NSF's number and title",
    held: withTitle(nsfNumberOf),
    sought: withTitle(nsfNumberOf),
    several: "newest",
  },
  { canonical: "GRANTS_GOV", others: ["NSF"], by: "NSF's number", held: nsfNumberOf, sought: ownNsfNumberOf },
  { canonical: "GRANTS_GOV", others: ["NSF"], by: "NSF's number", held: nsfNumberOf, sought: partNsfNumberOf, as: "parent_id" },
  { ...byNumberAndTitle, canonical: "GRANTS_GOV", others: ["SAM_GOV"], sought: withTitle(awardNumberOf), as: "parent_id" },
  { ...byNumberAndTitle, canonical: "SIMPLER_GRANTS_GOV", others: ["SAM_GOV"], sought: withTitle(awardNumberOf), as: "parent_id" },
];

/* Values */

/** Only for the Department of Defense: other agencies number theirs "1", "2" or "A1.02". */
function topicCodeOf({ source, organization }: IndexedFields): string | null {
  return source.code === "DSIP" || organization.agency === "Department of Defense" ? withoutBlanks(source.opportunity_id) : null;
}

function withoutBlanks(number: string): string {
  return number.replace(/\s+/g, "").toUpperCase();
}

/** The notice at `https://sam.gov/opp/<id>/view` or `/workspace/contract/opp/<id>/view`. */
function noticeIdOf({ source }: IndexedFields): string | null {
  const [, id] = /^https:\/\/sam\.gov\/(?:workspace\/contract\/)?opp\/([0-9a-f]{32})\/view/i.exec(source.url ?? "") ?? [];
  return id?.toLowerCase() ?? null;
}

/** The solicitation at an address of NSPIRES. Addresses of documents name another element's. */
function guidOf({ source }: IndexedFields): string | null {
  return /\bsolId=(?:\{|%7b)([0-9a-f-]{36})(?:\}|%7d)/i.exec(source.url ?? "")?.[1]?.toUpperCase() ?? null;
}

function numberInAddressOf({ source }: IndexedFields): string | null {
  return /(?:\bsolNum=|solicitation\.nasaprs\.com\/)([\w-]+)/.exec(source.url ?? "")?.[1]?.toUpperCase() ?? null;
}

/** "ROSES 2025: A.2 Earth …", "A.12 …". The next year gives the code to another element. */
function elementOf({ source, title, program }: IndexedFields): string | null {
  const [, year] =
    /^(?:ROSES-20|NNH)(\d\d)(?=-|ZDA001N)/.exec(source.code === "NASA_ROSES" ? source.opportunity_id : (program.solicitation_id ?? "")) ??
    [];
  const [, code, name = ""] = /^(?:ROSES[ -]?(?:20)?\d\d: *)?([A-F]\.\d+[A-Z]?) +(.+)/s.exec(title) ?? [];
  const words = wordsOf(name).replace(/PROGRAM$/, "");
  return year === undefined || code === undefined || words === "" ? null : `${year} ${code} ${digestOf(words)}`;
}

/** Without dashes. Short numbers and plain words are too common to count. */
function numberOf({ source, program }: IndexedFields): string | null {
  const number = source.code === "SBIR_GOV" ? source.opportunity_id : (program.solicitation_id ?? "");
  const key = number.toUpperCase().replace(/[^0-9A-Z]+/g, "");
  return key.length >= 5 && /\d/.test(key) ? key : null;
}

function isAward({ program }: IndexedFields): boolean {
  return program.contract_class === "Award Notice";
}

/** The number of an award, which shares it, and the title, with its solicitation. */
function awardNumberOf(record: IndexedFields): string | null {
  return isAward(record) ? numberOf(record) : null;
}

function withTitle(read: ValueOf): ValueOf {
  return (record) => {
    const value = read(record);
    const title = value === null ? "" : digestOfTitle(record.title);
    return value === null || title === "" ? null : `${value} ${title}`;
  };
}

const digestOfTitle = memoizeLast((title: string) => {
  const words = wordsOf(title);
  return words === "" ? "" : digestOf(words);
});

function wordsOf(title: string): string {
  return title
    .replace(/\([^()]*\)/g, "")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}

function digestOf(words: string): string {
  return hash("sha256", words).slice(0, 32);
}

/** NSF writes `nsf22586` and `pd161266` for what is 22-586 and PD-16-1266 at Grants.gov. */
function nsfNumberOf({ source, program }: IndexedFields): string | null {
  const number = program.solicitation_id ?? "";
  if (source.code !== "NSF") return /^(?:PD-)?\d\d-\w{3,4}$/i.exec(withoutBlanks(number))?.[0] ?? null;
  const [, kind = "", year, rest = ""] = /^(nsf|pd)(\d\d)(\w{3,4})$/i.exec(number) ?? [];
  return kind === "" ? null : `${kind.toLowerCase() === "pd" ? "PD-" : ""}${year}-${rest.toUpperCase()}`;
}

/** This is the solicitation's own page: `…/nsf24-589`. Pages of its programs have other numbers. */
function ownNsfNumberOf(record: IndexedFields): string | null {
  const page = /[^/]*$/.exec(record.source.url ?? "")?.[0] ?? "";
  return withoutDashes(page) === withoutDashes(record.program.solicitation_id ?? "") ? nsfNumberOf(record) : null;
}

function partNsfNumberOf(record: IndexedFields): string | null {
  return ownNsfNumberOf(record) === null ? nsfNumberOf(record) : null;
}

function withoutDashes(number: string): string {
  return number.replaceAll("-", "").toLowerCase();
}

/** Grants.gov numbers its records in their order, but not in extracts from before 2016. Elsewhere the posting decides. */
function newnessOf({ source, dates }: IndexedFields): number {
  if (source.code !== "GRANTS_GOV") return parseInstantMs(dates.posted_at) ?? 0;
  return /^\d{1,15}$/.test(source.opportunity_id) ? Number(source.opportunity_id) : 0;
}

/* Keys */

const KEY_MAX = 400;

type LinkKey = { key: string; role: "holds" | "seeks"; newness: number };

export function linkKeysOf(record: IndexedFields): LinkKey[] {
  const keys = new Map<string, LinkKey>();
  const newness = newnessOf(record);
  for (const rule of linkRules) {
    const key = rule.canonical === record.source.code && rule.held !== "id" ? keyOf(rule, rule.held(record)) : undefined;
    if (key !== undefined) keys.set(`holds ${key}`, { key, role: "holds", newness });
  }
  const award = isAward(record) ? awardKeyOf(record) : null;
  if (award !== null) keys.set(`holds ${award}`, { key: award, role: "holds", newness });
  for (const { key } of soughtBy(record)) keys.set(`seeks ${key}`, { key, role: "seeks", newness: 0 });
  return [...keys.values()];
}

function soughtBy(record: IndexedFields): { rule: LinkRule; key: string }[] {
  return linkRules.flatMap((rule) => {
    const key = rule.others.includes(record.source.code) ? keyOf(rule, rule.sought(record)) : undefined;
    return key === undefined ? [] : [{ rule, key }];
  });
}

function keyOf({ canonical, by }: LinkRule, value: string | null): string | undefined {
  const key = `${canonical} ${by} ${value}`;
  return value === null || value === "" || key.length > KEY_MAX ? undefined : key;
}

export function keysOfUpstreamIds(source: string, ids: readonly string[]): string[] {
  return linkRules.some(({ canonical, held }) => canonical === source && held === "id") ? ids.map((id) => `${source} id ${id}`) : [];
}

/* Storing them */

const keysOfRecord = selectBy(linkKeys, "opportunity_id");
const insertKey = insertInto(linkKeys, { onConflict: orIgnore });
const deleteKey = deleteBy(linkKeys, "key", "role", "newness", "opportunity_id");
const noteMoved = query({ keys: jsonOf<string>() }, ({ keys }, { jsonElements }) => {
  const isSought = existsIn(
    select(exists)
      .from(linkKeys)
      .where(and(eq(linkKeys.key, fragment`value`), eq(linkKeys.role, "seeks"))),
  );
  return fragment<never>`insert into ${movedLinkKeys} (${fragment.identifier("key")}) select value from ${jsonElements(keys)} where ${isSought}${orIgnore}`;
});

/** Saves the keys of a stored record. Returns those that may now lead to another record. */
export async function saveLinkKeys(sql: CatalogSql, opportunity_id: string, record: IndexedFields, isNew: boolean): Promise<string[]> {
  const keys = linkKeysOf(record);
  const before = isNew ? [] : await sql.all(keysOfRecord, { opportunity_id });
  const gone = before.filter((old) => !keys.some((key) => isSameKey(key, old)));
  const added = keys.filter((key) => !before.some((old) => isSameKey(key, old)));
  for (const { key, role, newness } of gone) await sql.run(deleteKey, { key, role, newness, opportunity_id });
  for (const { key, role, newness } of added) await sql.run(insertKey, { key, role, newness, opportunity_id });
  return [...gone, ...added].filter(({ role }) => role === "holds").map(({ key }) => key);
}

function isSameKey(left: LinkKey, right: LinkKey): boolean {
  return left.key === right.key && left.role === right.role && left.newness === right.newness;
}

/** Notes those that some record seeks: they may now lead to another record. */
export async function noteMovedKeys(sql: CatalogSql, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await sql.run(noteMoved, { keys });
}

/* Finding records by them */

const held = alias(linkKeys, "held");
const holdersOfKeys = query({ keys: jsonOf<string>() }, ({ keys }, { jsonElements }) => {
  const nth = (offset: number) =>
    select({ id: held.opportunity_id })
      .from(held)
      .where(and(eq(held.key, fragment`value`), eq(held.role, "holds")))
      .orderBy(desc(held.newness), desc(held.opportunity_id))
      .limit(1)
      .offset(offset);
  return fragment<{
    key: string;
    first: string | null;
    second: string | null;
  }>`select value as ${fragment.identifier("key")}, (${nth(0)}) as ${fragment.identifier("first")}, (${nth(1)}) as ${fragment.identifier("second")} from ${jsonElements(keys)}`;
});
const holderOfUpstreamId = query(pick(upstreamIds, "source", "upstream_id"), ({ source, upstream_id }) =>
  select(pick(opportunities, "id"))
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(and(eq(upstreamIds.upstream_id, upstream_id), eq(upstreamIds.source, source)))
    .orderBy(asc(opportunities.id))
    .limit(1),
);

/** The two newest records that hold each key, the newest first. A key that nobody holds may be missing. */
type FindHolders = (keys: readonly string[]) => Promise<Map<string, readonly string[]>>;

export function storedHolders(sql: CatalogSql): FindHolders {
  return async (keys) => {
    const found = new Map<string, string[]>();
    for (const { key, first, second } of await sql.all(holdersOfKeys, { keys }))
      found.set(
        key,
        [first, second].filter((id) => id !== null),
      );
    for (const key of keys) {
      const [, source, upstream_id] = BY_ID.exec(key) ?? [];
      if (source === undefined || upstream_id === undefined) continue;
      const holder = await sql.get(holderOfUpstreamId, { source, upstream_id });
      if (holder !== undefined) found.set(key, [holder.id]);
    }
    return found;
  };
}

const BY_ID = /^(\S+) id (.*)$/s;

/** The links that the rules find for a record now. */
export async function findLinks(find: FindHolders, record: IndexedFields): Promise<Partial<Relationships>> {
  const sought = soughtBy(record);
  if (sought.length === 0) return {};
  const holders = await find([...new Set(sought.map(({ key }) => key))]);
  const found: Partial<Relationships> = {};
  for (const { rule, key } of sought) {
    const [newest, ...others] = holders.get(key) ?? [];
    if (newest !== undefined && (others.length === 0 || rule.several === "newest")) found[rule.as ?? "canonical_id"] ??= newest;
  }
  if (found.canonical_id !== undefined) delete found.parent_id; // The canonical record has the parent.
  return found;
}

/* Moved keys */

const MOVED_AT_ONCE = 200;

const movedKeys = query({ limit: parameter<number>() }, ({ limit }) =>
  select(pick(movedLinkKeys, "key")).from(movedLinkKeys).orderBy(asc(movedLinkKeys.key)).limit(limit),
);
const seekersOfKeys = query({ keys: listOf(linkKeys.key) }, ({ keys }) =>
  select({ seq: opportunities.seq })
    .from(linkKeys)
    .innerJoin(opportunities, eq(opportunities.id, linkKeys.opportunity_id))
    .where(and(inArray(linkKeys.key, keys), eq(linkKeys.role, "seeks"))),
);
const deleteMovedKeys = query({ keys: listOf(movedLinkKeys.key) }, ({ keys }) =>
  deleteFrom(movedLinkKeys).where(inArray(movedLinkKeys.key, keys)),
);

/** Some of the noted keys. */
export async function listMovedKeys(sql: CatalogSql): Promise<string[]> {
  return (await sql.all(movedKeys, { limit: MOVED_AT_ONCE })).map(({ key }) => key);
}

/** The row numbers of the records that seek one of the keys. */
export async function listSeekers(sql: CatalogSql, keys: readonly string[]): Promise<number[]> {
  const rows = await sql.all(seekersOfKeys, { keys });
  return [...new Set(rows.map(({ seq }) => seq))].sort((left, right) => left - right);
}

/** Forgets keys whose seekers have been linked again. */
export async function forgetMovedKeys(sql: CatalogSql, keys: readonly string[]): Promise<void> {
  await sql.run(deleteMovedKeys, { keys });
}
