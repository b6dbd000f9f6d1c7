/** What a source states and cannot be so: kept as published, warned of by the import, listed by `quality`. */
import { afterAll, expect, test } from "bun:test";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { qualityOf } from "../../src/quality/report.ts";
import { aCatalog, aFile, dropScratch, NOON, opportunitiesOf } from "../support/imports.ts";

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

test("a competition that closes before it opens is shown as published, warned of, and listed", async () => {
  const { db, takeFiles } = await aCatalog();
  const dates = { opening_date: "2026-11-01", closing_date: "2026-10-15" };
  const others = [{ competition_title: "Late", opening_date: "2026-11-01", closing_date: "2027-02-15" }];
  const data = {
    opportunity_id: "2f98bc76-8ab0-4742-9143-950c1cbc0e42",
    legacy_opportunity_id: 359802,
    opportunity_title: "Office-Wide",
    opportunity_status: "posted",
    summary: { is_forecast: false, close_date: null, post_date: "2026-01-05" },
    competitions: [{ competition_title: "Main", ...dates }, ...others],
  };
  const { messages } = await takeFiles([aFile(JSON.stringify({ data, status_code: 200 }))], { format: grantsGov });
  expect(messages).toContain(
    "Kept as published: 1 record whose submissions close before they open, such as GRANTS_GOV 359802; fundfeed quality lists them",
  );
  const [{ findings } = { findings: [] }] = await qualityOf(db, { now: NOON });
  expect(findings.map(({ rule, records }) => [rule, records])).toContainEqual(["closes_before_opens", 1]);
  const [record] = await opportunitiesOf(db);
  expect(record?.sidecar.due_dates.map(({ words }) => words)).toEqual(["Main, opens 2026-11-01", "Late"]);
});
