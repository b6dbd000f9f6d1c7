/** Searches of more rows than one statement reads: each result is that of a sort of all rows, and a search whose time is over says so. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { validateRecord } from "../../src/import/validate.ts";
import { noSidecar } from "../../src/opportunities/opportunity.ts";
import { SPAN_ROWS, UNLIMITED } from "../../src/search/budget.ts";
import { candidatesFor } from "../../src/search/candidates.ts";
import { find, type Order, orderNames } from "../../src/search/find.ts";
import { spellQuestion } from "../../src/search/question.ts";
import { filtersToDrop } from "../../src/search/result-counts.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { findSimilar } from "../../src/search/similar.ts";
import { vocabularyOf } from "../../src/search/vocabulary.ts";
import { finishBuild } from "../../src/search/write.ts";
import { aCatalog, aDirectory, dropScratch } from "../support/imports.ts";
import { anOpportunity } from "../support/records.ts";

setDefaultTimeout(300_000);

/**
 * Their numbers are somewhat more than a span, and every sixth of them has a row. The older half has a status of its
 * own, the very first row a word, and nine of ten others are open: either are more than are sorted.
 */
const [STEP, NOW] = [6, 500];
const [ROWS, OLD] = [Math.floor((SPAN_ROWS + 10_000) / STEP), 22_000];
const dates = { due_at: "row * 7919 % 1000", posted_at: "row * 31 % 777", updated_at: "row / 500", amount_high: "'3' || (row * 17 % 90)" };
const index = openSearchFile(aDirectory());
const rows = `with recursive rows (row) as (select 1 union all select row + 1 from rows where row < ${ROWS})`;
const cells = Object.values(dates).map((value) => `case row % 5 when 0 then null else ${value} end`);
index.sqlite
  .transaction(() => {
    index.sqlite.run(
      `insert into texts (rowid, title, text) ${rows} select row * ${STEP}, '', 'alpha' || case row when 1 then ' bravo' else '' end from rows`,
    );
    index.sqlite.run(
      `insert into records (seq, id, stored_at, number, number_key, status, source, ${Object.keys(dates)})
        ${rows} select row * ${STEP}, 'id' || row, 0, '', '', case when row <= ${OLD} then 'closed' when row % 10 = 1 then 'archived' else 'open' end, 'OWN', ${cells} from rows`,
    );
    finishBuild(index.sqlite);
  })
  .immediate();
afterAll(() => {
  index.close();
  dropScratch();
});

/** A budget that is spent when it is asked for the nth time. */
const spentAt = (n: number) => ({ isSpent: () => --n <= 0 });
const search = (
  filter: object,
  order: Order,
  given: { limit?: number; keys?: readonly (string | number | null)[]; budget?: typeof UNLIMITED },
) => {
  const { limit = 10, keys = [], budget = UNLIMITED } = given;
  return find(index, { filter, limit, order, countAtMost: 15_000 }, { now: NOW, keys }, budget);
};

describe("more matches than are sorted", () => {
  const column = { closes: "due_at", posted: "posted_at", updated: "updated_at", amount: "amount_high" } as const;

  test.each(orderNames)("by %s are walked in the order of a sort, each once", (order) => {
    const value = column[order];
    const by =
      order === "closes"
        ? `case when due_at >= ${NOW} then 0 when due_at is null then 1 else 2 end, abs(due_at - ${NOW}), case when due_at >= ${NOW} then seq else -seq end`
        : `${value} is null, ${value} desc, seq desc`;
    const expected = index.sqlite.query<{ id: string }, []>(`select id from records where status = 'open' order by ${by}`).all();
    const ids: string[] = [];
    for (let keys: readonly (string | number | null)[] | null = []; keys !== null; ) {
      const page = search({ words: "alpha", status: ["open"] }, order, { limit: 9_001, keys });
      expect([page.total, page.isWhole]).toEqual([15_000, true]);
      ids.push(...page.ids);
      keys = page.next;
    }
    expect(ids.length).toBe(expected.length);
    expect(ids.length).toBeGreaterThan(20_000);
    expect(ids.findIndex((id, n) => id !== expected[n]?.id)).toBe(-1);
  });
});

describe("a search whose time is over", () => {
  test("has what was found until then", () => {
    expect(search({ words: "bravo" }, "updated", {})).toMatchObject({ ids: ["id1"], total: 1, isWhole: true });
    expect(search({ words: "bravo" }, "updated", { budget: spentAt(1) })).toMatchObject({ ids: [], total: 0, rows: null, isWhole: false });
    expect(search({ status: ["closed"] }, "updated", {})).toMatchObject({ rows: null, isWhole: true });
    expect(search({ status: ["closed"] }, "updated", { budget: spentAt(1) })).toMatchObject({ rows: null, isWhole: false });
  });

  test("goes on where it ended", () => {
    const filter = { status: ["closed"] };
    const ended = search(filter, "updated", { budget: spentAt(2) });
    expect(ended).toMatchObject({ ids: [], isWhole: false });
    const { ids } = search(filter, "updated", { keys: ended.next ?? [] });
    expect(ids).toEqual(search(filter, "updated", {}).ids);
    expect(ids).toHaveLength(10);
  });

  test("has counted the newest matches", () => {
    const counted = (budget: typeof UNLIMITED) =>
      find(index, { filter: { status: ["closed"] }, limit: 10, order: "updated" }, { now: NOW, keys: [] }, budget);
    expect(counted(UNLIMITED)).toMatchObject({ total: OLD, isWhole: true });
    let asked = 0;
    counted({ isSpent: () => ++asked < 0 });
    expect(counted(spentAt(asked))).toMatchObject({ total: OLD - Math.floor((ROWS * STEP - SPAN_ROWS) / STEP), isWhole: false });
  });

  test("has the best matches of the newest records", () => {
    const candidates = (budget: typeof UNLIMITED) =>
      candidatesFor(index.sqlite, spellQuestion("alpha bravo", vocabularyOf(index.sqlite)), { condition: undefined, most: 10 }, budget);
    expect(candidates(UNLIMITED)).toMatchObject({ best: [{ seq: STEP }, ...Array(9).fill({})], isAll: true, isWhole: true });
    expect(candidates(spentAt(1))).toMatchObject({
      matching: 0,
      partial: ROWS - Math.floor(SPAN_ROWS / STEP),
      isAll: false,
      isWhole: false,
    });
  });

  test("says of what is like an opportunity whether all was looked at", async () => {
    const { db } = await aCatalog();
    const opportunity = { ...validateRecord(anOpportunity({ title: "Alpha" }), new Map()).content, id: "own", sidecar: noSidecar };
    const like = (budget: typeof UNLIMITED) => findSimilar(db, index, opportunity as never, 5, NOW, budget);
    expect([await like(UNLIMITED), await like(spentAt(1))]).toMatchObject([{ isWhole: true }, { words: ["alpha"], isWhole: false }]);
  });

  test("knows of fewer filters to drop", () => {
    const filter = { words: "bravo", status: ["open"] };
    expect(filtersToDrop(index, filter, NOW, { isPartial: false, allSources: false }, UNLIMITED)).toEqual([
      { name: "words", records: 10_000 },
      { name: "status", records: 1 },
    ]);
    expect(filtersToDrop(index, filter, NOW, { isPartial: false, allSources: false }, spentAt(1))).toEqual([]);
  });
});
