/** SAM.gov's page backend: its notices are the same records as those of the CSV and the v2 API, and it alone says that one was cancelled. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../../src/changes/check.ts";
import { turnStatuses } from "../../../src/changes/status-turns.ts";
import { samGov } from "../../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, documentsOf, dropScratch, eventsOf, type TestCatalog } from "../../support/imports.ts";
import { readFormat, realInput, statedAt, textInput } from "../../support/read-format.ts";
import { realJson, realPath } from "../../support/real-data.ts";
import { type Row, responseNoticeOf } from "../../support/sam-gov-layouts.ts";
import { rawSql } from "../../support/sql.ts";

afterAll(dropScratch);

const DETAIL = "sam-gov-page/detail-18011fdf-naics561720-20260921.json";
const SEARCH = "sam-gov-page/search-naics561720-trimmed-20260921.json";
const [FIRST, PREVIOUS, PRESENT] = [
  "7a176367f4944d2a91f948411bba07c1",
  "f5f9871e147e43f5a28bfbd2633e6326",
  "18011fdf88c84e35a15ee186f0b5c29f",
];
const NOW = Date.UTC(2026, 8, 22, 12);

const detail = realJson<Row & { data2: Row; description: Row[] }>(DETAIL);

/** A version of the notice as the CSV has it. */
const row = (NoticeId: string, PostedDate: string, fields: Row = {}): Row => ({
  NoticeId,
  Title: "Housekeeping Services – Fermilab",
  "Sol#": "DH-377725",
  "Department/Ind.Agency": "ENERGY, DEPARTMENT OF",
  "Sub-Tier": "ENERGY, DEPARTMENT OF",
  Office: "FERMILAB - DOE CONTRACTOR",
  "AAC Code": "899034",
  OrganizationType: "OFFICE",
  PostedDate,
  Type: "Solicitation",
  BaseType: "Solicitation",
  ArchiveDate: "2026-10-24",
  SetASideCode: "SBA",
  SetASide: "Total Small Business Set-Aside (FAR 19.5)",
  ResponseDeadLine: "2026-10-09T17:00:00-05:00",
  NaicsCode: "561720",
  ClassificationCode: "S201",
  PopState: "IL",
  PopCountry: "USA",
  Active: "Yes",
  PrimaryContactFullname: "Dustin Hansrote",
  PrimaryContactEmail: "hansrote@fnal.gov",
  Description: detail.description[0]?.body,
  ...fields,
});
const present = row(PRESENT, "2026-09-21 16:10:23.206-04");

async function atNow(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  catalog.clock.now = NOW;
  return catalog;
}

const take = (catalog: TestCatalog, document: unknown) => catalog.takeFiles([aFile(JSON.stringify(document))], { format: samGov });
const takeReal = (catalog: TestCatalog, name: string) => catalog.takeFiles([realPath(name)], { format: samGov });

const layouts = {
  CSV: (catalog: TestCatalog) => take(catalog, [present]),
  "v2 API": (catalog: TestCatalog) => take(catalog, { opportunitiesData: [responseNoticeOf(present)] }),
  details: (catalog: TestCatalog) => takeReal(catalog, DETAIL),
  search: (catalog: TestCatalog) => takeReal(catalog, SEARCH),
};
type Layout = keyof typeof layouts;

function fileOf(layout: Layout): string {
  if (layout === "details") return realPath(DETAIL);
  if (layout === "search") return realPath(SEARCH);
  return aFile(JSON.stringify(layout === "CSV" ? [present] : { opportunitiesData: [responseNoticeOf(present)] }));
}

/** The only record of the notice, with all ids that find it. */
async function theNotice({ db }: TestCatalog) {
  const [found, ...others] = (await documentsOf(db)).filter(({ title }) => String(title).includes("Fermilab"));
  if (found === undefined || others.length > 0) throw new Error(`There are ${others.length + 1} records of the notice`);
  const ids = await db.all(
    rawSql<{ upstream_id: string }>(
      "select upstream_id from upstream_ids join opportunities on seq = opportunity_seq where id = ?",
      found.id,
    ),
  );
  return { ...found, ids: ids.map(({ upstream_id }) => upstream_id).sort() };
}

describe("real files", () => {
  test.each([
    [DETAIL, 1],
    ["sam-gov-page/detail-2e20258d-combined-20260921.json", 1],
    ["sam-gov-page/detail-be2e3210-naics484210-20260921.json", 1],
    ["sam-gov-page/search-naics484110-20260923.json", 3],
    ["sam-gov-page/search-naics484121-empty-20260923.json", 0],
    ["sam-gov-page/search-naics484122-20260923.json", 1],
    [SEARCH, 3],
  ])("%s: %d notices, none rejected, and again is a no-op", async (name, notices) => {
    const catalog = await atNow();
    expect(await takeReal(catalog, name)).toMatchObject({ read: notices, added: notices, rejected: 0, events: notices });
    expect(await takeReal(catalog, name)).toMatchObject({ read: notices, unchanged: notices, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("an amended notice, field by field", async () => {
    const { drafts, items } = await readFormat(samGov, [await realInput(DETAIL)]);
    expect({ ...drafts[0], summary: null, description: drafts[0]?.description?.slice(0, 40) }).toEqual({
      source: { code: "SAM_GOV", opportunity_id: PRESENT, url: `https://sam.gov/opp/${PRESENT}/view` },
      title: "Housekeeping Services – Fermilab",
      summary: null,
      description: "<p>Amendment 2 is being issued to provid",
      status: null,
      status_display: null,
      archives_at: "2026-10-25T00:00:00-04:00",
      organization: {},
      program: {
        type: "RFP",
        solicitation_id: "DH-377725",
        solicitation_title: "Housekeeping Services – Fermilab",
        contract_class: "Solicitation",
      },
      funding: null,
      dates: {
        posted_at: "2026-09-21T16:10:23.206-04:00",
        closes_at: "2026-10-09T17:00:00-05:00",
        response_at: "2026-10-09T17:00:00-05:00",
      },
      classifications: { tech_taxonomy: ["PSC:S201"], naics_codes: ["561720"], set_aside_types: ["SBA"] },
      eligibility: { requirements: "Set-aside: SBA", geographic_scope: "IL, USA" },
      contacts: [{ name: "Dustin Hansrote", email: "hansrote@fnal.gov", phone: null, role: "primary" }],
      place: { city: null, state: "IL", country: "USA" },
      award: null,
      earlier_ids: [FIRST, PREVIOUS],
    });
    expect(items[0]).toMatchObject({ kind: "record", version: { id: PRESENT } });
  });

  test("a search that is cut off says so, and a list of codes is no list of notices", async () => {
    expect((await readFormat(samGov, [await realInput(SEARCH)])).warnings).toEqual([
      "the search found 253 notices; these files contain 3 of them",
    ]);
    const codes = textInput('{"_embedded":{"setAsideList":[{"setAsideCode":"SBA"}]}}');
    await expect(readFormat(samGov, [codes])).rejects.toThrow('it has no array "opportunitiesData"');
  });
});

describe("one notice in several layouts is one record", () => {
  const names = Object.keys(layouts) as Layout[];
  const pairs = names.flatMap((one) => names.filter((other) => other !== one).map((other): [Layout, Layout] => [one, other]));

  test.each(pairs)("%s, then %s", async (one, other) => {
    const catalog = await atNow();
    await layouts[one](catalog);
    const outcome = await layouts[other](catalog);
    expect(outcome.rejected).toBe(0);
    const { ids } = await theNotice(catalog);
    expect(ids).toContain(PRESENT);
    for (const again of [one, other]) expect(await layouts[again](catalog)).toMatchObject({ added: 0, changed: 0, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test.each(pairs)("%s and %s in one import give the same record as in two imports", async (first, second) => {
    const names = [first, second];
    const [inTurn, together] = [await atNow(), await atNow()];
    for (const name of names) await layouts[name](inTurn);
    const files = names.map((name) => fileOf(name));
    expect(await together.takeFiles(files, { format: samGov })).toMatchObject({ rejected: 0 });
    // An import of both knows number and office from the beginning, so the id of the record may be another one.
    const { id: _id, created_at: _created, updated_at: _updated, ...expected } = await theNotice(inTurn);
    expect(await theNotice(together)).toMatchObject(expected);
    expect(await together.takeFiles(files, { format: samGov })).toMatchObject({ added: 0, changed: 0, events: 0 });
    expect(await checkCatalog(together.db)).toEqual([]);
  });

  test("all four give each other what they lack", async () => {
    const catalog = await atNow();
    for (const name of ["details", "search", "CSV", "v2 API"] as const) await layouts[name](catalog);
    expect(await theNotice(catalog)).toMatchObject({
      organization: { agency: "ENERGY, DEPARTMENT OF", issuing_office: "FERMILAB - DOE CONTRACTOR" },
      description: String(detail.description[0]?.body).trim(),
      eligibility: { requirements: "Set-aside: Total Small Business Set-Aside (FAR 19.5)" },
      contacts: [{ email: "hansrote@fnal.gov" }],
      ids: [PRESENT, FIRST, PREVIOUS].sort(),
    });
  });
});

describe("an amendment", () => {
  const first = row(FIRST, "2026-09-10 10:00:00-04", { ResponseDeadLine: "2026-10-01T17:00:00-05:00", Description: "<p>Housekeeping</p>" });
  const previous = row(PREVIOUS, "2026-09-16 10:00:00-04", { Description: "<p>Housekeeping</p>" });

  test.each([
    ["the first version", [first]],
    ["the previous version", [previous]],
    ["both", [first, previous]],
  ])("in the details continues the record of the CSV that has %s", async (_, rows) => {
    const catalog = await atNow();
    for (const each of rows) await take(catalog, [each]);
    expect(await takeReal(catalog, DETAIL)).toMatchObject({ added: 0, changed: 1 });
    const { source, ids } = await theNotice(catalog);
    expect([source.opportunity_id, ids]).toEqual([PRESENT, [PRESENT, FIRST, PREVIOUS].sort()]);
    expect(await layouts.CSV(catalog)).toMatchObject({ added: 0 });
    for (const each of [...rows, present]) expect(await take(catalog, [each])).toMatchObject({ added: 0, changed: 0, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("in the CSV continues the record of the details", async () => {
    const catalog = await atNow();
    await takeReal(catalog, DETAIL);
    await layouts.search(catalog); // It names the office, so that the CSV's next version is recognized by its number.
    const next = row("99990000999900009999000099990000", "2026-09-25 09:00:00-04", { ResponseDeadLine: "2026-10-16T17:00:00-05:00" });
    expect(await take(catalog, [next])).toMatchObject({ added: 0, changed: 1 });
    const events = await eventsOf(catalog.db, next.NoticeId as string);
    expect(events.map(({ type, severity }) => [type, severity])).toContainEqual(["date_changed", "material"]);
    expect(await takeReal(catalog, DETAIL)).toMatchObject({ added: 0, changed: 0, events: 0 }); // An older version.
  });

  test("of versions in one import, the newest is shown", async () => {
    const older = { ...detail, opportunityId: PREVIOUS, id: PREVIOUS, _links: {}, postedDate: "2026-09-16T14:00:00.000+00:00" };
    for (const order of [
      [older, detail],
      [detail, older],
    ]) {
      const catalog = await atNow();
      expect(await take(catalog, order)).toMatchObject({ read: 2, added: 1, merged: 1 });
      expect((await theNotice(catalog)).source.opportunity_id).toBe(PRESENT);
    }
  });
});

describe("a state that only the page backend states", () => {
  const states: [what: string, stated: Row, status: string, display: string | null][] = [
    ["deleted", { deleted: true }, "archived", "Deleted"],
    ["archived", { archived: true, status: { code: "archived" } }, "archived", "Archived"],
    ["cancelled", { cancelled: true }, "cancelled", null],
    ["cancelled and archived", { cancelled: true, archived: true }, "cancelled", "Archived"],
  ];
  const others = (Object.keys(layouts) as Layout[]).filter((name) => name !== "details");

  test.each(states)("%s stays, whichever other layout comes between imports of the details", async (_, stated, status, status_display) => {
    const catalog = await atNow();
    for (const name of others) await layouts[name](catalog);
    await take(catalog, { ...detail, ...stated });
    for (const name of [...others, ...others]) {
      expect(await layouts[name](catalog)).toMatchObject({ changed: 0, events: 0 });
      expect(await take(catalog, { ...detail, ...stated })).toMatchObject({ changed: 0, events: 0 });
    }
    expect(await theNotice(catalog)).toMatchObject({ status, status_display });
    await layouts.details(catalog);
    expect(await theNotice(catalog)).toMatchObject({ status: "open", status_display: null });
  });

  test("an archived notice of the CSV or the API stays archived when older details come, until the layout itself says otherwise", async () => {
    const inactive = { ...present, Active: "No" };
    for (const [archive, reopen] of [
      [(catalog: TestCatalog) => take(catalog, [inactive]), layouts.CSV],
      [(catalog: TestCatalog) => take(catalog, { opportunitiesData: [responseNoticeOf(inactive)] }), layouts["v2 API"]],
    ] as const) {
      const catalog = await atNow();
      for (const name of ["details", "search"] as const) await layouts[name](catalog);
      await archive(catalog);
      for (let turn = 0; turn < 2; turn++) {
        for (const name of ["details", "search"] as const) expect(await layouts[name](catalog)).toMatchObject({ events: 0 });
        expect(await archive(catalog)).toMatchObject({ events: 0 });
      }
      expect(await theNotice(catalog)).toMatchObject({ status: "archived" });
      await reopen(catalog);
      expect(await theNotice(catalog)).toMatchObject({ status: "open" });
    }
  });

  test("an archive date stays when layouts come that have none", async () => {
    const catalog = await atNow();
    await layouts.details(catalog);
    await layouts.search(catalog);
    expect(await theNotice(catalog)).toMatchObject({ status: "open" });
    const archives = Date.parse("2026-10-25T00:00:00-04:00");
    await turnStatuses(catalog.db, archives - 1);
    expect(await theNotice(catalog)).toMatchObject({ status: "closed" });
    expect(await turnStatuses(catalog.db, archives)).toEqual({ changed: 1, events: 1 });
    expect(await theNotice(catalog)).toMatchObject({ status: "archived" });
  });
});

describe("a cancellation", () => {
  const cancelled = { ...detail, cancelled: true };
  const statusEvents = async (catalog: TestCatalog) =>
    (await eventsOf(catalog.db, PRESENT))
      .filter(({ type }) => type === "status_changed")
      .map(({ severity, changes }) => [severity, changes]);

  test("is a critical event, on a record of any layout", async () => {
    for (const name of Object.keys(layouts) as Layout[]) {
      const catalog = await atNow();
      await layouts[name](catalog);
      await take(catalog, cancelled);
      expect(await statusEvents(catalog)).toEqual([["critical", [{ field: "status", previous: "open", current: "cancelled" }]]]);
      expect(await take(catalog, cancelled)).toMatchObject({ changed: 0, events: 0 });
    }
  });

  test("of an amended notice is one, too", async () => {
    const catalog = await atNow();
    await take(catalog, [row(PREVIOUS, "2026-09-16 10:00:00-04")]);
    await take(catalog, cancelled);
    expect(await statusEvents(catalog)).toEqual([["critical", [{ field: "status", previous: "open", current: "cancelled" }]]]);
  });

  test("stays when a layout comes that cannot say so, and ends when the details say so", async () => {
    const catalog = await atNow();
    await take(catalog, cancelled);
    for (const name of ["CSV", "v2 API", "search"] as const) await layouts[name](catalog);
    expect(await theNotice(catalog)).toMatchObject({ status: "cancelled" });
    expect(await statusEvents(catalog)).toEqual([]);
    await layouts.details(catalog);
    expect(await statusEvents(catalog)).toEqual([["critical", [{ field: "status", previous: "cancelled", current: "open" }]]]);
  });

  test("ends with a newer version of the notice", async () => {
    const catalog = await atNow();
    await layouts.CSV(catalog);
    await take(catalog, cancelled);
    await take(catalog, [row("99990000999900009999000099990000", "2026-09-25 09:00:00-04")]);
    expect(await theNotice(catalog)).toMatchObject({ status: "open", source: { opportunity_id: "99990000999900009999000099990000" } });
  });
});

test.each([
  [{ status: { code: "active" } }, null],
  [{ status: { code: "published" } }, null],
  [{ status: { code: "active_cancelled" } }, "cancelled"],
  [{ status: { code: "inactive_cancelled" }, archived: true }, "cancelled"],
  [{ cancelled: true, archived: true }, "cancelled"],
  [{ status: { code: "inactive" } }, "archived"],
  [{ status: { code: "archived" } }, "archived"],
  [{ archived: true }, "archived"],
  [{ deleted: true }, "archived"],
  [{ data2: { ...detail.data2, archive: { date: "2026-09-01" } } }, "archived"],
  [{ data2: { ...detail.data2, type: "a", award: { number: "1", amount: "350567.00", awardee: { name: "Acme" } } } }, "awarded"],
])("details with %j have the status %p", async (fields, status) => {
  const { drafts } = await readFormat(samGov, [textInput(JSON.stringify({ ...detail, ...fields }))]);
  expect(drafts.map((draft) => statedAt(draft, "2026-09-22T12:00:00Z"))).toEqual([status]);
});

test.each([
  ["2026-09-22T01:10:23.206+00:00", "2026-09-21T21:10:23.206-04:00"],
  ["2026-09-22T01:10:23.000Z", "2026-09-21T21:10:23-04:00"],
  ["2026-12-01T04:30:00.000+0000", "2026-11-30T23:30:00-05:00"],
  ["2026-11-01T05:30:00+00", "2026-11-01T01:30:00-04:00"],
  ["2026-11-01T06:30:00+00:00", "2026-11-01T01:30:00-05:00"],
])("a notice posted at %s was posted at %s, as the CSV says", async (postedDate, posted_at) => {
  const found = realJson<{ _embedded: { results: Row[] } }>(SEARCH)._embedded.results[0];
  const files = [{ ...detail, postedDate }, { _embedded: { results: [{ ...found, publishDate: postedDate }] } }];
  for (const file of files)
    expect((await readFormat(samGov, [textInput(JSON.stringify(file))])).drafts[0]?.dates?.posted_at).toBe(posted_at);
});

test("details that lack a member take nothing from the record of the CSV", async () => {
  const catalog = await atNow();
  await layouts.CSV(catalog);
  const before = await theNotice(catalog);
  const { setAside: _, ...solicitation } = detail.data2.solicitation as Row;
  const { naics: _n, classificationCode: _c, placeOfPerformance: _p, pointOfContact: _o, ...data2 } = detail.data2;
  const { description: _d, ...rest } = detail;
  await take(catalog, { ...rest, data2: { ...data2, solicitation: { ...solicitation, deadlines: {} } } });
  expect(await theNotice(catalog)).toMatchObject({ ...before, ids: expect.anything(), updated_at: expect.anything() });
});

test("texts that differ in line breaks alone are one text", async () => {
  const catalog = await atNow();
  const crlf = { ...present, Description: String(detail.description[0]?.body).replaceAll("\n", "\r\n") };
  await take(catalog, [crlf]);
  await layouts.details(catalog);
  for (const again of [() => take(catalog, [crlf]), () => layouts.details(catalog)]) expect(await again()).toMatchObject({ events: 0 });
});

test("a link that leads elsewhere is a change, and other mark-up is none", async () => {
  const catalog = await atNow();
  const withBody = (body: string) => take(catalog, { ...detail, description: [{ body }] });
  await withBody('<p>See <a href="https://example.gov/old">the list</a></p>');
  expect(await withBody('<div>See <a href="https://example.gov/old">the list</a></div>')).toMatchObject({ events: 0 });
  expect(await withBody('<p>See <a href="https://example.gov/new">the list</a></p>')).toMatchObject({ events: 1 });
});

test("a draft leaves no trace beside the published version", async () => {
  const catalog = await atNow();
  const draft = {
    ...detail,
    opportunityId: "d".repeat(32),
    id: "d".repeat(32),
    status: { code: "draft" },
    parent: { opportunityId: FIRST },
  };
  await take(catalog, [detail, draft]);
  expect((await theNotice(catalog)).ids).toEqual([PRESENT, FIRST, PREVIOUS].sort());
});

test("a draft is rejected, and so is a notice without an id", async () => {
  const documents = [{ ...detail, status: { code: "draft" } }, { ...detail, opportunityId: "", id: null }, detail];
  const { refused, kept } = await readFormat(samGov, [textInput(JSON.stringify(documents))]);
  expect([refused, kept.size]).toEqual([["the notice is a draft, which is not published", "NoticeId must not be blank"], 1]);
});
