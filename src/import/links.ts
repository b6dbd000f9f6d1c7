/** What a dry run needs to count links: the records that the import would store, before those of the catalog. (E-74) */
import type { CatalogSql } from "../../db/engine.ts";
import { type IndexedFields, type Linked, type Relationships, readContent, statedRelationships, withFound } from "../changes/content.ts";
import {
  chosenHolders,
  type FindHolders,
  findLinks,
  type Holder,
  keysOfUpstreamIds,
  linkKeysOf,
  listHolders,
  listLinkKeys,
  listSeekers,
} from "../changes/link.ts";
import { getStored } from "../changes/stored.ts";

/** Finds and counts links as if the records that it was given were stored. Memory grows with these records. */
export function rehearseLinks(sql: CatalogSql) {
  const records = new Map<string, IndexedFields>();
  const holders = new Map<string, Holder[]>();
  const seekers = new Map<string, Set<string>>();
  const moved = new Set<string>();
  const addHolder = (key: string, holder: Holder) => {
    const all = [...(holders.get(key) ?? []), holder];
    const chosen = chosenHolders(key, all);
    const kept = all.filter(({ id }) => chosen.includes(id));
    holders.set(key, kept);
    moved.add(key);
  };

  const find: FindHolders = async (keys) => {
    const stored = await listHolders(sql, keys);
    return new Map(
      keys.map((key) => {
        const others = stored.filter((each) => each.key === key && (each.isById || !records.has(each.id)));
        return [key, chosenHolders(key, [...others, ...(holders.get(key) ?? [])])];
      }),
    );
  };

  return {
    /** The links that a record would get now. */
    findLinks: (record: IndexedFields): Promise<Partial<Relationships>> => findLinks(find, record),
    /** Notes a record as it would be stored, each once. */
    async add(id: string, record: IndexedFields) {
      for (const { key, role } of await listLinkKeys(sql, id)) if (role === "holds") moved.add(key);
      for (const { key, role, newness } of linkKeysOf(record)) {
        if (role === "holds") addHolder(key, { id, newness });
        else seekers.set(key, (seekers.get(key) ?? new Set()).add(id));
      }
      records.set(id, record);
    },
    /** Notes upstream ids that a record would get. */
    addUpstreamIds(id: string, source: string, upstreamIds: readonly string[]) {
      for (const key of keysOfUpstreamIds(source, upstreamIds)) addHolder(key, { id, newness: 0 });
    },
    /** How many records would be linked again after all were stored. */
    async count(): Promise<number> {
      let linked = 0;
      for (const id of new Set([...moved].flatMap((key) => [...(seekers.get(key) ?? [])]))) {
        const record = records.get(id) as IndexedFields;
        if (moves(record, await findLinks(find, record))) linked++;
      }
      for (const seq of await listSeekers(sql, [...moved])) {
        const stored = await getStored(sql, seq);
        if (records.has(stored.id)) continue;
        const content = readContent(stored.document, stored.sidecar);
        if (moves(content, await findLinks(find, content))) linked++;
      }
      return linked;
    },
  };
}

/** Whether a record would be linked otherwise. */
function moves(record: { relationships: Relationships } & Linked, found: Partial<Relationships>): boolean {
  const { relationships } = withFound(record, statedRelationships(record), found);
  return relationships.parent_id !== record.relationships.parent_id || relationships.canonical_id !== record.relationships.canonical_id;
}
