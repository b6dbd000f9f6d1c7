/** What the report on the data finds: planted faults, clean data, and what an import made worse. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import type { Draft } from "../../src/import/format.ts";
import { qualityOf } from "../../src/quality/report.ts";
import { dataRules } from "../../src/quality/rules.ts";
import { fundfeed } from "../support/command-line.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";
import { storeRecords } from "../support/records.ts";
import { at, clean, dates, funding, planted } from "./planted.ts";

afterAll(dropScratch);

const found = async (db: CatalogDb, now = NOON) => (await qualityOf(db, { now })).flatMap(({ findings }) => findings);

test("there is a planted fault for each rule", () => {
  expect(Object.keys(planted)).toEqual(dataRules.map(({ name }) => name));
});

test("of clean data nothing is found, also where it comes close to a fault", async () => {
  const { db } = await aCatalog();
  const near: Partial<Draft>[] = [
    { title: "Testing of Materials" },
    { title: "Contested logistics: do not stop" },
    { status: "awarded", ...dates({ posted_at: at(-1), closes_at: at(-4), opens_at: null, response_at: null }) }, // The award was posted.
    funding({ amount_min: "5", amount_max: "0" }), // No ceiling.
    { organization: null } as unknown as Partial<Draft>,
    { status: "forecast", ...dates({ posted_at: at(40), opens_at: at(41), closes_at: at(60), response_at: null }) },
  ];
  await storeRecords(db, [clean(), ...near.map((fields, n) => ({ ...clean(n + 1), ...fields }))], NOON);
  expect(await found(db)).toEqual([]);
  await db.close();
});

test.each(Object.entries(planted))("%s is found, and nothing else", async (rule, fault) => {
  const { db } = await aCatalog();
  const [, id = ""] = await storeRecords(db, [clean(), { ...clean(1), ...fault }], NOON);
  expect(await found(db)).toMatchObject([{ rule, records: 1, sample_ids: [id] }]);
  await db.close();
});

test("a repeated record is found; a later stage of it is none", async () => {
  const { db } = await aCatalog();
  const stage = { ...clean(2), program: { ...clean().program, contract_class: "Award Notice" } } as Draft;
  await storeRecords(db, [clean(), { ...clean(1), program: clean().program } as Draft, stage], NOON);
  expect(await found(db)).toMatchObject([{ rule: "duplicate", records: 1 }]);
  await db.close();
});

describe.each(engines)("what an import made worse, on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);
  const records = Array.from({ length: 20 }, (_, n) => clean(n));
  const without = (count: number) => records.map((record, n) => (n < count ? { ...record, summary: null } : record));

  testIf("shares that fall by a tenth", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    const { db } = catalog;
    catalog.clock.now = NOON;
    await catalog.take(records);
    expect((await qualityOf(db, { now: NOON }))[0]).toMatchObject({ live: 20, compared: null, falls: [] });
    catalog.clock.now = NOON + DAY;
    await catalog.take(without(1));
    expect((await qualityOf(db, { now: NOON + DAY }))[0]?.falls).toEqual([]);
    catalog.clock.now = NOON + 2 * DAY;
    await catalog.take(without(3));
    const now = NOON + 2 * DAY;
    expect((await qualityOf(db, { now }))[0]?.falls).toEqual([{ what: "summary", before: 0.95, now: 0.85 }]);
    const [since] = await qualityOf(db, { now, since: NOON + 1 });
    expect(since).toMatchObject({ compared: { live: 20 }, falls: [{ what: "summary", before: 1, now: 0.85 }] });
    expect(await qualityOf(db, { now, sources: ["NSF"] })).toEqual([]);
    await db.close();
  });

  testIf("funding that disappears as a whole, and records of which half are gone", async () => {
    const catalog = await aCatalog(await emptyCatalog());
    const { db } = catalog;
    catalog.clock.now = NOON;
    await catalog.take(records);
    const half = records.slice(0, 10).map((record, n) => (n < 5 ? { ...record, funding: null } : record));
    catalog.clock.now = NOON + DAY;
    await catalog.take(half, { snapshot: true, allowRemovals: true });
    const [report] = await qualityOf(db, { now: NOON + DAY });
    expect(report).toMatchObject({ records: 20, live: 10, compared: { live: 20 } });
    expect(report?.falls).toEqual([
      { what: "records", before: 20, now: 10 },
      { what: "funding.amount_min", before: 1, now: 0.5 },
      { what: "funding.amount_max", before: 1, now: 0.5 },
    ]);
    await db.close();
  });
});

describe("the command", () => {
  const data = join(aDirectory(), "data");
  const run = (...args: string[]) => fundfeed([...args, "--data", data], {}, () => NOON);

  test("prints a report, and fails on what is named", async () => {
    const fault = { ...clean(2), ...planted.far_date, dates: { closes_at: "soon" } };
    const given = aFile([clean(), { ...clean(1), ...planted.far_date }, fault]);
    expect((await run("import", "records", given)).code).toBe(3);
    const { code, out } = await run("quality");
    expect(code).toBe(0);
    expect(out).toStartWith(
      "OWN  2 records, 2 not archived; 1 of 3 rejected by the last import\n  rule      records  for example\n  far_date        1  ",
    );
    for (const line of out.split("\n")) expect(line.length).toBeLessThan(80);
    expect(await run("quality", "--fail-on", "past_due,fall")).toMatchObject({ code: 0 });
    const failed = await run("quality", "--fail-on", "far_date", "--fail-on", "rejected", "--json");
    expect([failed.code, failed.err]).toEqual([1, "error: found far_date in OWN, rejected in OWN\n"]);
    expect(JSON.parse(failed.out)).toMatchObject([{ source: "OWN", last_import: { read: 3, rejected: 1 } }]);
    expect((await run("quality", "--fail-on", "fra_date")).err).toContain('There is no "fra_date" (did you mean "far_date"?)');
    expect((await run("quality", "--source", "OWM")).err).toContain("Cannot report on source OWM: no source has this code");
  });
});

test("a share is never rounded to all or none, and of archived records nothing is said to be missing", async () => {
  const directory = aDirectory();
  const records = Array.from({ length: 2501 }, (_, n) => ({ ...clean(n), ...(n === 0 ? { summary: null } : { description: null }) }));
  const rare = records.map((record, n) => (n === 1 ? { ...record, description: "Rare" } : record));
  const archived = { ...clean(), source: { code: "OLD", opportunity_id: "1", url: null }, status: "archived" };
  await fundfeed(["import", "records", aFile([...rare, archived]), "--data", directory]);
  const { out } = await fundfeed(["quality", "--data", directory]);
  expect(out).toContain("summary >99.9%");
  expect(out).toContain("description <0.1%");
  expect(out).not.toMatch(/ (100|0)%/);
  expect(out.slice(out.indexOf("OLD"), out.indexOf("OWN"))).not.toContain("filled");
});
