/** Files that are imported again, in any order, and records that an earlier version of the program read: what of it becomes an event. */
import { afterAll, describe, expect, test } from "bun:test";
import { dsip } from "../../src/import/formats/dsip.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { easternAt } from "../../src/text/eastern.ts";
import { aCatalog, aFile, dropScratch, exportOf, opportunitiesOf, type TestCatalog } from "../support/imports.ts";
import { realFile, realJson, realPath } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const [notice = {}] = realJson<{ opportunitiesData: Record<string, unknown>[] }>("sam-gov/v2-search-20260202.json").opportunitiesData;
const answerWith = (fields: object) => aFile(JSON.stringify({ opportunitiesData: [{ ...notice, ...fields }] }));

describe("a notice of SAM.gov", () => {
  test.each(["Solicitation", "Sources Sought", "Special Notice"])(
    "of type %s keeps it when a copy of the response says Unknown, and nothing changes back",
    async (type) => {
      const catalog = await aCatalog();
      const [known, unknown] = [answerWith({ type, baseType: type }), answerWith({ type: "Unknown", baseType: "Unknown" })];
      await catalog.takeFiles([known], { format: samGov });
      for (const file of [unknown, known, unknown])
        expect(await catalog.takeFiles([file], { format: samGov })).toMatchObject({ added: 0, changed: 0, events: 0 });
      expect(await opportunitiesOf(catalog.db)).toMatchObject([{ program: { contract_class: type } }]);
    },
  );

  test.each([
    ["2026-10-09T17:00:00-05:00", "2026-10-09T17:00:00-05:00"],
    ["2026-10-09T22:00:00", "2026-10-09T18:00:00-04:00"],
    [null, "2026-10-09T18:00:00-04:00"],
  ])("is due at the UTC time of a search whose local time is %s", async (responseDateActual, closes_at) => {
    const [row] = realJson<{ _embedded: { results: object[] } }>("sam-gov-page/search-naics484110-20260923.json")._embedded.results;
    const results = [{ ...row, responseDate: "2026-10-09T22:00:00+00:00", responseDateActual }];
    const { takeFiles, db } = await aCatalog();
    await takeFiles([aFile(JSON.stringify({ _embedded: { results } }))], { format: samGov });
    expect(await opportunitiesOf(db)).toMatchObject([{ dates: { closes_at } }]);
  });
});

describe("a topic of the DoD portal", () => {
  const search = realPath("dod-dsip/raw_api_search_correct_format.json");
  const portal = [search, realPath("dod-dsip/raw_api_details_response.json"), realPath("dod-dsip/raw_api_qa_response.json")];
  const enriched = [realPath("dod-dsip/cli_enrich_complete.json.gz")];

  test("keeps what the enriched layout lacks or has without mark-up, and nothing changes back", async () => {
    const { takeFiles, db } = await aCatalog();
    await takeFiles(portal, { format: dsip });
    await takeFiles(enriched, { format: dsip });
    const [topic] = (await opportunitiesOf(db)).filter(({ sidecar }) => sidecar.questions.length > 0);
    expect(topic).toMatchObject({
      organization: { issuing_office: "ASA(ALT)" },
      program: { solicitation_title: "DoD SBIR 2025.4", contract_class: "Phase I, Phase II, Sequential Phase II" },
      dates: { posted_at: "2025-09-03T08:00:00-04:00" },
    });
    for (const files of [portal, enriched, portal]) expect(await takeFiles(files, { format: dsip })).toMatchObject({ added: 0, events: 0 });
  });

  test("keeps the hours, the mark-up, the phases and the level of CMMC that the export lacks", async () => {
    const { takeFiles, db } = await aCatalog();
    const { data, ...around } = realJson<{ data: Record<string, string>[] }>("dod-dsip/raw_api_search_correct_format.json");
    const topic: Record<string, string> = { ...data[0], objective: "<p>Sail &amp; fly.</p>", cmmcLevel: "2", itar: "Yes" };
    const response = aFile(JSON.stringify({ ...around, total: 1, data: [topic] }));
    await takeFiles([response], { format: dsip });
    const [stored] = await opportunitiesOf(db);
    expect(stored?.eligibility.requirements).toBe("Export controlled (ITAR). CMMC level: 2.");

    const day = (ms = "") => easternAt(Number(ms)).slice(0, 10);
    const [header = ""] = realFile("dod-dsip/topics-export-20250809-chunk_33.csv.gz").toString().split("\n");
    const names = header.trim().replaceAll('"', "").split(",");
    const exported: Record<string, string | undefined> = {
      topic_number_topiccode: topic.topicCode,
      topic_id_topicid: topic.topicId,
      title_topictitle: topic.topicTitle,
      component_component: topic.component,
      command_command: topic.command,
      program_program: topic.program,
      solicitation_solicitationtitle: topic.solicitationTitle,
      solicitation_number_solicitationnumber: topic.solicitationNumber,
      status_topicstatus: topic.topicStatus,
      open_date_topicstartdate_converted_to_mm_dd_yyyy: day(topic.topicStartDate),
      close_date_topicenddate_converted_to_mm_dd_yyyy: day(topic.topicEndDate),
      pre_release_start_topicprereleasestartdate: topic.topicPreReleaseStartDate,
      itar_controlled_details_itar_boolean_to_yes_no: "Yes",
      objective_details_objective_with_html_removed: "Sail & fly.",
    };
    const row = names.map((name) => `"${`${exported[name] ?? ""}`.replaceAll('"', '""')}"`).join(",");
    for (const file of [aFile(`${header.trim()}\n${row}\n`, "export.csv"), response])
      expect(await takeFiles([file], { format: dsip })).toMatchObject({ added: 0, changed: 0, rejected: 0, events: 0 });
    expect(await opportunitiesOf(db)).toEqual([stored as WholeOpportunity]);
  });
});

describe("the questions about an open topic of the DoD portal", () => {
  const [search, details, questions] = [
    realPath("dod-dsip/raw_api_search_correct_format.json"),
    realPath("dod-dsip/raw_api_details_response.json"),
    realPath("dod-dsip/raw_api_qa_response.json"),
  ];
  const toldOf = async ({ db }: TestCatalog) =>
    (await db.all(rawSql<{ told: string }>("select type || ' ' || severity as told from events order by seq")))
      .map(({ told }) => told)
      .filter((told) => told.startsWith("qanda_updated"));

  test.each([
    ["a search", [search]],
    ["a search and details", [search, details]],
  ])("are cosmetic when %s came before them, and an informational change from then on", async (_, files) => {
    const catalog = await aCatalog();
    for (const each of [files, [search, details, questions], files, [search, details, questions]])
      await catalog.takeFiles(each, { format: dsip });
    expect(await toldOf(catalog)).toEqual(["qanda_updated cosmetic"]);
    const fewer = realJson<object[]>("dod-dsip/raw_api_qa_response.json").slice(1);
    await catalog.takeFiles([search, details, aFile(JSON.stringify(fewer), "A254-049.json")], { format: dsip });
    expect(await toldOf(catalog)).toEqual(["qanda_updated cosmetic", "qanda_updated informational"]);
  });

  test("are informational when the portal said before that there are none", async () => {
    const none = realJson<{ data: object[] }>("dod-dsip/raw_api_search_correct_format.json");
    const zero = { ...none, data: none.data.map((topic) => ({ ...topic, noOfPublishedQuestions: 0 })) };
    for (const before of [
      [aFile(JSON.stringify(zero))],
      [search, details, aFile('[{"topicId": "7051b2da4a1e4c52bd0e7daf80d514f7_86352", "questions": []}]')],
    ]) {
      const catalog = await aCatalog();
      for (const files of [before, [search, details, questions]]) await catalog.takeFiles(files, { format: dsip });
      expect(await toldOf(catalog)).toEqual(["qanda_updated informational"]);
    }
  });
});

/** Imports a file, takes `fields` away as if an earlier version had not read them, and imports the file again. Returns the severities of the new events. */
async function readAgain(files: string[], format: typeof samGov, without: (record: Record<string, unknown>) => object): Promise<string[]> {
  const whole = await aCatalog();
  await whole.takeFiles(files, { format });
  const lines = (await exportOf(whole.db)).map((line) => JSON.parse(line) as Record<string, unknown>);
  const earlier = await aCatalog();
  await earlier.take(lines.map((line) => ({ ...line, ...without(line) })));
  await earlier.takeFiles(files, { format });
  expect(await exportOf(earlier.db)).toHaveLength(lines.length);
  const events = rawSql<{ told: string }>(
    "select type || ' ' || severity as told from events where type <> 'opportunity_added' order by seq",
  );
  return (await earlier.db.all(events)).map(({ told }) => told);
}

describe("what an earlier version of the program did not read", () => {
  const label = { typeOfSetAside: null, typeOfSetAsideDescription: "Total Small Business Set-Aside (FAR 19.5)" };

  test("is cosmetic where the words for a set-aside stay, and material where they come with the code", async () => {
    const file = answerWith(label);
    const without = ({ classifications }: Record<string, unknown>) => ({
      classifications: { ...(classifications as object), set_aside_types: [] },
    });
    expect(await readAgain([file], samGov, without)).toEqual(["field_updated cosmetic"]);
    const bare = (record: Record<string, unknown>) => ({
      ...without(record),
      eligibility: { ...(record.eligibility as object), requirements: null },
    });
    expect(await readAgain([file], samGov, bare)).toEqual(["field_updated material"]);
  });

  test("makes no event for the winner whom a search of the page backend names", async () => {
    const file = realPath("sam-gov-page/search-congress-trimmed-20260318.json");
    const found = await readAgain([file], samGov, () => ({ award: null }));
    expect(found).toEqual([]);
  });

  test("is cosmetic for the first questions about topics of the DoD portal, open ones too", async () => {
    const found = await readAgain([realPath("dod-dsip/topics-export-20250809-chunk_33.csv.gz")], dsip, () => ({
      questions: [],
      questions_read: null,
    }));
    expect(new Set(found)).toEqual(new Set(["qanda_updated cosmetic"]));
  });
});
