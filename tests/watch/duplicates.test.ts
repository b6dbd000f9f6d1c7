/** A change that two records of one opportunity have is told once, by the feed and by a watch. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type FeedFilter, readFeed, readWindow } from "../../src/events/feed.ts";
import type { Draft } from "../../src/import/format.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { engines } from "../support/engines.ts";
import { dropScratch, SECOND } from "../support/imports.ts";
import { aWatched } from "./watched.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const due = (day: number) => ({ dates: { closes_at: `2027-01-${day}T12:00:00Z` } });
/** The canonical record C, and the record T of another source that names it. */
const canonical = (fields: Partial<Draft> = {}): Draft => ({
  source: { code: "A", opportunity_id: "C" },
  title: "Solar",
  status: "open",
  ...fields,
});
const duplicate = (fields: Partial<Draft> = {}): Draft => ({
  source: { code: "B", opportunity_id: "T" },
  title: "Solar sail",
  status: "open",
  relationships: { canonical_id: opportunityId("A", "C") },
  ...fields,
});

describe.each(engines)("two records of one opportunity on %s", (_, isThere, emptyCatalog) => {
  async function stored() {
    const watched = await aWatched(await emptyCatalog());
    const { db, clock, take } = watched;
    const store = async (...records: Draft[]) => {
      clock.now += SECOND;
      await take(records);
    };
    const feed = async (filter: Partial<FeedFilter> = {}) => {
      const { entries, repeats } = await readFeed(db, null, { filter: {}, atLeast: "material", ...filter }, clock.now, 100);
      const inWindow = await readWindow(db, null, { filter: {}, atLeast: "material", ...filter }, clock.now, 100);
      expect(inWindow).toMatchObject({ entries, repeats });
      return [...entries.map(({ event, opportunity, at }) => `${event.type} ${opportunity.source.opportunity_id} ${at}`), repeats];
    };
    return { ...watched, store, feed };
  }

  test.if(isThere)("tell a change once, whichever has it first", async () => {
    const { store, feed } = await stored();
    await store(canonical(due(10)), duplicate(due(10)));
    await store(canonical(due(20)));
    await store(duplicate(due(20)));
    expect(await feed()).toEqual(["date_changed C null", 1]);
    expect(await feed({ allSources: true })).toEqual(["date_changed C null", "date_changed T null", 0]);
    await store(duplicate(due(25)));
    await store(canonical(due(25)));
    expect(await feed()).toEqual(["date_changed C null", "date_changed C B", 2]);
    await store(duplicate(due(20))); // Back again: nobody has told that.
    expect(await feed()).toEqual(["date_changed C null", "date_changed C B", "date_changed C B", 2]);
    expect(await feed({ atLeast: "noise", types: ["opportunity_added"] })).toEqual(["opportunity_added C null", 1]);
  });

  test.if(isThere)("tell what happened before they belonged together", async () => {
    const { store, feed } = await stored();
    const alone = { relationships: { canonical_id: null } };
    await store(canonical(due(10)), duplicate({ ...due(10), ...alone }));
    await store(canonical(due(20)));
    await store(duplicate(due(10)));
    await store(duplicate(due(20)));
    expect(await feed({ types: ["date_changed"] })).toEqual(["date_changed C null", "date_changed C B", 0]);
  });

  test.if(isThere)("meet a filter if one of them does, and then that one is shown", async () => {
    const { store, feed } = await stored();
    await store(canonical(due(10)), duplicate(due(10)));
    await store(canonical(due(20)));
    expect(await feed({ filter: { source: ["B"] } })).toEqual(["date_changed T A", 0]);
    expect(await feed({ filter: { source: ["B"] }, allSources: true })).toEqual([0]);
    expect(await feed({ filter: { source: ["X"] } })).toEqual([0]);
    expect(await feed({ wanted: (records) => records.filter(({ id }) => id === opportunityId("B", "T")) })).toEqual([
      "date_changed T A",
      0,
    ]);
  });

  test.if(isThere)("are one member of a watch: new once, changed once, gone when none matches", async () => {
    const { add, run, store, received } = await stored();
    await add("solar", { filter: { words: "solar", status: ["open"] } });
    await add("each", { filter: { words: "solar", status: ["open"] }, all_sources: true });
    const told = async () => {
      received.length = 0;
      await run();
      const of = (name: string) => received.flatMap(({ data }) => (data.watch === name ? data.events : []));
      const text = (name: string) => of(name).map((item) => `${item.kind} ${item.opportunity.source.opportunity_id}`);
      return [text("solar"), text("each")];
    };
    await store(duplicate(due(10)));
    expect(await told()).toEqual([["new T"], ["new T"]]);
    await store(canonical(due(10)));
    expect(await told()).toEqual([[], ["new C"]]);
    await store(canonical(due(20)));
    expect(await told()).toEqual([["changed C"], ["changed C"]]);
    expect(received.find(({ data }) => data.watch === "solar")?.data.events[0]?.opportunity.also_at).toMatchObject([
      { source: "B", upstream_id: "T" },
    ]);
    await store(duplicate(due(20)));
    expect(await told()).toEqual([[], ["changed T"]]);
    await store(canonical({ ...due(20), status: "cancelled" }));
    expect(await told()).toEqual([["changed T"], ["changed C", "left C"]]);
    await store(duplicate({ ...due(20), status: "cancelled" }));
    expect(await told()).toEqual([["left T"], ["changed T", "left T"]]);
  });
});
