import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../../../src/import/format.ts";
import { samGov } from "../../../src/import/formats/sam-gov.ts";
import { aCatalog, dropScratch } from "../../support/imports.ts";
import { countBy, readFormat, realInput, statedAt, textInput } from "../../support/read-format.ts";
import { describeReal, EXCERPTS } from "../../support/real-data.ts";

afterAll(dropScratch);

const DAILY = "sam-gov/daily";
const CSV_MARCH = "sam-gov/derived/ContractOpportunitiesFullCSV-20260330.reconstructed.csv.gz";
const CSV_APRIL = "sam-gov/derived/ContractOpportunitiesFullCSV-20260425.reconstructed.csv.gz";

/** A row as it stands in the bulk CSV, told by what the test is about. */
function aRow(fields: Record<string, string> = {}): Record<string, string> {
  const text =
    "Title,Sol#,Department/Ind.Agency,Sub-Tier,FPDS Code,Office,AAC Code,Type,BaseType,SetASideCode,SetASide,ResponseDeadLine,NaicsCode,ClassificationCode,PopCity,PopState,PopCountry,AwardNumber,AwardDate,Award$,Awardee,AdditionalInfoLink,Description";
  const people = ["Primary", "Secondary"].flatMap((which) =>
    ["Title", "Fullname", "Email", "Phone"].map((what) => `${which}Contact${what}`),
  );
  return {
    ...Object.fromEntries([...text.split(","), ...people].map((column) => [column, ""])),
    NoticeId: "n1",
    Title: "Repair of a roof",
    PostedDate: "2026-04-24 10:00:00.1-04",
    Type: "Solicitation",
    BaseType: "Solicitation",
    ArchiveDate: "2026-06-01",
    Active: "Yes",
    ...fields,
  };
}

const json = (...rows: Record<string, unknown>[]) => textInput(JSON.stringify(rows));
const quoted = (cells: string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");
const csv = (...rows: Record<string, string>[]) =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map(quoted).join("\n");

async function draftOf(fields: Record<string, string>): Promise<Draft> {
  const { drafts } = await readFormat(samGov, [json(aRow(fields))]);
  return drafts[0] as Draft;
}

async function keptOf(...rows: Record<string, string>[]) {
  const { kept, items } = await readFormat(samGov, [json(...rows.map(aRow))]);
  expect(items).toHaveLength(rows.length);
  return [...kept.values()].map(({ lineage, source, earlier_ids }) => [lineage, source.opportunity_id, earlier_ids]);
}

type Counts = Record<string, number>;
type Day = readonly [name: string, now: string, notices: number, opportunities: number, statuses: Counts];

function testFiles(directory: string, files: readonly Day[]): void {
  test.each(files)("%s as of %s: %d notices of %d opportunities, none refused", async (name, now, notices, opportunities, statuses) => {
    const { items, kept, refused } = await readFormat(samGov, [await realInput(name, directory)]);

    expect(refused).toEqual([]);
    expect(items).toHaveLength(notices);
    expect(kept.size).toBe(opportunities);
    expect(countBy(kept.values(), (draft) => statedAt(draft, now))).toEqual(statuses);
  });
}

function testDailyFiles(directory: string, notices: number, types: Counts): void {
  test(`the 36 daily files together give what the bulk CSV of the same ${notices} rows gives`, async () => {
    const names = readdirSync(join(directory, DAILY));
    const daily = await readFormat(samGov, await Promise.all(names.map((name) => realInput(`${DAILY}/${name}`, directory))));
    const bulk = await readFormat(samGov, [await realInput(CSV_APRIL, directory)]);

    expect(names).toHaveLength(36);
    expect(daily.refused).toEqual([]);
    expect(daily.items).toHaveLength(notices);
    const ids = ({ kept }: typeof bulk) =>
      [...kept].map(([lineage, { source, earlier_ids }]) => [lineage, source.opportunity_id, earlier_ids]).sort();
    expect(ids(daily)).toEqual(ids(bulk));
    expect(countBy(daily.kept.values(), ({ program }) => program?.type)).toEqual(types);
  });
}

describeReal("the full files", (directory) => {
  testFiles(directory, [
    [CSV_MARCH, "2026-03-30T12:00:00Z", 6185, 6090, { archived: 2362, awarded: 3020, null: 689, pre_release: 19 }],
    [CSV_APRIL, "2026-04-25T12:00:00Z", 9767, 9502, { archived: 5851, awarded: 1862, null: 1666, pre_release: 123 }],
  ]);
  testDailyFiles(directory, 9767, {
    BAA: 7,
    CONTRACT: 7429,
    CSO: 3,
    INDUSTRY_EVENT: 6,
    OTHER: 112,
    RFI: 261,
    RFP: 1682,
    SBIR: 2,
  });
});

describe("real files", () => {
  testFiles(EXCERPTS, [
    [CSV_MARCH, "2026-03-30T12:00:00Z", 454, 401, { archived: 123, awarded: 233, null: 44, pre_release: 1 }],
    [CSV_APRIL, "2026-04-25T12:00:00Z", 859, 704, { archived: 334, awarded: 188, null: 172, pre_release: 10 }],
    ["sam-gov/v2-search-20260202.json", "2026-02-02T12:00:00Z", 8, 8, { null: 6, pre_release: 2 }],
  ]);
  testDailyFiles(EXCERPTS, 859, { BAA: 7, CONTRACT: 485, CSO: 3, INDUSTRY_EVENT: 6, OTHER: 10, RFI: 31, RFP: 160, SBIR: 2 });

  test("a solicitation with its contacts, field by field", async () => {
    const { kept } = await readFormat(samGov, [await realInput(`${DAILY}/records-20260309.json`)]);

    const draft = kept.get("FA441826Q0021|FA4418|Solicitation");
    expect({ ...draft, summary: draft?.summary?.slice(0, 40), description: draft?.description?.slice(0, 40) }).toEqual({
      source: {
        code: "SAM_GOV",
        opportunity_id: "240daa57f6d24c48bff09878ed4d62f6",
        url: "https://sam.gov/opp/240daa57f6d24c48bff09878ed4d62f6/view",
      },
      lineage: "FA441826Q0021|FA4418|Solicitation",
      earlier_ids: [],
      title: "FY26 AIRSHOW - PORTABLE TOILETS - JB CHARLESTON",
      summary: "Amendment 0002: See SOW Rev 1. Changes i",
      description: "Amendment 0002: See SOW Rev 1. Changes i",
      status: null,
      status_display: null,
      archives_at: "2026-03-27T00:00:00-04:00",
      organization: { agency: "DEPT OF DEFENSE", sub_agency: "DEPT OF THE AIR FORCE", issuing_office: "FA4418  628 CONS PK" },
      program: {
        type: "RFP",
        solicitation_id: "FA441826Q0021",
        solicitation_title: "FY26 AIRSHOW - PORTABLE TOILETS - JB CHARLESTON",
        contract_class: "Solicitation",
      },
      funding: null,
      dates: {
        posted_at: "2026-03-08T23:22:11.004-04:00",
        closes_at: "2026-03-11T11:30:00-04:00",
        response_at: "2026-03-11T11:30:00-04:00",
      },
      classifications: { tech_taxonomy: ["PSC:W085"], naics_codes: ["562991"], set_aside_types: ["SBA"] },
      eligibility: {
        requirements: "Set-aside: Total Small Business Set-Aside (FAR 19.5)",
        geographic_scope: "Charleston AFB, SC, USA",
      },
      contacts: [
        { name: 'Roger "Dale" Crews', email: "roger.crews@us.af.mil", phone: "8439633568", role: "primary" },
        { name: "A1C Bishwa R. Neupane", email: "bishwa.neupane.1@us.af.mil", phone: "8439633704", role: "secondary" },
      ],
      attachments: [],
      place: { city: "Charleston AFB", state: "SC", country: "USA" },
      award: null,
      agency_codes: ["5700"],
    });
  });

  test("an award notice, field by field", async () => {
    const { kept } = await readFormat(samGov, [await realInput(`${DAILY}/wins-20260318.json`)]);

    const draft = kept.get("36C26126Q0192|36C261|Award Notice|36C10G18D007136C26126N0360");
    expect({ ...draft, summary: null, description: null }).toEqual({
      source: {
        code: "SAM_GOV",
        opportunity_id: "5443e96b2a7a4539bec38a55a66b4d24",
        url: "https://sam.gov/opp/5443e96b2a7a4539bec38a55a66b4d24/view",
      },
      lineage: "36C26126Q0192|36C261|Award Notice|36C10G18D007136C26126N0360",
      earlier_ids: [],
      title: "V301--Relocation Services | Coronado DC | POP: 4/1/26-3/31/27 |",
      summary: null,
      description: null,
      status: "awarded",
      status_display: null,
      archives_at: "2026-04-07T00:00:00-04:00",
      organization: {
        agency: "VETERANS AFFAIRS, DEPARTMENT OF",
        sub_agency: "VETERANS AFFAIRS, DEPARTMENT OF",
        issuing_office: "261-NETWORK CONTRACT OFFICE 21 (36C261)",
      },
      program: {
        type: "CONTRACT",
        solicitation_id: "36C26126Q0192",
        solicitation_title: "V301--Relocation Services | Coronado DC | POP: 4/1/26-3/31/27 |",
        contract_class: "Award Notice",
      },
      funding: {
        amount_min: "565834.50",
        amount_max: "565834.50",
        display: "Awarded $565,834.50 to CORONADO DISTRIBUTION COMPANY, INC. NATIONAL CITY 91950",
      },
      dates: { posted_at: "2026-03-17T18:41:34.445-04:00", closes_at: null, response_at: null },
      classifications: { tech_taxonomy: ["PSC:V301"], naics_codes: ["484210"], set_aside_types: ["SBA"] },
      eligibility: { requirements: "Set-aside: Total Small Business Set-Aside (FAR 19.5)", geographic_scope: null },
      contacts: [{ name: "James Postell", email: "james.postell@va.gov", phone: "702-791-9000 x18936", role: "Contracting Officer" }],
      attachments: [],
      place: null,
      award: {
        number: "36C10G18D007136C26126N0360",
        date: "2026-03-17",
        amount: "565834.50",
        awardee: "CORONADO DISTRIBUTION COMPANY, INC. NATIONAL CITY 91950",
      },
      agency_codes: ["3600"],
    });
  });

  test("a notice of the v2 API, field by field, and that the answer is only a part of what was found", async () => {
    const { kept, warnings } = await readFormat(samGov, [await realInput("sam-gov/v2-search-20260202.json")]);

    expect(warnings).toEqual(["the search found 9334 notices; these files contain 8 of them"]);
    expect(kept.get("EQ8PSCC250025|47PD51|Presolicitation")).toEqual({
      source: {
        code: "SAM_GOV",
        opportunity_id: "fd05ce5247fb4bc1b86e1ce4691bb74b",
        url: "https://sam.gov/opp/fd05ce5247fb4bc1b86e1ce4691bb74b/view",
      },
      lineage: "EQ8PSCC250025|47PD51|Presolicitation",
      earlier_ids: [],
      title: "Aspinall Chambers Renovation",
      status: "pre_release",
      status_display: null,
      status_until: "2026-02-28T16:00:00-07:00",
      archives_at: "2026-03-16T00:00:00-04:00",
      organization: {
        agency: "GENERAL SERVICES ADMINISTRATION",
        sub_agency: "PUBLIC BUILDINGS SERVICE",
        issuing_office: "PBS PROJECT DELIVERY WEST - BRANCH A",
      },
      program: {
        type: "RFP",
        solicitation_id: "EQ8PSCC250025",
        solicitation_title: "Aspinall Chambers Renovation",
        contract_class: "Presolicitation",
      },
      funding: null,
      dates: {
        posted_at: "2026-02-02T00:00:00-05:00",
        closes_at: "2026-02-28T16:00:00-07:00",
        response_at: "2026-02-28T16:00:00-07:00",
      },
      classifications: { tech_taxonomy: ["PSC:Z2AA"], naics_codes: ["236220"], set_aside_types: ["SBA"] },
      eligibility: {
        requirements: "Set-aside: Total Small Business Set-Aside (FAR 19.5)",
        geographic_scope: "Grand Junction, CO, USA",
      },
      contacts: [{ name: "corey roundfield", email: "corey.roundfield@gsa.gov", phone: "720.656.0243", role: "primary" }],
      attachments: [],
      place: { city: "Grand Junction", state: "CO", country: "USA" },
      agency_codes: ["4740"],
      award: null,
    });
    const special = kept.get("N0002426SN20||Special Notice");
    expect(special?.organization).toEqual({ agency: "DEPT OF DEFENSE", sub_agency: "DEPT OF THE NAVY", issuing_office: "NAVSEA HQ" });
    expect(kept.get("N6264926RK007|N62649|Solicitation")?.attachments).toHaveLength(5);
  });
});

describe("dates", () => {
  test.each([
    ["2026-04-24 23:24:04.649-04", "2026-04-24T23:24:04.649-04:00"],
    ["2026-04-24 23:24:04-04", "2026-04-24T23:24:04-04:00"],
    ["2026-01-24 03:42:50", "2026-01-24T03:42:50-05:00"],
    ["2026-07-24", "2026-07-24T00:00:00-04:00"],
    ["soon", null],
  ])("PostedDate %s is %s", async (text, instant) => {
    expect((await draftOf({ PostedDate: text })).dates?.posted_at).toBe(instant);
  });

  test.each([
    ["2026-05-11T11:30:00-04:00", "2026-05-11T11:30:00-04:00"],
    ["2026-05-11T11:30:00+09:00", "2026-05-11T11:30:00+09:00"],
    ["2026-12-11T11:30:00", "2026-12-11T11:30:00-05:00"],
    ["2026-05-11T11:30", "2026-05-11T11:30:00-04:00"],
    ["2026-05-11", "2026-05-11T23:59:59-04:00"],
    ["2026-02-30", null],
    ["null", null],
    ["", null],
  ])("ResponseDeadLine %p is %p", async (text, instant) => {
    const { dates } = await draftOf({ ResponseDeadLine: text });
    expect([dates?.closes_at, dates?.response_at]).toEqual([instant, instant]);
  });

  test("a date that cannot be read gives a warning", async () => {
    const { warnings } = await readFormat(samGov, [json(aRow({ ResponseDeadLine: "tomorrow" }))]);
    expect(warnings).toEqual(['unreadable date "tomorrow"']);
  });
});

describe("status", () => {
  test.each([
    ["an award notice", { Type: "Award Notice" }, "awarded", null],
    ["an awarded justification", { Type: "Justification", AwardNumber: "X1", Awardee: "ACME" }, "awarded", "Justification"],
    ["a justification", { Type: "Justification" }, "closed", "Justification"],
    ["an inactive notice", { Active: "No" }, "archived", null],
    ["a notice archived yesterday", { ArchiveDate: "2026-04-24", Type: "Award Notice" }, "archived", null],
    ["a notice archived today", { ArchiveDate: "2026-04-25" }, null, null],
    ["a presolicitation", { Type: "Presolicitation" }, "pre_release", null],
    ["a presolicitation past its deadline", { Type: "Presolicitation", ResponseDeadLine: "2026-04-24" }, null, null],
    ["a sources sought notice", { Type: "Sources Sought" }, null, "Sources Sought"],
    ["a solicitation, which follows the clock", {}, null, null],
    ['the awardee "null "', { Awardee: "null " }, null, null],
  ])("of %s", async (_, fields, status, display) => {
    const draft = await draftOf(fields);
    expect([statedAt(draft, "2026-04-25T12:00:00Z"), draft.status_display]).toEqual([status, display]);
  });

  test("an unknown type is accepted with a warning", async () => {
    const { drafts, warnings } = await readFormat(samGov, [json(aRow({ Type: "Modification" }))]);
    expect(drafts[0]?.program).toMatchObject({ type: "OTHER", contract_class: "Modification" });
    expect(warnings).toEqual(['unknown notice type "Modification"']);
  });
});

test.each([
  ["SBA", ["SBA"]],
  ['["SBA"]', ["SBA"]],
  ["NONE", []],
  ["", []],
  ["null", []],
])("SetASideCode %s gives %p", async (code, codes) => {
  expect((await draftOf({ SetASideCode: code })).classifications?.set_aside_types).toEqual(codes);
});

test.each([
  ["1234.5", "ACME", "Awarded $1,234.50 to ACME"],
  ["280851.24000000", "", "Awarded $280,851.24"],
  ["81123456789.01", "ACME", "Awarded $81,123,456,789.01 to ACME"],
  ["800620", "ACME", "Awarded $800,620.00 to ACME"],
  ["0", "ACME", "Awarded to ACME"],
  ["", "ACME", "Awarded to ACME"],
  ["", "null ", undefined],
])("Award$ %p to %p reads %p", async (amount, awardee, display) => {
  expect((await draftOf({ Award$: amount, Awardee: awardee })).funding?.display).toBe(display);
});

test("a place with only a city's code is left out", async () => {
  expect((await draftOf({ PopCity: "0", PopCountry: "DEU" })).eligibility?.geographic_scope).toBe("DEU");
});

describe("lineage", () => {
  const posted = (day: number, hour = 10) => `2026-04-${day} ${hour}:00:00-04`;

  test("a revision is the same opportunity with the newest NoticeId, in any order", async () => {
    const rows = [
      { NoticeId: "b", "Sol#": "S1 ", "AAC Code": "X1", PostedDate: posted(21), Title: "Wholly renamed" },
      { NoticeId: "c", "Sol#": "s-1", "AAC Code": "X1", PostedDate: posted(22), Type: "Special Notice" },
      { NoticeId: "a", "Sol#": " S1", "AAC Code": "X1", PostedDate: posted(20) },
    ];
    expect(await keptOf(...rows)).toEqual([["S1|X1|Solicitation", "c", ["a", "b"]]]);
    expect(await keptOf(...rows.toReversed())).toEqual([["S1|X1|Solicitation", "c", ["a", "b"]]]);
  });

  test("office and original type distinguish opportunities of one number", async () => {
    const kept = await keptOf(
      { NoticeId: "a", "Sol#": "S1", "AAC Code": "X1" },
      { NoticeId: "b", "Sol#": "S1", "AAC Code": "X2" },
      { NoticeId: "c", "Sol#": "S1", "AAC Code": "X1", BaseType: "Sources Sought" },
    );
    expect(kept.map(([lineage]) => lineage)).toEqual(["S1|X1|Solicitation", "S1|X2|Solicitation", "S1|X1|Sources Sought"]);
  });

  test("contracts awarded under one number are separate opportunities", async () => {
    const award = { "Sol#": "S1", "AAC Code": "X1", Type: "Award Notice", BaseType: "Award Notice" };
    expect(await keptOf({ ...award, NoticeId: "a", AwardNumber: "C1" }, { ...award, NoticeId: "b", AwardNumber: "C2" })).toEqual([
      ["S1|X1|Award Notice|C1", "a", []],
      ["S1|X1|Award Notice|C2", "b", []],
    ]);
  });

  const award = (NoticeId: string, AwardNumber: string, fields: Record<string, string> = {}) => {
    return {
      NoticeId,
      AwardNumber,
      "Sol#": "S1",
      "AAC Code": "X1",
      Type: "Award Notice",
      BaseType: "Combined Synopsis/Solicitation",
      ...fields,
    };
  };

  test("a notice that is an award is told by its number, whatever it was before, and is none of the solicitation's", async () => {
    const kept = await keptOf(
      { NoticeId: "s", "Sol#": "S1", "AAC Code": "X1", BaseType: "Combined Synopsis/Solicitation" },
      award("a", "C-1"),
      award("b", "C2"),
      award("c", "C1", { BaseType: "Award Notice", Title: "Wholly renamed" }),
      award("d", "C3", { Type: "Justification", BaseType: "Award Notice" }),
    );
    expect(kept).toEqual([
      ["S1|X1|Combined Synopsis/Solicitation", "s", []],
      ["S1|X1|Award Notice|C1", "c", ["a"]],
      ["S1|X1|Award Notice|C2", "b", []],
      ["S1|X1|Award Notice|C3", "d", []],
    ]);
  });

  test("an award without the number of its solicitation has its own, and one with neither has its id", async () => {
    expect(
      await keptOf(award("a", "C1", { "Sol#": "X1" }), award("b", "C-1", { "Sol#": "" }), award("c", "Various", { "Sol#": "Various" })),
    ).toEqual([
      ["|X1|Award Notice|C1", "b", ["a"]],
      ["c", "c", []],
    ]);
  });

  test("awards without a number of their own are told by their titles", async () => {
    const titles = ["Subsistence, third quarter", "Meat for winter"].map((Title) => ({ Title }));
    expect(
      await keptOf(...["Multiple", ""].flatMap((number) => titles.map((title, at) => award(`${number}${at}`, number, title)))),
    ).toEqual([
      ["S1|X1|Award Notice|MULTIPLE", "Multiple0", []],
      ["Multiple1", "Multiple1", []],
      ["S1|X1|Award Notice|", "0", []],
      ["1", "1", []],
    ]);
  });

  test.each(["", " ", "VARIOUS", "N/A", "null", "X1"])("with the number %p, a placeholder, the NoticeId is the lineage", async (number) => {
    expect(await keptOf({ NoticeId: "a", "Sol#": number, "AAC Code": "X1" })).toEqual([["a", "a", []]]);
  });

  test("different titles on one day are two opportunities, a corrected title is one", async () => {
    const row = { "Sol#": "S1", "AAC Code": "X1" };
    expect(
      await keptOf(
        { ...row, NoticeId: "a", PostedDate: posted(20, 10), Title: "Broad agency announcement for research" },
        { ...row, NoticeId: "b", PostedDate: posted(20, 11), Title: "White paper call 15: remote sensing" },
        { ...row, NoticeId: "c", PostedDate: posted(20, 12), Title: "White paper call 15: remote sensors" },
        { ...row, NoticeId: "d", PostedDate: posted(23), Title: "Broad agency announcement, amended" },
      ),
    ).toEqual([
      ["S1|X1|Solicitation", "d", ["a"]],
      ["b", "c", ["b"]],
    ]);
  });

  test("the same notice twice is one", async () => {
    const row = { NoticeId: "a", "Sol#": "S1", "AAC Code": "X1" };
    expect(await keptOf(row, row)).toEqual([["S1|X1|Solicitation", "a", []]]);
  });

  test("the API and the CSV give the same lineage", async () => {
    const answer = {
      noticeId: "b",
      title: "Repair of a roof",
      solicitationNumber: "S1",
      fullParentPathCode: "047.4740.X1",
      organizationType: "OFFICE",
      postedDate: "2026-04-25",
      type: "Solicitation",
      baseType: "Solicitation",
    };
    const { kept } = await readFormat(samGov, [
      textInput(csv(aRow({ "Sol#": "S1", "AAC Code": "X1" }))),
      textInput(JSON.stringify({ totalRecords: 1, opportunitiesData: [answer] })),
    ]);
    expect([...kept.values()].map(({ source, earlier_ids }) => [source.opportunity_id, earlier_ids])).toEqual([["b", ["n1"]]]);
  });
});

test("fields that a layout lacks are left out, so that stored values stay", async () => {
  const answer = {
    opportunitiesData: [{ noticeId: "a", title: "Roof", resourceLinks: ["https://sam.gov/1"], description: "https://api.sam.gov/a" }],
  };
  const { items, drafts } = await readFormat(samGov, [
    textInput(JSON.stringify(answer)),
    json(aRow()),
    json(aRow({ AdditionalInfoLink: "https://x.mil", Description: "Text" })),
  ]);
  expect(items.map((item) => item.kind === "record" && item.partial)).toEqual(["omits", "omits", "omits"]);
  expect(drafts.map(({ description, summary, attachments }) => [description, summary, attachments])).toEqual([
    [undefined, undefined, [{ name: null, url: "https://sam.gov/1" }]],
    [null, null, []],
    ["Text", "Text", [{ name: "Additional information", url: "https://x.mil" }]],
  ]);
});

test("earlier stages of the same number and office may be the parent, the nearest first", async () => {
  const stage = (NoticeId: string, BaseType: string) => aRow({ NoticeId, BaseType, Type: BaseType, "Sol#": "S1", "AAC Code": "X1" });
  const input = json(stage("d", "Award Notice"), stage("c", "Solicitation"), stage("a", "Sources Sought"), stage("e", "Special Notice"));
  const parents = [];
  for await (const version of samGov.versions?.in([input]) ?? [])
    if (version !== undefined && "facts" in version) parents.push(samGov.versions?.parentsOf?.(version.facts.key));
  expect(parents).toEqual([
    ["S1|X1|Solicitation", "S1|X1|Combined Synopsis/Solicitation", "S1|X1|Presolicitation", "S1|X1|Sources Sought", "S1|X1|Special Notice"],
    ["S1|X1|Presolicitation", "S1|X1|Sources Sought"],
    [],
    [],
  ]);
});

describe("odd and hostile files", () => {
  test("Windows-1252, quotes, line breaks, columns in another order and more columns", async () => {
    const text = csv(aRow({ Description: 'A \x96 "b"\r\nc, d', Extra: "x" })).replace("Repair of a roof", "Caf\xe9");
    const { drafts } = await readFormat(samGov, [textInput(Buffer.from(text, "latin1"))]);
    expect([drafts[0]?.title, drafts[0]?.description]).toEqual(["Café", 'A – "b"\r\nc, d']);
  });

  test("a CSV that someone stored as UTF-8 with a byte-order mark", async () => {
    const { drafts } = await readFormat(samGov, [textInput(`\ufeff${csv(aRow({ Title: "Café – bar" }))}`)]);
    expect(drafts[0]?.title).toBe("Café – bar");
  });

  test("a notice without NoticeId is rejected alone", async () => {
    const blank = aRow({ NoticeId: " ", "Sol#": "S1", "AAC Code": "X1" });
    const { kept, refused } = await readFormat(samGov, [json(blank, aRow({ "Sol#": "S1", "AAC Code": "X1" }))]);
    expect([kept.size, refused]).toEqual([1, ["NoticeId must not be blank"]]);
  });

  const good = csv(aRow());
  test.each([
    ["a missing column", good.replace('"Sol#"', '"Sol"'), 'Cannot import test: the header has no column "Sol#"'],
    ["an empty file", "", "Cannot import test: the header has no column"],
    ["a maintenance page", "<html><body>Scheduled maintenance</body></html>", "Cannot import test: the header has no column"],
    ["a message", '{"message": "API rate limit exceeded"}', 'Cannot import test: it has no array "opportunitiesData"'],
    ["other JSON", '[{"id": 1}]', "Cannot import test: element 1 has neither noticeId nor NoticeId"],
    ["JSON that ends early", '[{"NoticeId": "a"},', "Cannot import test: it ends in the middle"],
    ["deep JSON", "[".repeat(100_000), "Cannot import test: it ends in the middle"],
  ])("%s is refused by name", async (_, text, message) => {
    await expect(readFormat(samGov, [textInput(text)])).rejects.toThrow(message);
  });

  test("a quote that is never closed takes bounded memory", async () => {
    const endless = {
      name: "endless",
      async *bytes() {
        yield Buffer.from(`${good}\n"`);
        for (let megabytes = 0; megabytes < 1000; megabytes++) yield Buffer.alloc(1 << 20, "x");
      },
    };
    await expect(readFormat(samGov, [endless])).rejects.toThrow(
      "Cannot import endless: the row on line 3 has more than 4000000 characters",
    );
  });
});

test("a set-aside that only words name has the code that they stand for; that of unknown words stays as it was", async () => {
  for (const [words, code] of [
    ["Women-Owned Small Business", "WOSB"],
    ["Small Business Set Aside - Total", "SBA"],
    ["Total Small Business Set-Aside (FAR 19.5)", "SBA"],
    ["8(a) Sole Source (FAR 19.8)", "8AN"],
    ["Service-Disabled Veteran-Owned Small Business (SDVOSB) Set-Aside (FAR 19.14)", "SDVOSBC"],
    ["SBA Certified Women-Owned Small Business (WOSB) Program Sole Source (FAR 19.15)", "WOSBSS"],
    ["Historically Underutilized Business (HUBZone) Set-Aside (FAR 19.13)", "HZC"],
  ] as const) {
    const { classifications, eligibility } = await draftOf({ SetASide: words });
    expect([classifications?.set_aside_types, eligibility?.requirements]).toEqual([[code], `Set-aside: ${words}`]);
  }
  const unknown = await draftOf({ SetASide: "Buy Indian" });
  expect([unknown.classifications?.set_aside_types, unknown.eligibility?.requirements]).toEqual([undefined, "Set-aside: Buy Indian"]);
  const none = await draftOf({ SetASide: "No Set aside used" });
  expect([none.classifications?.set_aside_types, none.eligibility?.requirements]).toEqual([[], null]);
});

test("other words for the same set-aside, or a file without posting days, change nothing", async () => {
  const { take } = await aCatalog();
  const row = aRow({ SetASideCode: "SBA", SetASide: "Total Small Business Set-Aside (FAR 19.5)" });
  await take(JSON.stringify([row]), { format: samGov });
  for (const fields of [{ SetASideCode: "", SetASide: "Small Business Set Aside - Total" }, { PostedDate: "" }])
    expect(await take(JSON.stringify([{ ...row, ...fields }]), { format: samGov })).toMatchObject({ changed: 0, events: 0 });
});

test("SAM.gov's type of amendments and cancellations from before 2019 is known", async () => {
  const type = "Modification/Amendment/Cancel";
  const { drafts, warnings } = await readFormat(samGov, [json(aRow({ Type: type, BaseType: type }))]);
  expect([drafts[0]?.status_display, [...warnings]]).toEqual([type, []]);
});
