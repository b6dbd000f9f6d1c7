/** What the catalog remembers of imports. */
import { describe, expect, test } from "bun:test";
import {
  type Begun,
  beginImport,
  emptySummary,
  findUnfinished,
  finishImport,
  inTotal,
  listImports,
  recordProgress,
  type Summary,
} from "../../src/import/import-log.ts";
import { engines } from "../support/engines.ts";
import { NOON } from "../support/imports.ts";

const SUMMARY = { ...emptySummary, read: 3, added: 2, changed: 1, events: 3 };

describe.each(engines)("an import on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("is the same one when it is run again, until it has finished or another has begun", async () => {
    const db = await emptyCatalog();
    const files = [{ name: "a.ndjson", bytes: 3, sha256: "ab" }];
    const begun: Begun = { format: "records", files, sources: ["A", "B"], snapshot: true, asOf: NOON, startedAt: NOON + 1 };
    const id = await beginImport(db, begun);
    await db.transaction((sql) => recordProgress(sql, id, SUMMARY, NOON + 2));
    expect(await beginImport(db, { ...begun, startedAt: NOON + 9, files: [{ ...files[0], name: "b" } as (typeof files)[0]] })).toBe(id);
    expect(await findUnfinished(db, begun)).toMatchObject({ id, last_instant: NOON + 2, started_at: NOON + 1 });
    const others: Partial<Begun>[] = [{ format: "dsip" }, { asOf: undefined }, { snapshot: false }, { files: [] }];
    for (const other of others) expect(await findUnfinished(db, { ...begun, ...other })).toBeUndefined();

    await finishImport(db, id, SUMMARY, NOON + 3);
    expect(await findUnfinished(db, begun)).toBeUndefined();
    const next = await beginImport(db, { ...begun, asOf: undefined, snapshot: false });
    expect(next).toBeGreaterThan(id);
    expect(await listImports(db, 10)).toEqual([
      expect.objectContaining({ id: next, as_of: null, snapshot: 0, finished_at: null, last_instant: null, counts: "{}" }),
      expect.objectContaining({
        id,
        as_of: NOON,
        snapshot: 1,
        finished_at: NOON + 3,
        counts: JSON.stringify(SUMMARY),
        sources: '["A","B"]',
      }),
    ]);
    await db.close();
  });
});

describe("the counts of an import that was killed and run again", () => {
  const counts = (fields: Partial<Summary>): Summary => ({ ...emptySummary, ...fields });

  test.each([
    ["nothing was stored", {}, { read: 5, added: 3, unchanged: 2, events: 3 }, { read: 5, added: 3, unchanged: 2, events: 3 }],
    [
      "some of it was stored",
      { read: 9, added: 2, changed: 1, unchanged: 3, removed: 1, linked: 1, events: 5 },
      { read: 9, added: 1, unchanged: 6, merged: 1, rejected: 1, removed: 2, events: 3 },
      { read: 9, added: 3, changed: 1, unchanged: 3, merged: 1, rejected: 1, removed: 3, linked: 1, events: 8 },
    ],
    [
      "a record was changed twice",
      { read: 2, added: 2, events: 2 },
      { read: 2, changed: 1, unchanged: 1, events: 1 },
      { read: 2, added: 2, events: 3 },
    ],
  ])("are those of one import: %s", (_, before, again, expected) => {
    const total = inTotal(counts(before), counts(again));
    expect(total).toEqual(counts(expected));
    expect(total.added + total.changed + total.unchanged + total.merged + total.rejected).toBe(total.read);
  });
});
