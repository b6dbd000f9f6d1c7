/** What a source states and cannot be so: kept as published, warned of by the import, listed by `quality`. */
import { afterAll, expect, test } from "bun:test";
import { qualityOf } from "../../src/quality/report.ts";
import { aCatalog, dropScratch, NOON, opportunitiesOf } from "../support/imports.ts";

afterAll(dropScratch);

const cases = {
  unknown_status: { status: "someday" },
  closes_before_opens: { dates: { opens_at: "2026-05-01T12:00:00Z", closes_at: "2026-04-01T12:00:00Z" } },
  due_after_expiry: { due_dates: [{ at: "2026-09-01T12:00:00Z", words: null }], expires_at: "2026-08-01T12:00:00Z" },
} as const;

test.each(Object.entries(cases))("%s is kept as published, warned of once, and listed", async (rule, fields) => {
  const { db, take } = await aCatalog();
  const records = [1, 2].map((n) => ({ source: { code: "OWN", opportunity_id: `C-${n}` }, title: `Call ${n}`, ...fields }));
  const { messages, rejected } = await take([...records, { source: { code: "OWN", opportunity_id: "C-3" }, title: "Call 3" }]);
  expect(rejected).toBe(0);
  const [{ findings } = { findings: [] }] = await qualityOf(db, { now: NOON });
  const found = findings.find(({ rule: name }) => name === rule);
  expect(found?.records).toBe(2);
  expect(messages).toEqual([`Kept as published: 2 records whose ${found?.says}, such as OWN C-1; fundfeed quality lists them`]);
  const first = (await opportunitiesOf(db)).find(({ source }) => source.opportunity_id === "C-1");
  expect({ ...first, ...first?.sidecar }).toMatchObject(fields as object);
  expect((await take(records)).messages).toEqual([]); // Unchanged lines are not read again.
});
