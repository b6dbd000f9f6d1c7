/** The link rules by themselves, on the records of link-cases.ts. `link.thorough.test.ts` has them in a catalog. */
import { describe, expect, test } from "bun:test";
import type { IndexedFields } from "../../src/changes/content.ts";
import { findLinks, keysOfUpstreamIds, linkKeysOf } from "../../src/changes/link.ts";
import { type Given, linked, of, unlinked } from "./link-cases.ts";

type Holder = { id: string; newness: number };

const nameOf = ({ source }: IndexedFields) => `${source.code} ${source.opportunity_id}`;

/** Of the holders of a key those that a catalog finds: of an upstream id the first one, else the newest two. */
function chosenHolders(key: string, holders: readonly Holder[]): string[] {
  const ordered = holders.toSorted((left, right) => right.newness - left.newness || (left.id < right.id ? 1 : -1)).map(({ id }) => id);
  return /^\S+ id /.test(key) ? ordered.slice(-1) : ordered.slice(0, 2);
}

/** The links between records that are all there. */
async function linksAmong(records: readonly Given[]): Promise<string[]> {
  const holders = new Map<string, Holder[]>();
  const hold = (key: string, holder: Holder) => holders.set(key, [...(holders.get(key) ?? []), holder]);
  for (const record of records) {
    for (const { key, role, newness } of linkKeysOf(record)) if (role === "holds") hold(key, { id: nameOf(record), newness });
    for (const key of keysOfUpstreamIds(record.source.code, record.ids)) hold(key, { id: nameOf(record), newness: 0 });
  }
  const find = async (keys: readonly string[]) => new Map(keys.map((key) => [key, chosenHolders(key, holders.get(key) ?? [])]));
  const links: string[] = [];
  for (const record of records) {
    const { canonical_id, parent_id } = await findLinks(find, record);
    if (canonical_id !== undefined) links.push(`${nameOf(record)} is ${canonical_id}`);
    if (parent_id !== undefined) links.push(`${nameOf(record)} is part of ${parent_id}`);
  }
  return links.sort();
}

describe("the rules link", () => {
  test.each(linked)("%s", async (_, records, links) => {
    expect(await linksAmong(records)).toEqual(links);
    expect(await linksAmong(records.toReversed())).toEqual(links);
  });
});

describe("the rules do not link", () => {
  test.each(unlinked)("%s", async (_, records) => {
    expect(await linksAmong(records)).toEqual([]);
  });

  test("a key that is too long for an index", async () => {
    const number = `1${"A".repeat(500)}`;
    expect(await linksAmong([of("SIMPLER_GRANTS_GOV", "S", "A", { number }), of("GRANTS_GOV", "1", "A", { number })])).toEqual([]);
  });
});
