/** Of several records of one opportunity, lists show one. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Filter, readFilter } from "../../src/filter/filter.ts";
import type { Draft } from "../../src/import/format.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { readBelonging, readDuplicates, readGroups } from "../../src/opportunities/related.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { deadlinesIn, listDeadlines } from "../../src/search/deadlines.ts";
import { findAll, groupsOf } from "../../src/search/find.ts";
import { type SearchRequest, search as searchIn, sorts } from "../../src/search/search.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, aDirectory, dropScratch, NOON, SECOND } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const idOf = (name: string) => opportunityId("OWN", name);

/** A record that names another one, by their names. */
function named(name: string, canonical: string | null, fields: Partial<Draft> = {}): Draft {
  const relationships = { canonical_id: canonical === null ? null : idOf(canonical) };
  return { source: { code: "OWN", opportunity_id: name }, title: `Title ${name}`, status: "open", relationships, ...fields };
}

describe.each(engines)("records of one opportunity on %s", (_, isThere, emptyCatalog) => {
  async function indexed() {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    const nameOf = new Map<string, string>();
    return {
      db,
      store: async (...records: Draft[]) => {
        clock.now += SECOND;
        for (const { source } of records) nameOf.set(idOf(source.opportunity_id ?? ""), source.opportunity_id ?? "");
        await take(records);
        await catchUp(db, index);
      },
      search: async (filter: Filter = {}, request: Partial<SearchRequest> = {}) => {
        const { results, total, duplicates } = await searchIn(db, index, { filter, limit: 100, ...request }, NOON);
        return { names: results.map(({ opportunity }) => opportunity.source.opportunity_id).sort(), total, duplicates };
      },
      groups: async () => {
        const ids = [...nameOf.keys()];
        const inCatalog = await readGroups(db, ids);
        const inIndex = groupsOf(index, ids);
        const name = (id: string | undefined) => nameOf.get(id ?? "") ?? id;
        const expected = ids.map((id) => [name(id), name(inCatalog.get(id)?.[0] ?? id)]);
        expect(ids.map((id) => [name(id), name(inIndex.get(id))])).toEqual(expected);
        return Object.fromEntries(expected) as Record<string, string>;
      },
      index,
    };
  }

  test.if(isThere)("are one row: the canonical one if it meets the filter, else the first that does", async () => {
    const { store, search, index } = await indexed();
    const soon = { closes_at: "2026-12-01T12:00:00Z" };
    const [first = "", last = ""] = ["A", "B"].sort((left, right) => (idOf(left) < idOf(right) ? -1 : 1));
    await store(
      named("C", null),
      named("A", "C", { status: "closed", dates: soon }),
      named("B", "C", { status: "closed" }),
      named("D", null),
    );
    expect(await search()).toEqual({ names: ["C", "D"], total: 2, duplicates: 2 });
    expect(await search({}, { countAtMost: 2 })).toEqual({ names: ["C", "D"], total: 2, duplicates: 0 });
    expect(await search({}, { countAtMost: 3 })).toEqual({ names: ["C", "D"], total: 2, duplicates: 2 });
    expect(await search({}, { allSources: true })).toEqual({ names: ["A", "B", "C", "D"], total: 4, duplicates: 0 });
    expect(await search({ status: ["open"] })).toEqual({ names: ["C", "D"], total: 2, duplicates: 0 });
    expect(await search({ status: ["closed"] })).toEqual({ names: [first], total: 1, duplicates: 1 });
    expect(await search({ status: ["closed"], words: last })).toEqual({ names: [last], total: 1, duplicates: 0 });
    expect(await search(readFilter({ words: "title" }, "words"))).toEqual({ names: ["C", "D"], total: 2, duplicates: 2 });
    expect(findAll(index, { status: ["closed"] }, NOON)).toEqual([idOf(first)]);
    const period = { since: NOON, until: Date.parse("2027-01-01T00:00:00Z") };
    const most = { limit: 10, allSources: false };
    expect(listDeadlines(index, {}, period, NOON, most, UNLIMITED)).toMatchObject({ deadlines: [{ id: idOf("A") }], duplicates: 0 });
  });

  test.if(isThere)("are walked once in every order, page by page, and by words beyond the rank of a page", async () => {
    const { db, store, index } = await indexed();
    const groups = Array.from({ length: 12 }, (_, n) => [named(`C${n}`, null), named(`A${n}`, `C${n}`), named(`B${n}`, `C${n}`)]);
    await store(...groups.flat());
    for (const sort of sorts) {
      for (const filter of [{}, { words: "title" }, { words: "title", status: ["open"] }]) {
        const seen: string[] = [];
        for (let after: string | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
          const page = await searchIn(db, index, { filter, sort, after, limit: 5 }, NOON);
          seen.push(...page.results.map(({ opportunity }) => opportunity.source.opportunity_id));
          expect(page.total).toBe(12);
          after = page.next;
        }
        expect(seen.sort()).toEqual(groups.map(([canonical]) => canonical?.source.opportunity_id ?? "").sort());
      }
    }
  });

  test.if(isThere)("follow a link that moves, in the index as in the catalog", async () => {
    const { store, search, groups } = await indexed();
    await store(named("A", "C"), named("B", "A"));
    expect(await groups()).toEqual({ A: idOf("C"), B: idOf("C") }); // The canonical record is not stored.
    expect(await search()).toMatchObject({ total: 1, duplicates: 1 });
    await store(named("C", "D"));
    expect(await groups()).toEqual({ A: idOf("D"), B: idOf("D"), C: idOf("D") });
    await store(named("D", null), named("C", null));
    expect(await groups()).toEqual({ A: "C", B: "C", C: "C", D: "D" });
    await store(named("A", "D"));
    expect(await groups()).toEqual({ A: "D", B: "D", C: "C", D: "D" });
    await store(named("A", null));
    expect(await groups()).toEqual({ A: "A", B: "A", C: "C", D: "D" });
    expect(await search()).toEqual({ names: ["A", "C", "D"], total: 3, duplicates: 1 });
    await store(named("A", "B")); // A circle.
    const [least] = ["A", "B"].sort((left, right) => (idOf(left) < idOf(right) ? -1 : 1));
    expect(await groups()).toMatchObject({ A: least, B: least });
    await store(named("A", "A"), named("B", null));
    expect(await groups()).toEqual({ A: "A", B: "B", C: "C", D: "D" });
    expect(await search()).toEqual({ names: ["A", "B", "C", "D"], total: 4, duplicates: 0 });
  });

  test.if(isThere)("are due when the one that lists the due dates says, whichever of them comes first, changes, or leaves", async () => {
    const { db, store, index } = await indexed();
    const at = (date: string) => Date.parse(`${date}T12:00:00Z`);
    const listing = (...dates: string[]) => {
      return { due_dates: dates.map((date) => ({ at: `${date}T12:00:00Z`, words: null })), expires_at: "2027-01-08T12:00:00Z" };
    };
    const canonical = named("C", null, { dates: { closes_at: "2027-01-07T12:00:00Z" } });
    /** When each is due, by the index; the feed and the export must find the same. */
    const due = async (now = NOON) => {
      await catchUp(db, index, undefined, now);
      const rows = index.sqlite.query<{ number: string; due_at: number }, []>("select number, due_at from records order by number").all();
      const [ids, duplicates] = [
        rows.map(({ number }) => idOf(number)),
        await readDuplicates(
          db,
          rows.map(({ number }) => idOf(number)),
          now,
        ),
      ];
      const accounts = (await readOpportunities(db, ids, now)).map((each) => dueOf(each, now, duplicates.get(each.id) ?? []).at);
      expect(rows.map(({ due_at }) => due_at)).toEqual(accounts.map((each) => Date.parse(each ?? "")));
      return Object.fromEntries(rows.map(({ number, due_at }) => [number, new Date(due_at).toISOString().slice(0, 10)]));
    };
    await store(canonical);
    expect(await due()).toEqual({ C: "2027-01-07" });
    await store(named("T", "C", listing("2025-09-05", "2026-01-05")));
    expect(await due()).toEqual({ C: "2026-01-05", T: "2026-01-05" });
    expect(findAll(index, readFilter({ closes_after: "today" }, "filter"), NOON)).toEqual([]);
    await store(named("T", "C", listing("2026-01-05", "2026-05-05", "2026-09-05")));
    expect(await due()).toEqual({ C: "2026-05-05", T: "2026-05-05" });
    const period = { since: NOON, until: at("2026-06-01") };
    expect(deadlinesIn(index, {}, period, NOON, { limit: 10, allSources: false })).toEqual([{ id: idOf("C"), due_at: at("2026-05-05") }]);
    expect(await due(at("2026-05-06"))).toEqual({ C: "2026-09-05", T: "2026-09-05" });
    const built = openSearchFile(aDirectory());
    await catchUp(db, built, undefined, at("2026-05-06"));
    expect(built.sqlite.query("select distinct due_at from records").all()).toEqual([{ due_at: at("2026-09-05") }]);
    await store({ ...named("T", null), ...listing("2026-09-05") });
    expect(await due(at("2026-05-06"))).toEqual({ C: "2027-01-07", T: "2026-09-05" });
    built.close();
  });

  test.if(isThere)("name each other, and a record the parts that it has", async () => {
    const { db, store } = await indexed();
    const part = (n: number) => named(`P${n}`, null, { relationships: { parent_id: idOf("C") } });
    await store(named("C", null), named("A", "C"), named("B", "C"), ...Array.from({ length: 23 }, (_, n) => part(n)));
    const duplicates = await readDuplicates(db, [idOf("A"), idOf("C"), idOf("P1")], NOON);
    const names = [...duplicates].map(([id, records]) => [id, records.map(({ source }) => source.opportunity_id)]);
    const others = ["A", "B"].sort((left, right) => (idOf(left) < idOf(right) ? -1 : 1));
    expect(names).toEqual([
      [idOf("A"), ["C", "B"]],
      [idOf("C"), others],
    ]);
    const [whole] = (await readDuplicates(db, [idOf("A")], NOON)).get(idOf("A")) ?? [];
    const belonging = whole && (await readBelonging(db, whole, NOON));
    expect([belonging?.parts.length, belonging?.total, belonging?.parent]).toEqual([20, 23, undefined]);
    const [first] = belonging?.parts ?? [];
    expect(first && (await readBelonging(db, first, NOON))).toMatchObject({ parent: { id: idOf("C") }, parts: [], total: 0 });
  });
});
