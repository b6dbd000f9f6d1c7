/** Which record a SAM.gov notice belongs to: whatever subset of the notices comes in whatever order, layout and number of times. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import {
  aCatalog,
  aFile,
  contentsOf,
  documentsOf,
  dropScratch,
  exportOf,
  inScratch,
  ordersOf,
  type TestCatalog,
} from "../support/imports.ts";
import { randomNumbers } from "../support/random-numbers.ts";
import { describeReal } from "../support/real-data.ts";
import { dailyRows, type Row, samGovFiles } from "../support/sam-gov-layouts.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(600_000);
afterAll(dropScratch);

const format = samGov;
const NOW = Date.parse("2026-04-25T12:00:00Z");

/** A catalog whose clock stands at the day of the newest file. */
async function atNow(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  catalog.clock.now = NOW;
  return catalog;
}

/** The record that each notice is in. */
async function recordOfNotices(db: CatalogDb): Promise<Map<string, string>> {
  const rows = await db.all(
    rawSql<{ upstream_id: string; id: string }>("select upstream_id, id from upstream_ids join opportunities on seq = opportunity_seq"),
  );
  const records = new Map(rows.map(({ upstream_id, id }) => [upstream_id, id]));
  expect(records.size).toBe(rows.length); // No notice is in two records.
  return records;
}

/** Every record with its notices, but for when it was stored, and the name of one that may be named after its key or its notice. */
async function recordsOf(db: CatalogDb, nameless: ReadonlySet<string>): Promise<unknown[]> {
  const notices = Map.groupBy(await recordOfNotices(db), ([, id]) => id);
  const documents = await db.all(rawSql<{ document: Uint8Array; sidecar: Uint8Array }>("select document, sidecar from opportunities"));
  const records = documents.map(({ document, sidecar }) => {
    const { id, created_at, updated_at, ...content } = JSON.parse(Buffer.from(document).toString());
    const ids = (notices.get(id) ?? []).map(([notice]) => notice).sort();
    return { ids, id: ids.some((notice) => nameless.has(notice)) ? null : id, content, sidecar: Buffer.from(sidecar).toString() };
  });
  return records.toSorted((one, other) => (String(one.ids[0]) < String(other.ids[0]) ? -1 : 1));
}

/** Notices of a number, office and type under which several opportunities are posted on one day: the first that comes gets the key. */
const SEVERAL = new Set(["W56KGU26RRTID", "6913G626Q300017"]);

const idsOf = (rows: readonly Row[]) => rows.map((row) => String(row.NoticeId));

function someOf(rows: readonly Row[], random: () => number): Row[] {
  const share = random();
  const order = new Map(rows.map((row) => [row, random()]));
  return rows.filter(() => random() < share).toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0));
}

const layoutOf = (random: () => number) => (random() < 0.5 ? "csv" : "rows");

function properties(rows: readonly Row[], runs: number, subsets: number): void {
  const nameless = new Set(idsOf(rows.filter((row) => SEVERAL.has(String(row["Sol#"])))));

  test("of a catalog that has them all, any of them in any order change nothing", async () => {
    const catalog = await atNow();
    await catalog.takeFiles([samGovFiles.csv(rows)], { format });
    const before = await contentsOf(catalog.db);
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = randomNumbers(seed);
        for (let turn = 0; turn < subsets; turn++) {
          const some = someOf(rows, random);
          if (some.length === 0) continue;
          const { read, unchanged, merged, ...rest } = await catalog.takeFiles([samGovFiles[layoutOf(random)](some)], { format });
          expect([read, rest.events, rest.linked]).toEqual([unchanged + merged, 0, 0]);
        }
        expect(await contentsOf(catalog.db)).toBe(before);
      }),
      { numRuns: runs },
    );
  });

  test("are placed once and never move, and the catalog is the same whatever came first", async () => {
    const whole = await atNow();
    await whole.takeFiles([samGovFiles.rows(rows)], { format });
    const expected = await recordsOf(whole.db, nameless);
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = randomNumbers(seed);
        const catalog = await atNow();
        let placed = new Map<string, string>();
        const take = async (some: readonly Row[]) => {
          if (some.length === 0) return;
          await catalog.takeFiles([samGovFiles[layoutOf(random)](some)], { format });
          const now = await recordOfNotices(catalog.db);
          expect([...placed].filter(([notice, record]) => now.get(notice) !== record)).toEqual([]);
          placed = now;
        };
        for (let turn = 0; turn < subsets; turn++) await take(someOf(rows, random));
        await take(rows.filter((row) => !placed.has(String(row.NoticeId))));
        expect(await recordsOf(catalog.db, nameless)).toEqual(expected);
        expect(await checkCatalog(catalog.db)).toEqual([]);
      }),
      { numRuns: runs },
    );
  });
}

/** Those of half the numbers, and of the numbers of several opportunities. */
const some = dailyRows().filter((row) => SEVERAL.has(String(row["Sol#"])) || String(row["Sol#"]).replace(/\W/g, "").length % 2 === 0);
describe("the notices of the excerpts", () => properties(some, 2, 3));
describeReal("all notices", (directory) => properties(dailyRows(directory), 2, 4));

const COLUMNS = Object.keys(dailyRows()[0] ?? {});

/** A notice as a row of the CSV. */
const notice = (NoticeId: string, fields: Row = {}): Row => ({
  ...Object.fromEntries(COLUMNS.map((column) => [column, ""])),
  NoticeId,
  Title: "Repair of a roof",
  "Sol#": "S1",
  "Department/Ind.Agency": "DEPT OF DEFENSE",
  "Sub-Tier": "DEPT OF THE NAVY",
  Office: "NAVSEA",
  "FPDS Code": "1700",
  "AAC Code": "X1",
  PostedDate: "2026-04-20 10:00:00-04",
  Type: "Special Notice",
  BaseType: "Special Notice",
  ArchiveDate: "2026-06-01",
  Active: "Yes",
  Description: `About ${NoticeId}`,
  ...fields,
});

/** The same as the API has it: without the text, and with a date alone. */
const answer = (noticeId: string, fields: Row = {}): Row => ({
  noticeId,
  title: "Repair of a roof",
  solicitationNumber: "S1",
  fullParentPathName: "DEPT OF DEFENSE.DEPT OF THE NAVY.NAVSEA",
  fullParentPathCode: "017.1700.X1",
  organizationType: "OFFICE",
  postedDate: "2026-04-20",
  type: "Special Notice",
  baseType: "Special Notice",
  archiveDate: "2026-06-01",
  active: "Yes",
  ...fields,
});

const rowsOf = (...rows: Row[]) => [samGovFiles.rows(rows)];
const answersOf = (...opportunitiesData: Row[]) => [aFile(JSON.stringify({ opportunitiesData }))];

/** Of every record, the title, the notice that it shows, its earlier ones and the lineage. */
async function shown({ db }: TestCatalog): Promise<{ title: string; id: string; earlier: string[]; lineage: string }[]> {
  const rows = await db.all(
    rawSql<{ document: Uint8Array; lineage: string; id: string }>("select document, lineage, id from opportunities order by seq"),
  );
  const notices = [...(await recordOfNotices(db))];
  return rows.map(({ document, lineage, id }) => {
    const { title, source } = JSON.parse(Buffer.from(document).toString());
    const earlier = notices.filter(([notice, record]) => record === id && notice !== source.opportunity_id).map(([notice]) => notice);
    return { title, id: source.opportunity_id, earlier: earlier.sort(), lineage };
  });
}

const KEY = "S1|X1|Special Notice";
const at = (day: number, hour = 10) => `2026-04-${String(day).padStart(2, "0")} ${hour}:00:00-04`;

describe("two opportunities that were posted under one number on one day", () => {
  const quantum = { Title: "Quantum Sensing Call" };
  const hypersonic = { Title: "Hypersonic Materials Lot", PostedDate: at(20, 11) };
  const [first, second] = [notice("aaaa", quantum), notice("bbbb", hypersonic)];

  test.each([
    ["as a row", rowsOf(second)],
    ["as an answer of the API, which has no texts", answersOf(answer("bbbb", { title: "Hypersonic Materials Lot" }))],
  ])("stay as they are when the second comes alone, %s", async (_, alone) => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(first, second), { format });
    expect(await shown(catalog)).toEqual([
      { title: "Quantum Sensing Call", id: "aaaa", earlier: [], lineage: KEY },
      { title: "Hypersonic Materials Lot", id: "bbbb", earlier: [], lineage: "bbbb" },
    ]);
    const before = await contentsOf(catalog.db);
    for (const files of [alone, rowsOf(first), alone, rowsOf(second, first), alone]) await catalog.takeFiles(files, { format });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("stay apart, and a later revision belongs to the one with its title", async () => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(second), { format });
    await catalog.takeFiles(rowsOf(first, second), { format });
    await catalog.takeFiles(rowsOf(notice("cccc", { ...quantum, PostedDate: at(21) })), { format });
    await catalog.takeFiles(rowsOf(notice("dddd", { Title: "Wholly renamed", PostedDate: at(22) })), { format });
    expect(await shown(catalog)).toEqual([
      { title: "Wholly renamed", id: "dddd", earlier: ["bbbb"], lineage: KEY },
      { title: "Quantum Sensing Call", id: "cccc", earlier: ["aaaa"], lineage: "aaaa" },
    ]);
  });
});

describe("the notice that a record shows", () => {
  const revisions = [notice("aaaa"), notice("bbbb", { PostedDate: at(21) }), notice("cccc", { PostedDate: at(22), Title: "Renamed" })];

  test.each([[[0, 1, 2]], [[2, 1, 0]], [[1, 2, 0]], [[2, 0, 1]]])("is the newest, whatever the order of the files: %p", async (order) => {
    const catalog = await atNow();
    for (const index of order) await catalog.takeFiles(rowsOf(revisions[index] as Row), { format });
    expect(await shown(catalog)).toEqual([{ title: "Renamed", id: "cccc", earlier: ["aaaa", "bbbb"], lineage: KEY }]);
  });

  test.each([
    ["rows", rowsOf(notice("aaaa"), notice("bbbb")), rowsOf(notice("bbbb"), notice("aaaa"))],
    ["answers", answersOf(answer("aaaa"), answer("bbbb")), answersOf(answer("bbbb"), answer("aaaa"))],
  ])("is the one with the greater id where two were posted at the same time, whatever the order of the %s", async (_, one, other) => {
    for (const files of [
      [one, other],
      [other, one],
    ]) {
      const catalog = await atNow();
      await catalog.takeFiles(files[0] ?? [], { format });
      expect(await shown(catalog)).toMatchObject([{ id: "bbbb", earlier: ["aaaa"] }]);
      expect(await catalog.takeFiles(files[1] ?? [], { format })).toMatchObject({ changed: 0, unchanged: 1, merged: 1 });
    }
  });

  test("is compared by the instant, not by the text", async () => {
    const [early, late] = [notice("bbbb", { PostedDate: "2026-04-21 01:00:00+09" }), notice("aaaa", { PostedDate: at(20, 13) })];
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(late, early), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "aaaa", earlier: ["bbbb"] }]);
  });

  test("with a date alone is the one that came later, until another layout tells both times", async () => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(notice("bbbb", { PostedDate: at(20, 15) })), { format });
    await catalog.takeFiles(answersOf(answer("aaaa")), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "aaaa", earlier: ["bbbb"] }]);
    await catalog.takeFiles(rowsOf(notice("aaaa"), notice("bbbb", { PostedDate: at(20, 15) })), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "bbbb", earlier: ["aaaa"] }]);
    const before = await contentsOf(catalog.db);
    for (const files of [answersOf(answer("aaaa")), answersOf(answer("bbbb")), rowsOf(notice("aaaa"))])
      await catalog.takeFiles(files, { format });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("is not an older one that was rejected, which leaves no trace", async () => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(notice("aaaa")), { format });
    const bad = notice("bbbb", { PostedDate: at(21), SetASide: "x".repeat(2_000_001), SetASideCode: "SBA" });
    expect(await catalog.takeFiles(rowsOf(bad), { format, rejects: inScratch("bad.ndjson") })).toMatchObject({ rejected: 1, changed: 0 });
    expect(await shown(catalog)).toMatchObject([{ id: "aaaa", earlier: [] }]);
    expect(await catalog.db.all(rawSql("select upstream_id from versions"))).toEqual([{ upstream_id: "aaaa" }]);
  });
});

describe("a number under which more than a hundred notices are known", () => {
  const words = (index: number) => `Alpha${index} beta${index} gamma${index}`;
  const unlike = (index: number) =>
    notice(`n${String(index).padStart(3, "0")}`, { Title: words(index), PostedDate: new Date(Date.UTC(2025, 0, 1 + index)).toISOString() });

  test("is a placeholder: another title is another opportunity, and nothing that was placed moves", async () => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(...Array.from({ length: 100 }, (_, index) => unlike(index))), { format });
    expect(await shown(catalog)).toHaveLength(1);
    const more = [unlike(100), unlike(101)];
    await catalog.takeFiles(rowsOf(...more), { format });
    expect((await shown(catalog)).map(({ id, lineage }) => [id, lineage])).toEqual([
      ["n099", KEY],
      ["n100", "n100"],
      ["n101", "n101"],
    ]);
    const before = await contentsOf(catalog.db);
    for (const rows of [[unlike(99)], more.toReversed(), Array.from({ length: 102 }, (_, index) => unlike(index))])
      await catalog.takeFiles(rowsOf(...rows), { format });
    expect(await contentsOf(catalog.db)).toBe(before);
  });

  test("still has revisions with a similar title", async () => {
    const catalog = await atNow();
    const rows = Array.from({ length: 150 }, (_, index) => ({ ...unlike(index), Title: "Multiple Award Schedule" }));
    await catalog.takeFiles(rowsOf(...rows.slice(0, 90)), { format });
    await catalog.takeFiles(rowsOf(...rows.slice(60)), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "n149", lineage: KEY }]);
  });
});

describe("a catalog that has only the ids of its records' notices", () => {
  const rows = [
    notice("aaaa"),
    notice("bbbb", { PostedDate: at(21), Title: "Renamed at once" }),
    notice("cccc", { "Sol#": "", PostedDate: at(22) }),
  ];

  test("because it was restored from an export keeps them", async () => {
    const whole = await atNow();
    await whole.takeFiles(rowsOf(...rows), { format });
    const catalog = await atNow();
    await catalog.take(await exportOf(whole.db));
    const before = await recordsOf(catalog.db, new Set());

    for (const row of rows) expect(await catalog.takeFiles(rowsOf(row), { format })).toMatchObject({ unchanged: 1, events: 0 });
    expect(await recordsOf(catalog.db, new Set())).toEqual(before);
    expect(await catalog.db.all(rawSql("select upstream_id from versions order by 1"))).toEqual([
      { upstream_id: "aaaa" },
      { upstream_id: "bbbb" },
      { upstream_id: "cccc" },
    ]);

    await catalog.takeFiles(rowsOf(notice("dddd", { PostedDate: at(23), Title: "Something else" })), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "dddd", earlier: ["aaaa", "bbbb"], lineage: KEY }, { id: "cccc" }]);
  });

  test("compares a new notice with the notice that its record shows", async () => {
    const catalog = await atNow();
    await catalog.takeFiles(rowsOf(...rows), { format });
    await catalog.db.run(rawSql("delete from versions"));
    await catalog.takeFiles(rowsOf(notice("eeee", { PostedDate: at(21, 12), Title: "Another lot" })), { format });
    expect(await shown(catalog)).toMatchObject([{ id: "bbbb" }, { id: "cccc" }, { id: "eeee", lineage: "eeee" }]);
  });
});

test("a notice that gets its number later keeps its record", async () => {
  const catalog = await atNow();
  await catalog.takeFiles(rowsOf(notice("aaaa", { "Sol#": "" })), { format });
  await catalog.takeFiles(rowsOf(notice("aaaa")), { format });
  await catalog.takeFiles(rowsOf(notice("bbbb", { PostedDate: at(21) })), { format });
  expect(await shown(catalog)).toMatchObject([{ id: "bbbb", earlier: ["aaaa"], lineage: "aaaa" }]);
});

describe("awards", () => {
  const solicitation = notice("aaaa", { "Sol#": "SPE7M1-26-T-7566", Type: "Solicitation", BaseType: "Solicitation", PostedDate: at(1) });
  const award = (id: string, number: string, fields: Row = {}) =>
    notice(id, { ...solicitation, NoticeId: id, Type: "Award Notice", AwardNumber: number, PostedDate: at(20), ...fields });
  const first = award("bbbb", "C-1", { "Sol#": "SPE7M126T7566" });
  const second = award("cccc", "C2");
  const corrected = award("dddd", "C1", { BaseType: "Award Notice", Title: "Wholly renamed", PostedDate: at(21) });
  const ofSister = award("eeee", "C3", { "AAC Code": "X5", Title: "Repair of a roof, building 5" });
  const ofOther = award("ffff", "C4", { "AAC Code": "36C263" });
  const untitled = award("gggg", "C5", { "AAC Code": "X6", Title: "Circuit card" });
  const rows = [solicitation, first, second, corrected, ofSister, ofOther, untitled];
  const KEY_OF = { solicitation: "SPE7M126T7566|X1|Solicitation", C1: "SPE7M126T7566|X1|Award Notice|C1" };

  const parents = async ({ db }: TestCatalog) =>
    Object.fromEntries(
      (await documentsOf(db)).map(({ source, relationships }) => [
        source.opportunity_id,
        (relationships as { parent_id: string | null }).parent_id,
      ]),
    );

  test("are one record each, with their solicitation as the parent, whichever comes first", async () => {
    const parent = opportunityId("SAM_GOV", KEY_OF.solicitation);
    const expected = { aaaa: null, cccc: parent, dddd: parent, eeee: parent, ffff: null, gggg: null };
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(rows, { minLength: rows.length }),
        fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 7, maxLength: 7 }),
        async (order, sizes) => {
          const catalog = await atNow();
          for (let done = 0; done < order.length; done += sizes[done] ?? 1)
            await catalog.takeFiles(rowsOf(...order.slice(done, done + (sizes[done] ?? 1))), { format });
          expect(await parents(catalog)).toEqual(expected);
          expect((await shown(catalog)).find(({ id }) => id === "dddd")).toMatchObject({ earlier: ["bbbb"], lineage: KEY_OF.C1 });
          const before = await contentsOf(catalog.db);
          for (const row of order) await catalog.takeFiles(rowsOf(row), { format });
          expect(await contentsOf(catalog.db)).toBe(before);
          expect(await checkCatalog(catalog.db)).toEqual([]);
        },
      ),
      { numRuns: 6 },
    );
  });

  test("of one GSA schedule in the real excerpts are as many records as contracts, on one day or day by day", async () => {
    const schedule = dailyRows().filter((row) => row["Sol#"] === "47QSMD20R0001");
    const contracts = new Set(schedule.map((row) => row.AwardNumber));
    expect([schedule.length, contracts.size]).toEqual([78, 77]);
    const [once, daily] = [await atNow(), await atNow()];
    expect(await once.takeFiles(rowsOf(...schedule), { format })).toMatchObject({ added: 77, merged: 1, events: 77 });
    const days = Map.groupBy(schedule, (row) => String(row.PostedDate).slice(0, 10));
    for (const day of days.values()) await daily.takeFiles(rowsOf(...day), { format });
    expect((await shown(daily)).toSorted(byId)).toEqual((await shown(once)).toSorted(byId));
  });

  const number = solicitation["Sol#"];
  /** The details of a notice in the page backend: they name the first and the previous version, and no office. */
  const details = (id: string, previous: string, data: object) => ({
    opportunityId: id,
    parent: { opportunityId: "aaaa" },
    _links: { "opportunity:previous": { href: `https://sam.gov/api/opportunities/${previous}` } },
    status: { code: "published" },
    postedDate: "2026-04-20T14:00:00.000+00:00",
    data2: { title: "Repair of a roof", solicitationNumber: number, ...data },
  });
  const found = (id: string) => ({
    _id: id,
    _type: "opportunity",
    parentNoticeId: "aaaa",
    title: "Repair of a roof",
    solicitationNumber: number,
    organizationHierarchy: [{ name: "NAVSEA", type: "OFFICE", code: "X1" }],
    publishDate: "2026-04-20T14:00:00+00:00",
    type: { value: "Award Notice" },
  });
  const pages = {
    details: [
      details("bbbb", "aaaa", { type: "a", award: { number: "C1" } }),
      details("cccc", "bbbb", { type: "a", award: { number: "C2" } }),
    ],
    search: [{ _embedded: { results: [found("bbbb"), found("cccc")] }, page: { totalElements: 2 } }],
  };

  test.each(Object.entries(pages))(
    "stay apart from their solicitation and from each other in the page backend's %s",
    async (_, documents) => {
      const files = [...documents.map((each) => [aFile(JSON.stringify(each))]), rowsOf(solicitation), rowsOf(award("bbbb", "C1"), second)];
      for (const order of ordersOf(files)) {
        const catalog = await atNow();
        for (const each of order) await catalog.takeFiles(each, { format });
        expect((await shown(catalog)).map(({ id, earlier }) => [id, earlier]).toSorted()).toEqual([
          ["aaaa", []],
          ["bbbb", []],
          ["cccc", []],
        ]);
        const before = await shown(catalog);
        for (const each of order) await catalog.takeFiles(each, { format });
        expect(await shown(catalog)).toEqual(before);
      }
    },
  );
});

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}
