/** One opportunity in several layouts of one source: it is one record, and layouts that take turns change nothing. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, dropScratch, type TestCatalog } from "../support/imports.ts";
import { describeReal } from "../support/real-data.ts";
import { answerOf, dailyRows, type Row, type SamGovLayout, samGovFiles } from "../support/sam-gov-layouts.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(600_000);
afterAll(dropScratch);

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
  for (const file of [one, other, one, other])
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

describe("notices of SAM.gov in the excerpts", () => properties(firstsOf(dailyRows())));
describeReal("all notices of SAM.gov", (directory) => properties(firstsOf(dailyRows(directory))));

describe("a notice of SAM.gov", () => {
  const row: Row = { ...dailyRows().find(({ OrganizationType, NaicsCode }) => OrganizationType === "OFFICE" && NaicsCode !== "") };
  const answer = answerOf(row);
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

  test.each(cases)("%s keeps what is told more exactly", async (_, inRows, inApi, expected) => {
    for (const files of [[rows(inRows), api(inApi)] as const, [api(inApi), rows(inRows)] as const]) {
      const [catalog] = await takeTurns(...files);
      expect(await contentOf(catalog)).toMatchObject([expected]);
    }
  });

  test.each([
    ["another day", { postedDate: "2026-03-11" }, { dates: { posted_at: "2026-03-11T00:00:00-04:00" } }],
    ["another code", { naicsCode: "236220", naicsCodes: ["236220"] }, { classifications: { naics_codes: ["236220"] } }],
    ["fewer links", { additionalInfoLink: null, resourceLinks: null }, { attachments: [] }],
  ])("changes when the API tells %s", async (_, fields, expected) => {
    const catalog = await aCatalog();
    const told = { NaicsCode: "541330", AdditionalInfoLink: "https://a.mil", PostedDate: "2026-03-08 23:22:11-04" };
    await catalog.takeFiles([rows(told)], { format: samGov });
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
