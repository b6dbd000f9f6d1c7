/** The pages of deadlines and changes whose time is over: what they leave out, and that they say so. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { changesPage } from "../../src/browse/changes-page.tsx";
import { deadlinesPage } from "../../src/browse/deadlines-page.tsx";
import type { PageContext } from "../../src/browse/page.ts";
import { type Budget, UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aCatalog, aDirectory, dropScratch, NOON } from "../support/imports.ts";

let context: Omit<PageContext, "query">;

beforeAll(async () => {
  const { db, take } = await aCatalog();
  await take([{ source: { code: "OWN", opportunity_id: "1" }, title: "Own", dates: { closes_at: "2026-03-12T12:00:00Z" } }]);
  const index = openSearchFile(aDirectory());
  await catchUp(db, index);
  context = { catalog: db, index, now: NOON };
});
afterAll(() => {
  context.index.close();
  dropScratch();
});

const SPENT: Budget = { isSpent: () => true };
const ENDED = "The search ended after a second";
type Make = typeof deadlinesPage;

async function shown(make: Make, query: string, budget: Budget): Promise<string> {
  const page = await make({ ...context, query: new URLSearchParams(query) }, budget);
  return "body" in page ? `${page.body}` : page.location;
}

test("deadlines have every day, and no bars", async () => {
  const [whole, cut] = [await shown(deadlinesPage, "from=2026-03-08", UNLIMITED), await shown(deadlinesPage, "from=2026-03-08", SPENT)];
  for (const page of [whole, cut]) expect(page).toContain("1 deadline from Mar\u00a08,\u00a02026 to Apr\u00a018,\u00a02026");
  expect([whole, cut].map((page) => [page.includes(ENDED), page.includes("Deadlines per week")])).toEqual([
    [false, true],
    [true, false],
  ]);
});

test("changes have the shortest period, unless one is asked for", async () => {
  const pages = [
    await shown(changesPage, "", UNLIMITED),
    await shown(changesPage, "", SPENT),
    await shown(changesPage, "since=90d", SPENT),
  ];
  expect(pages.map((page) => /by (?:day|week) \(UTC\) and severity, (\w+ \d+, \d+)/.exec(page)?.[1])).toEqual([
    "Mar 3, 2025",
    "Jan 31, 2026",
    "Dec 1, 2025",
  ]);
});
