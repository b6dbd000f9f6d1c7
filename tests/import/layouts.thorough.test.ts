/** One opportunity in several layouts of one source: it is one record, and layouts that take turns change nothing. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import type { Format } from "../../src/import/format.ts";
import { dsip } from "../../src/import/formats/dsip.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { sbirGov } from "../../src/import/formats/sbir-gov.ts";
import { extractOfFew, hitsOfFew } from "../support/few-grants.ts";
import { aCatalog, aFile, dropScratch, type TestCatalog } from "../support/imports.ts";
import { describeReal, realFile, realJson, realPath } from "../support/real-data.ts";
import { dailyRows, type Row, responseNoticeOf, type SamGovLayout, samGovFiles } from "../support/sam-gov-layouts.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(600_000);
afterAll(dropScratch);

/** Real records in a layout in which no real file has them. */
const derived = {
  /** The Grants.gov opportunities with a details file, also as elements of an extract and as hits of a search. */
  grants: ["358302", "327723"].map((id) => realJson<Record<string, string>>(`grants-gov/opportunity-details-${id}.json`)),
  extract: () =>
    aFile(
      `<Grants>${derived.grants.map(({ id, opportunityTitle }) => `<OpportunitySynopsisDetail_1_0><OpportunityID>${id}</OpportunityID><OpportunityTitle>${opportunityTitle?.replaceAll("&", "&amp;")}</OpportunityTitle></OpportunitySynopsisDetail_1_0>`).join("")}</Grants>`,
    ),
  hits: () =>
    aFile(
      JSON.stringify({
        oppHits: derived.grants.map(({ id, opportunityNumber, opportunityTitle }) => ({
          id,
          number: opportunityNumber,
          title: opportunityTitle,
        })),
      }),
    ),
  /** Topics of the DoD portal's search in the columns of the export. */
  exported(search: string): string {
    const { data } = realJson<{ data: Record<string, string>[] }>(search);
    const [header = ""] = realFile("dod-dsip/topics-export-20250809-chunk_33.csv.gz").toString().split("\n");
    const names: Record<string, string> = {
      topic_number_topiccode: "topicCode",
      topic_id_topicid: "topicId",
      title_topictitle: "topicTitle",
    };
    const row = (topic: Record<string, string>) =>
      header
        .trim()
        .split(",")
        .map((column) => `"${(topic[names[column] ?? ""] ?? "").replaceAll('"', '""')}"`);
    return aFile([header.trim(), ...data.map((topic) => row(topic).join(","))].join("\n"));
  },
};

type Layout = [what: string, files: () => string[], records: number];
const real = (what: string, records: number, ...names: string[]): Layout => [what, () => names.map((name) => realPath(name)), records];
const made = (what: string, records: number, make: () => string): Layout => [what, () => [make()], records];

const grants = {
  extract: made("the extract", 59, () => extractOfFew("20260726", 10)),
  later: made("a later extract", 57, () => extractOfFew("20260803", 10)),
  hits: made("search2", 57, () => hitsOfFew("grants-gov/derived/search2-20260803.reconstructed.json", 10)),
  legacy: real("the extract of before 2016", 34, "grants-gov/grants-extract-legacy-dtd.xml"),
  oldHits: made("the search of 2015", 125, () => hitsOfFew("grants-gov/search-20150813.json", 10)),
  details: real("fetchOpportunity", 2, "grants-gov/opportunity-details-358302.json", "grants-gov/opportunity-details-327723.json"),
};
const sbir = {
  api: real("the API", 11, "sbir-gov/solicitations-20250914.json"),
  earlier: real("the API two days before", 10, "sbir-gov/solicitations-20250912.json"),
  csv: real("the topic search's CSV", 17, "sbir-gov/topics_search-20250714.csv"),
  later: real("the CSV a year later", 21, "sbir-gov/sbir-topics-20260617.csv"),
};
const portal = {
  search: real("the search", 5, "dod-dsip/raw_api_search_response.json"),
  export: made("the export", 5, () => derived.exported("dod-dsip/raw_api_search_response.json")),
  newer: real("the search of 2026", 2, "dod-dsip/raw_api_search_correct_format.json"),
  newerExport: made("the export of 2026", 2, () => derived.exported("dod-dsip/raw_api_search_correct_format.json")),
  details: real(
    "search, details and questions",
    2,
    "dod-dsip/raw_api_search_correct_format.json",
    "dod-dsip/raw_api_details_response.json",
    "dod-dsip/raw_api_qa_response.json",
  ),
  enriched: real("the enriched topics", 1, "dod-dsip/cli_enrich_complete.json.gz"),
};
/** A tenth of the notices, because each is a case of its own. */
const notices = firstsOf(dailyRows()).filter((_, index) => index % 10 === 0);
/** A third of these suffices here: below, all of them take turns. */
const some = notices.filter((_, index) => index % 3 === 0);
const sam = {
  csv: made("the bulk CSV", some.length, () => samGovFiles.csv(some)),
  rows: made("its rows as JSON", some.length, () => samGovFiles.rows(some)),
  api: made("the API", some.length, () => samGovFiles.api(some)),
};

/** Which layouts of a source are imported one after the other, and how many opportunities they have together. */
const together: [source: string, Format, Layout, Layout, number][] = [
  ["Grants.gov", grantsGov, grants.extract, grants.hits, 64],
  ["Grants.gov", grantsGov, grants.extract, grants.later, 64],
  ["Grants.gov", grantsGov, grants.legacy, grants.oldHits, 159],
  ["Grants.gov", grantsGov, grants.details, made("the extract", 2, derived.extract), 2],
  ["Grants.gov", grantsGov, grants.details, made("search2", 2, derived.hits), 2],
  ["SAM.gov", samGov, sam.csv, sam.rows, some.length],
  ["SAM.gov", samGov, sam.csv, sam.api, some.length],
  ["SAM.gov", samGov, sam.rows, sam.api, some.length],
  ["SBIR.gov", sbirGov, sbir.api, sbir.csv, 17],
  ["SBIR.gov", sbirGov, sbir.api, sbir.earlier, 11],
  ["SBIR.gov", sbirGov, sbir.csv, sbir.later, 38],
  ["the DoD portal", dsip, portal.newer, portal.enriched, 2],
  ["the DoD portal", dsip, portal.details, portal.enriched, 2],
  ["the DoD portal", dsip, portal.search, portal.export, 5],
  ["the DoD portal", dsip, portal.details, portal.newerExport, 2],
  ["the DoD portal", dsip, portal.enriched, portal.newerExport, 2],
];

const named = together.map(([source, format, one, other, both]) => ({
  what: `${source}: ${one[0]} and ${other[0]}`,
  format,
  one,
  other,
  both,
}));

/** Files of the DoD portal's details are joined to all topics of an import, so they give others together than in turn. */
const isJoined = (layout: Layout) => layout === portal.details;

test.each(named)(
  "$what: each opportunity is one record, whichever layout comes first, in one import or in two",
  async ({ format, one, other, both }) => {
    const ids: string[][] = [];
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const [inTurn, together] = [await aCatalog(), await aCatalog()];
      const files = [first[1](), second[1]()];
      for (const each of files) expect(await inTurn.takeFiles(each, { format })).toMatchObject({ rejected: 0 });
      const expected = await contentOf(inTurn);
      const firstAgain = await inTurn.takeFiles(files[0] ?? [], { format });
      expect([firstAgain.added, firstAgain.changed + firstAgain.unchanged]).toEqual([0, first[2]]);
      ids.push((await inTurn.db.all(rawSql<{ id: string }>("select id from opportunities order by id"))).map(({ id }) => id));
      if (isJoined(one)) continue;
      const dry = await together.takeFiles(files.flat(), { format, dryRun: true });
      expect(await together.takeFiles(files.flat(), { format })).toEqual(dry);
      expect(await contentOf(together)).toEqual(expected);
      const again = await together.takeFiles(files.flat(), { format });
      expect([again.added, again.changed, again.events]).toEqual([0, 0, 0]);
      expect(await checkCatalog(together.db)).toEqual([]);
    }
    expect(ids[0]).toHaveLength(both);
    expect(ids[1]).toEqual(ids[0] as string[]);
  },
);

/* SAM.gov */

const layouts = Object.keys(samGovFiles) as SamGovLayout[];
const pairs = layouts.flatMap((one, index) => layouts.slice(index + 1).map((other) => [one, other] as const));

/** Every record but for when it was stored. */
async function contentOf({ db }: TestCatalog): Promise<unknown[]> {
  const rows = await db.all(
    rawSql<{ document: Uint8Array; sidecar: Uint8Array }>("select document, sidecar from opportunities order by id"),
  );
  return rows.map(({ document, sidecar }) => {
    const { created_at: _, updated_at: __, ...content } = JSON.parse(Buffer.from(document).toString());
    return { ...content, ...JSON.parse(Buffer.from(sidecar).toString()) };
  });
}

/** One notice of each number, so that each stands for itself. */
function firstsOf(rows: readonly Row[]): Row[] {
  return [...new Map(rows.map((row) => [`${row["Sol#"]} ${row["AAC Code"]}`, row])).values()];
}

async function takeTurns(one: string, other: string): Promise<[TestCatalog, { changed: number }]> {
  const catalog = await aCatalog();
  catalog.clock.now = Date.parse("2026-04-25T12:00:00Z");
  await catalog.takeFiles([one], { format: samGov });
  const second = await catalog.takeFiles([other], { format: samGov });
  expect(second).toMatchObject({ added: 0, rejected: 0 });
  for (const file of [one, other])
    expect(await catalog.takeFiles([file], { format: samGov })).toMatchObject({ added: 0, changed: 0, events: 0 });
  return [catalog, second];
}

function properties(rows: readonly Row[]): void {
  test.each(pairs)("%s and %s take turns, whichever comes first", async (one, other) => {
    const [catalog, there] = await takeTurns(samGovFiles[one](rows), samGovFiles[other](rows));
    const [back, here] = await takeTurns(samGovFiles[other](rows), samGovFiles[one](rows));
    expect([there.changed, here.changed]).toEqual([0, other === "api" ? rows.length : 0]); // The API tells no texts and no times.
    expect(await contentOf(back)).toEqual(await contentOf(catalog));
  });
}

describe("notices of SAM.gov in the excerpts", () => properties(notices));
describeReal("all notices of SAM.gov", (directory) => properties(firstsOf(dailyRows(directory))));

describe("a notice of SAM.gov", () => {
  const row: Row = { ...dailyRows().find(({ OrganizationType, NaicsCode }) => OrganizationType === "OFFICE" && NaicsCode !== "") };
  const answer = responseNoticeOf(row);
  const rows = (fields: Row = {}) => samGovFiles.rows([{ ...row, ...fields }]);
  const api = (fields: Row = {}) => aFile(JSON.stringify({ opportunitiesData: [{ ...answer, ...fields }] }));

  const cases: [what: string, rows: Row, api: Row, expected: object][] = [
    [
      "posted on the day that the API names",
      { PostedDate: "2026-03-08 23:22:11.004-04" },
      { postedDate: "2026-03-08" },
      { dates: { posted_at: "2026-03-08T23:22:11.004-04:00" } },
    ],
    [
      "with a deadline of which one layout knows the time",
      { ResponseDeadLine: "2026-05-11" },
      { responseDeadLine: "2026-05-11T11:30:00+09:00" },
      { dates: { closes_at: "2026-05-11T11:30:00+09:00", response_at: "2026-05-11T11:30:00+09:00" } },
    ],
    [
      "with several NAICS codes",
      { NaicsCode: "541330" },
      { naicsCode: "541330", naicsCodes: ["541330", "541310"] },
      { classifications: { naics_codes: ["541330", "541310"] } },
    ],
    [
      "with resource links",
      { AdditionalInfoLink: "https://a.mil" },
      { additionalInfoLink: "https://a.mil", resourceLinks: ["https://sam.gov/1", "https://sam.gov/2"] },
      {
        attachments: [{ url: "https://sam.gov/1" }, { url: "https://sam.gov/2" }, { name: "Additional information", url: "https://a.mil" }],
      },
    ],
    [
      "whose contacts and place the API leaves out",
      { PrimaryContactFullname: "Ann", PopCity: "Reno", PopState: "NV", PopCountry: "USA" },
      { pointOfContact: null, placeOfPerformance: null },
      {
        contacts: [{ name: "Ann" }],
        eligibility: { geographic_scope: "Reno, NV, USA" },
      },
    ],
    [
      "awarded to somebody in a place",
      { AwardNumber: "C1", Award$: "6145952.44", Awardee: "V3GATE, LLC Colorado Springs CO 80921 USA" },
      { award: { number: "C1", amount: "6145952.44", awardee: { name: "V3GATE, LLC" } } },
      { funding: { display: "Awarded $6,145,952.44 to V3GATE, LLC Colorado Springs CO 80921 USA" } },
    ],
    [
      "of a whole agency, which the CSV names as the office, too",
      { "Department/Ind.Agency": "GSA", "Sub-Tier": "PBS", Office: "PBS", "AAC Code": "", OrganizationType: "AGENCY" },
      { fullParentPathName: "GSA.PBS", fullParentPathCode: "047.4740", organizationType: "AGENCY" },
      { organization: { agency: "GSA", sub_agency: "PBS", issuing_office: "PBS" } },
    ],
    [
      "of an office whose name has a dot",
      {
        "Department/Ind.Agency": "DEPT OF DEFENSE",
        "Sub-Tier": "U.S. ARMY",
        Office: "W6QK",
        "AAC Code": "W6QK",
        OrganizationType: "OFFICE",
      },
      { fullParentPathName: "DEPT OF DEFENSE.U.S. ARMY.W6QK", fullParentPathCode: "097.2100.W6QK" },
      { organization: { agency: "DEPT OF DEFENSE", sub_agency: "U.S. ARMY", issuing_office: "W6QK" } },
    ],
  ];

  test.each(cases)("%s keeps the more exact value", async (_, inRows, inApi, expected) => {
    for (const files of [[rows(inRows), api(inApi)] as const, [api(inApi), rows(inRows)] as const]) {
      const [catalog] = await takeTurns(...files);
      expect(await contentOf(catalog)).toMatchObject([expected]);
    }
  });

  test.each([
    ["another day", { postedDate: "2026-03-11" }, { dates: { posted_at: "2026-03-11T00:00:00-04:00" } }],
    ["another code", { naicsCode: "236220", naicsCodes: ["236220"] }, { classifications: { naics_codes: ["236220"] } }],
    ["fewer links", { additionalInfoLink: null, resourceLinks: null }, { attachments: [] }],
  ])("changes when the API has %s", async (_, fields, expected) => {
    const catalog = await aCatalog();
    const row = { NaicsCode: "541330", AdditionalInfoLink: "https://a.mil", PostedDate: "2026-03-08 23:22:11-04" };
    await catalog.takeFiles([rows(row)], { format: samGov });
    await catalog.takeFiles([api(fields)], { format: samGov });
    expect(await contentOf(catalog)).toMatchObject([expected]);
  });

  test("loses the link that the CSV no longer has, and keeps the others", async () => {
    const catalog = await aCatalog();
    const link = "https://a.mil";
    await catalog.takeFiles([api({ additionalInfoLink: link, resourceLinks: ["https://sam.gov/1"] })], { format: samGov });
    await catalog.takeFiles([rows()], { format: samGov });
    expect(await contentOf(catalog)).toMatchObject([{ attachments: [{ name: null, url: "https://sam.gov/1" }] }]);
  });
});

/* SBIR.gov */

describe("a topic of SBIR.gov that the API and the CSV have", () => {
  const [api, csv] = [realPath("sbir-gov/solicitations-20250914.json"), realPath("sbir-gov/topics_search-20250714.csv")];
  const now = Date.parse("2025-09-15T00:00:00Z");

  test("keeps the more exact values of either", async () => {
    for (const files of [
      [api, csv],
      [csv, api],
    ]) {
      const catalog = await aCatalog();
      catalog.clock.now = now;
      for (const file of files) await catalog.takeFiles([file], { format: sbirGov });
      const content = (await contentOf(catalog)) as { source: { opportunity_id: string }; [field: string]: unknown }[];
      const topic = content.find(({ source }) => source.opportunity_id === "PAR-24-066");
      expect(topic).toMatchObject({
        program: { solicitation_id: "PAR-24-066" },
        dates: { closes_at: "2026-09-23T23:59:59-04:00", response_at: "2025-09-23T23:59:59-04:00" },
        expires_at: "2027-01-08T23:59:59-05:00",
      });
      expect(String(topic?.description)).toHaveLength(8912); // The API cuts it off after 6,000.
      // The upstream contradicts itself about three of them: their numbers, or a letter of the title.
      for (const file of [...files, ...files])
        expect((await catalog.takeFiles([file], { format: sbirGov })).changed).toBeLessThanOrEqual(3);
    }
  });
});
