/** Versions of a SAM.gov notice that name each other, as the page backend does, are one record, however they are spread over imports. */
import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkCatalog } from "../../src/changes/check.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, contentsOf, documentsOf, dropScratch, ordersOf, type TestCatalog } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const format = samGov;
const [FIRST, SECOND, THIRD, FOURTH] = ["1", "2", "3", "4"].map((digit) => digit.repeat(32)) as [string, string, string, string];
const DAYS: Readonly<Record<string, string>> = { [FIRST]: "10", [SECOND]: "12", [THIRD]: "14", [FOURTH]: "16" };

const DAY = `2026-02-${DAYS[FIRST]}T16:00:00+00:00`;

/** The details of a version: they name the first and the previous version, and no office. */
const details = (id: string, previous = "") => ({
  opportunityId: id,
  parent: { opportunityId: id === FIRST ? null : FIRST },
  _links: previous === "" ? {} : { "opportunity:previous": { href: `https://sam.gov/api/opportunities/${previous}` } },
  status: { code: "published" },
  postedDate: `2026-02-${DAYS[id]}T14:00:00.000+00:00`,
  data2: { title: "Repair of a roof", solicitationNumber: "S1", type: "o" },
});

/** A row of a search: it names the first version, and the office. */
const found = (id: string, fields: object = {}) => ({
  _id: id,
  _type: "opportunity",
  parentNoticeId: id === FIRST ? null : FIRST,
  title: "Repair of a roof",
  solicitationNumber: "S1",
  organizationHierarchy: [
    { name: "NAVY", type: "DEPARTMENT" },
    { name: "NAVSEA", type: "OFFICE", code: "X1" },
  ],
  publishDate: `2026-02-${DAYS[id]}T14:00:00+00:00`,
  type: { value: "Solicitation" },
  ...fields,
});

/** A version in the v2 API: it names no other, and the office. */
const answer = (id: string, fields: object = {}) => ({
  noticeId: id,
  title: "Repair of a roof",
  solicitationNumber: "S1",
  fullParentPathName: "NAVY.NAVSEA",
  fullParentPathCode: "017.X1",
  organizationType: "OFFICE",
  postedDate: `2026-02-${DAYS[id]}`,
  type: "Solicitation",
  baseType: "Solicitation",
  active: "Yes",
  ...fields,
});

const file = (document: unknown) => aFile(JSON.stringify(document));
const search = (...results: object[]) => file({ _embedded: { results }, page: { totalElements: results.length } });
const answers = (...opportunitiesData: object[]) => file({ opportunitiesData });

/** The upstream ids of each record. */
async function idsOfRecords({ db }: TestCatalog): Promise<string[][]> {
  const rows = await db.all(
    rawSql<{ opportunity_seq: number; upstream_id: string }>("select opportunity_seq, upstream_id from upstream_ids order by 1, 2"),
  );
  return [...Map.groupBy(rows, (row) => row.opportunity_seq).values()].map((ids) => ids.map(({ upstream_id }) => upstream_id));
}

describe("in one import", () => {
  const bothDetails = () => [file(details(SECOND)), file(details(THIRD))];
  test.each([
    ["details of two versions and a search with the newer one", THIRD, () => [...bothDetails(), search(found(THIRD))]],
    ["details of two versions and a search with the older one", THIRD, () => [...bothDetails(), search(found(SECOND))]],
    [
      "a chain of details and the oldest version in the API",
      FOURTH,
      () => [file(details(THIRD, SECOND)), file(details(FOURTH, THIRD)), answers(answer(FIRST))],
    ],
    [
      "details and a version without a number, which they name",
      SECOND,
      () => [file(details(SECOND)), answers(answer(FIRST, { solicitationNumber: "TBD" }))],
    ],
    [
      "versions of one day under different titles",
      SECOND,
      () => [search(found(FIRST)), search(found(SECOND, { title: "Toilets", publishDate: DAY }))],
    ],
    [
      "two versions of a search whose type changed",
      THIRD,
      () => [search(found(SECOND, { type: { value: "Presolicitation" } })), search(found(THIRD))],
    ],
  ])("%s are one record, which shows the newest", async (_, newest, files) => {
    for (const order of ordersOf(files())) {
      const catalog = await aCatalog();
      expect(await catalog.takeFiles(order, { format })).toMatchObject({ added: 1, rejected: 0 });
      expect((await documentsOf(catalog.db)).map(({ source }) => source.opportunity_id)).toEqual([newest]);
      const before = await contentsOf(catalog.db);
      expect(await catalog.takeFiles(order, { format })).toMatchObject({ added: 0, changed: 0, events: 0 });
      expect(await contentsOf(catalog.db)).toBe(before);
      expect(await checkCatalog(catalog.db)).toEqual([]);
    }
  });
});

test("one import after the other, a version that names no other continues the record whose office a search named", async () => {
  const catalog = await aCatalog();
  for (const one of [file(details(FIRST)), search(found(SECOND)), answers(answer(THIRD))]) await catalog.takeFiles([one], { format });
  expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND, THIRD]]);
});

test("a version that a stored one names for the first time belongs to its record, although it comes in the same import", async () => {
  for (const order of ordersOf([file(details(SECOND)), answers(answer(FIRST, { solicitationNumber: "S9" }))])) {
    const catalog = await aCatalog();
    await catalog.takeFiles([answers(answer(SECOND))], { format });
    await catalog.takeFiles(order, { format });
    expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND]]);
    expect(await catalog.takeFiles(order, { format })).toMatchObject({ added: 0, changed: 0, events: 0 });
  }
});

test("all ids that versions of one import name find the record, whichever is shown", async () => {
  const versions = [file(details(THIRD, SECOND)), file(details(FOURTH, THIRD))];
  for (const order of ordersOf(versions)) {
    const catalog = await aCatalog();
    await catalog.takeFiles(order, { format });
    expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND, THIRD, FOURTH]]);
  }
});

test("an older version adds the ids that it names to the record that shows a newer one", async () => {
  const catalog = await aCatalog();
  for (const one of [file(details(FOURTH)), file(details(THIRD, SECOND))]) await catalog.takeFiles([one], { format });
  expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND, THIRD, FOURTH]]);
});

test("however the versions that name each other are spread over imports, they are one record that all of their ids find", async () => {
  const [first, ...later] = [FIRST, SECOND, THIRD, FOURTH];
  const files = [
    file(details(first)),
    ...later.map((id, at) => file(details(id, [FIRST, SECOND, THIRD][at]))),
    ...[first, ...later].map((id) => search(found(id))),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(files, { minLength: files.length }),
      fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
      async (order, sizes) => {
        const catalog = await aCatalog();
        for (let done = 0; done < order.length; ) {
          const size = sizes.next().value;
          await catalog.takeFiles(order.slice(done, done + size), { format });
          done += size;
        }
        expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND, THIRD, FOURTH]]);
        const before = await contentsOf(catalog.db);
        expect(await catalog.takeFiles(order, { format })).toMatchObject({ added: 0, changed: 0, events: 0 });
        expect(await contentsOf(catalog.db)).toBe(before);
        expect(await checkCatalog(catalog.db)).toEqual([]);
      },
    ),
    { numRuns: 12 },
  );
});

test("an older version without a number never takes the place of one that named it", async () => {
  const [older, newer] = [answers(answer(FIRST, { solicitationNumber: "TBD" })), file(details(SECOND))];
  for (const order of [
    [older, newer, older],
    [newer, older],
  ]) {
    const catalog = await aCatalog();
    for (const each of order) await catalog.takeFiles([each], { format });
    expect((await documentsOf(catalog.db)).map(({ source }) => source.opportunity_id)).toEqual([SECOND]);
    expect(await idsOfRecords(catalog)).toEqual([[FIRST, SECOND]]);
  }
});
