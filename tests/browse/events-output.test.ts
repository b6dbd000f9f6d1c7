/** `/events.json`: all events in the order of storing, and whole histories, page by page, on both engines. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eventsResponse } from "../../src/browse/events-output.ts";
import type { Draft } from "../../src/import/format.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, dropScratch, SECOND } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const source = (n: number) => ({ code: "OWN", opportunity_id: `${n}` });
const record = (n: number, fields: Partial<Draft> = {}): Draft => ({ source: source(n), title: `Title ${n}`, ...fields });
const idOf = (n: number) => opportunityId("OWN", `${n}`);
const anImported = (n: number, current: string) => ({
  ...{ source: source(n), type: "description_changed", severity: "noise", summary: null, changed_fields: ["description"] },
  changes: [{ field: "description", previous: null, current }],
  detected_at: "2020-01-01T00:00:00Z",
});

type Page = { data: { id: string; opportunity_id: string }[]; meta: { has_more: boolean; next_cursor: string | null } };

describe.each(engines)("on %s", (_, isThere, emptyCatalog) => {
  async function aServer() {
    const { db, clock, take, takeEvents } = await aCatalog(await emptyCatalog());
    const respond = (query: string) => eventsResponse(new Request(`http://localhost/events.json?${query}`), db);
    const page = async (query: string) => (await respond(query)).json() as Promise<Page>;
    return {
      ...{ db, takeEvents, respond, page },
      store: async (...records: Draft[]) => {
        clock.now += SECOND;
        await take(records);
      },
      /** The events of all pages. `after` is the last cursor. */
      walk: async (query: string, from?: string | null) => {
        const [texts, sizes]: [string[], number[]] = [[], []];
        for (let after = from; ; ) {
          const { data, meta } = await page(after == null ? query : `${query}&after=${after}`);
          texts.push(...data.map((event) => JSON.stringify(event)));
          sizes.push(data.length);
          after = meta.next_cursor;
          if (!meta.has_more) return { texts, sizes, after };
        }
      },
      stored: async (order: string) => {
        const rows = await db.all(rawSql<{ document: Uint8Array }>(`select document from events order by ${order}`));
        return rows.map(({ document }) => Buffer.from(document).toString());
      },
    };
  }

  test.if(isThere)("has every event once, as it was stored, and later what was stored since, whatever its date and severity", async () => {
    const { store, takeEvents, walk, page, stored } = await aServer();
    const before = (await page("after=latest")).meta.next_cursor;
    await store(...Array.from({ length: 20 }, (_, n) => record(n)));
    await store(...Array.from({ length: 20 }, (_, n) => record(n, { title: `title ${n}`, status: "archived" })));
    for (const limit of [1, 7, 1000]) {
      const { texts, sizes } = await walk(`limit=${limit}`);
      expect(texts).toEqual(await stored("seq"));
      expect(Math.max(...sizes)).toBeLessThanOrEqual(limit);
    }
    const { texts, after } = await walk("", before);
    expect(texts).toEqual(await stored("seq"));
    expect((await walk("", after)).texts).toEqual([]);
    await takeEvents([anImported(3, "a"), anImported(4, "b")]);
    await store(record(3, { title: "New" }));
    expect((await walk("limit=1", after)).texts).toEqual((await stored("seq")).slice(texts.length));
    expect(await page("after=latest")).toEqual({ data: [], meta: { has_more: false, next_cursor: expect.any(String) } });
  });

  test.if(isThere)("has whole histories of some records, each the newest first, in pages of any size", async () => {
    const { store, takeEvents, walk, respond, stored } = await aServer();
    for (let version = 0; version < 5; version++) await store(...Array.from({ length: 9 }, (_, n) => record(n, { title: `T ${version}` })));
    await takeEvents([anImported(3, "a"), anImported(4, "b"), anImported(5, "c")]);
    const wanted = [2, 3, 5].map(idOf);
    const expected = (await stored("opportunity_seq desc, detected_at desc, id desc")).filter((text) =>
      wanted.includes(JSON.parse(text).opportunity_id),
    );
    const ids = [...wanted, crypto.randomUUID()].join(",").toUpperCase();
    for (const limit of [1, 2, 7, 1000])
      expect(await walk(`opportunity=${ids}&limit=${limit}`)).toMatchObject({ texts: expected, after: null });
    const other = JSON.parse(await (await respond(`opportunity=${ids}&limit=1`)).text()).meta.next_cursor;
    expect((await respond(`opportunity=${idOf(2)}&after=${other}`)).status).toBe(400);
    expect((await respond(`after=${other}`)).status).toBe(400);
  });

  test.if(isThere)("ends a page of long events at 4 MiB", async () => {
    const { store, takeEvents, walk, stored } = await aServer();
    await store(record(1));
    await takeEvents(Array.from({ length: 5 }, (_, n) => anImported(1, `${n}`.repeat(1_500_000))));
    expect(await walk("")).toMatchObject({ texts: await stored("seq"), sizes: [4, 2] });
    expect((await walk(`opportunity=${idOf(1)}`)).sizes).toEqual([4, 2]);
  });

  test.if(isThere)("refuses what it does not know, with the parameter, and a position that the catalog has no more", async () => {
    const { db, store, respond, page } = await aServer();
    await store(record(1), record(2));
    const problem = async (query: string) => {
      const response = await respond(query);
      return [response.status, ((await response.json()) as { errors?: { field: string }[] }).errors?.map(({ field }) => field)];
    };
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["limit=1&limit=2", "limit"],
      ["opportunity=x", "opportunity"],
      ["opportunity=", "opportunity"],
      ["after=", "after"],
      [`opportunity=${Array.from({ length: 101 }, (_, n) => idOf(n))}`, "opportunity"],
      ["after=x", "after"],
      ["words=x", ""],
    ] as const)
      expect([query, await problem(query)]).toEqual([query, [400, [field]]]);
    const { next_cursor } = (await page("limit=1")).meta;
    await db.run(rawSql("update events set seq = seq + 100"));
    expect(await problem(`after=${next_cursor}`)).toEqual([400, ["after"]]);
  });
});
