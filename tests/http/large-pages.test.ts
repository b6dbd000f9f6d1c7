/** Pages of long documents: each ends at some megabytes, and the cursor continues it. */
import { expect, test } from "bun:test";
import { PAGE_BYTES_MAX } from "../../src/opportunities/page.ts";
import { testApi } from "../support/api.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";

const LONG = 1_500_000;
const record = (n: number, description: string) => anOpportunity({ source: { code: "SAM", opportunity_id: `N${n}` }, description });

/** Walks all pages, and returns the ids of each. Every page is at most one document longer than its limit. */
async function walk(api: Awaited<ReturnType<typeof testApi>>, path: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const response = await api.get(`${path}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    const text = await response.text();
    expect(text.length).toBeLessThan(PAGE_BYTES_MAX + 2 * LONG + 10_000); // An event has two descriptions.
    const { data, meta } = JSON.parse(text) as { data: { id: string }[]; meta: { count: number; has_more: boolean; next_cursor: string } };
    expect([meta.count, meta.has_more]).toEqual([data.length, meta.next_cursor !== null]);
    pages.push(data.map(({ id }) => id));
    cursor = meta.next_cursor;
  }
  return pages;
}

test("a page of opportunities ends when its documents reach 4 MiB, and the next page continues it", async () => {
  const lengths = [10, LONG, LONG, 70_000, LONG, LONG, 10, LONG];
  const api = await testApi({ records: lengths.map((length, n) => record(n, "x".repeat(length))) });
  const newestFirst = await api.model.db.all(rawSql<{ id: string }>("select id from opportunities order by updated_at desc, id desc"));

  for (const memory of ["empty", "filled"]) {
    const pages = await walk(api, "/opportunities?limit=100");
    expect([memory, pages.map((ids) => ids.length)]).toEqual([memory, [4, 4]]);
    expect(pages.flat()).toEqual(newestFirst.map(({ id }) => id));
  }
});

test("a page of events ends when its documents reach 4 MiB, and the next page continues it", async () => {
  const api = await testApi({ records: [record(0, "x")] });
  const { db } = api.model;
  for (let n = 1; n <= 4; n++) await storeRecords(db, [record(0, `${n}`.repeat(LONG))], api.clock.now + n);
  const [{ id } = { id: "" }] = await db.all(rawSql<{ id: string }>("select id from opportunities"));
  const newestFirst = await db.all(rawSql<{ id: string }>("select id from events order by detected_at desc, id desc"));

  const pages = await walk(api, `/opportunities/${id}/events?limit=100&include_insignificant=true`);
  expect(pages.map((ids) => ids.length)).toEqual([2, 2, 1]);
  expect(pages.flat()).toEqual(newestFirst.map((event) => event.id));
});
