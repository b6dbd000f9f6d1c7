import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../../src/changes/check.ts";
import type { Draft } from "../../../src/import/format.ts";
import { sbirGov } from "../../../src/import/formats/sbir-gov.ts";
import { aCatalog, dropScratch } from "../../support/imports.ts";
import { countBy, readFormat, realInput, textInput } from "../../support/read-format.ts";
import { realFile, realPath, testReal } from "../../support/real-data.ts";
import { rawSql } from "../../support/sql.ts";

afterAll(dropScratch);

/** A solicitation as the API answers it, told by what the test is about. */
const aSolicitation = (fields: object = {}) => ({
  solicitation_title: "Omnibus",
  solicitation_number: "PA-1",
  program: "SBIR",
  phase: "Phase I",
  agency: "HHS",
  current_status: "open",
  solicitation_topics: [],
  ...fields,
});

async function draftOf(fields: object): Promise<Draft> {
  const { drafts } = await readFormat(sbirGov, [textInput(JSON.stringify([aSolicitation(fields)]))]);
  return drafts[0] as Draft;
}

describe("real files", () => {
  test.each([
    ["sbir-gov/solicitations-202312-makegov.json", 11, 11],
    ["sbir-gov/solicitations-20250912.json", 10, 10],
    ["sbir-gov/solicitations-20250914.json", 15, 11], // One topic stands there five times.
    ["sbir-gov/sbir-topics-20260617.csv", 21, 21],
  ])("%s: %d topics, %d different, none refused", async (name, topics, different) => {
    const { items, kept, refused, warnings } = await readFormat(sbirGov, [await realInput(name)]);

    expect([refused, warnings]).toEqual([[], []]);
    expect([items.length, kept.size]).toEqual([topics, different]);
    expect(countBy(kept.values(), ({ status }) => `${status}`)).toEqual({ null: different });
  });

  test("a topic of the API, field by field", async () => {
    const { kept } = await readFormat(sbirGov, [await realInput("sbir-gov/solicitations-20250914.json")]);

    const draft = kept.get("topics/11100");
    expect({ ...draft, summary: draft?.summary?.slice(0, 40), description: draft?.description?.slice(0, 40) }).toEqual({
      source: { code: "SBIR_GOV", opportunity_id: "PAR-24-221", url: "https://www.sbir.gov/topics/11100" },
      lineage: "topics/11100",
      earlier_ids: [],
      title:
        "NINDS Renewal Awards of SBIR Phase II Grants (Phase IIB) for Clinical Trials and Clinical Research (R44 Clinical Trial Optional)",
      summary: "Purpose NINDS is committed to advancing ",
      description: "Purpose\r\n\r\nNINDS is committed to advanci",
      status: null,
      organization: { agency: "Department of Health and Human Services", sub_agency: "NIH" },
      program: {
        type: "SBIR",
        solicitation_id: "PAR-24-221",
        solicitation_title:
          "NINDS Renewal Awards of SBIR Phase II Grants (Phase IIB) for Clinical Trials and Clinical Research (R44 Clinical Trial Optional)",
        contract_class: "Phase II",
      },
      dates: {
        posted_at: "2024-06-20T00:00:00-04:00",
        opens_at: "2024-08-05T00:00:00-04:00",
        closes_at: "2027-04-05T23:59:59-04:00",
        response_at: "2027-04-05T23:59:59-04:00",
      },
      due_dates: [
        "2024-09-05T23:59:59-04:00",
        "2025-01-05T23:59:59-05:00",
        "2025-04-05T23:59:59-04:00",
        "2025-09-05T23:59:59-04:00",
        "2026-01-05T23:59:59-05:00",
        "2026-04-05T23:59:59-04:00",
        "2026-09-05T23:59:59-04:00",
        "2027-01-05T23:59:59-05:00",
        "2027-04-05T23:59:59-04:00",
      ].map((at) => ({ at })),
      expires_at: "2027-04-06T23:59:59-04:00",
      classifications: { keywords: [] },
      attachments: [{ name: "Agency's announcement", url: "https://grants.nih.gov/grants/guide/pa-files/PAR-24-221.html" }],
    });
  });

  test("a topic of the CSV export, field by field", async () => {
    const { kept } = await readFormat(sbirGov, [await realInput("sbir-gov/sbir-topics-20260617.csv")]);

    const draft = kept.get("DON26BZ03-NV059");
    expect({ ...draft, summary: null, description: draft?.description?.slice(0, 40) }).toEqual({
      source: { code: "SBIR_GOV", opportunity_id: "DON26BZ03-NV059", url: "https://www.sbir.gov/topics/12755" },
      lineage: "DON26BZ03-NV059",
      title: "Real-time Zero Trust Data and Access Control for Combat Systems",
      summary: null,
      description: "The Navy relies on combat system data fo",
      status: null,
      organization: { agency: "Department of Defense", sub_agency: "NAVY" },
      program: { type: "SBIR", contract_class: "Phase I, Phase II" },
      dates: {
        posted_at: "2026-06-03T00:00:00-04:00",
        opens_at: "2026-06-24T00:00:00-04:00",
        closes_at: "2026-07-22T23:59:59-04:00",
        response_at: "2026-07-22T23:59:59-04:00",
      },
      classifications: { keywords: [] },
      attachments: [{ name: "Agency's announcement", url: "https://www.dodsbirsttr.mil/topics-app/" }],
    });
  });
});

describe("topics", () => {
  test("a solicitation without topics is one opportunity", async () => {
    const { lineage, source, title } = await draftOf({});
    expect([lineage, source.opportunity_id, title]).toEqual(["PA-1", "PA-1", "Omnibus"]);
  });

  const link = "https://web.archive.org/web/20250624123601/https://www.sbir.gov/topics/12096";
  test.each([
    ["numbers", { solicitation_topics: [{ topic_number: "1", topic_title: "Cells" }] }, "PA-1|1", "1"],
    [
      "the page, where a number is missing",
      { solicitation_topics: [{ topic_title: "Cells", sbir_topic_link: link }] },
      "topics/12096",
      "PA-1",
    ],
    ["the title, where both are missing", { solicitation_topics: [{ topic_title: "Stem  Cells" }] }, "PA-1|stem cells", "PA-1"],
    ["the title alone", { solicitation_number: null, solicitation_title: "Open Call" }, "open call", "open call"],
    [
      "the topic code of the Department of Defense",
      { agency: "DOW", solicitation_topics: [{ topic_number: "N251-001" }] },
      "N251-001",
      "N251-001",
    ],
  ])("lineage and id come from %s", async (_, fields, lineage, id) => {
    const draft = await draftOf(fields);
    expect([draft.lineage, draft.source.opportunity_id]).toEqual([lineage, id]);
  });

  test("subtopics are in the description", async () => {
    const subtopics = [{ subtopic_number: "a", subtopic_title: "Left", subtopic_description: "One." }, {}];
    const { description } = await draftOf({ solicitation_topics: [{ topic_number: "1", topic_description: "All.", subtopics }] });
    expect(description).toBe("All.\n\na: Left\nOne.");
  });
});

describe("dates and status", () => {
  const due = ["2025/09/05", "2026/01/05"];
  test.each([
    ["two due dates before it expires", { application_due_date: due, close_date: "2026/01/06" }, "2026-01-05", due, "2026-01-06"],
    [
      "due dates out of order",
      { application_due_date: [...due].reverse(), close_date: "2026/01/06" },
      "2026-01-05",
      due.toReversed(),
      "2026-01-06",
    ],
    ["due dates alone", { application_due_date: due }, "2026-01-05", due, undefined],
    ["one due date", { application_due_date: "2026-01-05" }, "2026-01-05", ["2026/01/05"], undefined],
    ["a close date alone", { close_date: "2026-01-05" }, "2026-01-05", undefined, undefined],
    ["no due date, as the API says it", { application_due_date: null, close_date: "2026-01-05" }, "2026-01-05", [], undefined],
    [
      "a topic's own close date",
      { close_date: "2026-01-05", solicitation_topics: [{ topic_closed_date: "2025-12-05" }] },
      "2025-12-05",
      undefined,
      undefined,
    ],
    ["no date", { close_date: "TBD" }, undefined, undefined, undefined],
  ])("%s", async (_, fields, closes, all, expires) => {
    const { dates, due_dates, expires_at } = await draftOf(fields);
    expect([dates?.closes_at?.slice(0, 10), expires_at?.slice(0, 10)]).toEqual([closes, expires]);
    expect(due_dates?.map(({ at }) => at.slice(0, 10))).toEqual(all?.map((date) => date.replaceAll("/", "-")));
  });

  test.each([
    ["Open", {}, null],
    ["closed", {}, "closed"],
    ["Future", { open_date: "2026-01-01" }, null],
    ["Future", {}, "pre_release"],
  ])("%s with %p gives the status %p", async (current_status, fields, status) => {
    expect((await draftOf({ current_status, ...fields })).status).toBe(status);
  });
});

test("a date of another form is left out with a warning", async () => {
  const dates = { release_date: "22.7.2026", open_date: "Juli 22, 26", close_date: "2026-13-01" };
  const { drafts, warnings } = await readFormat(sbirGov, [textInput(JSON.stringify([aSolicitation(dates)]))]);
  expect(drafts[0]?.dates).toMatchObject({ posted_at: null, opens_at: null, closes_at: null });
  expect(warnings).toEqual(["Juli 22, 26", "2026-13-01", "22.7.2026"].map((date) => `unreadable date "${date}" is left out`));
});

test("BOTH is SBIR with STTR as a keyword; unknown codes give a warning", async () => {
  const input = textInput(JSON.stringify([aSolicitation({ program: "BOTH", phase: "BOTH", agency: "XYZ", current_status: "Paused" })]));
  const { drafts, warnings } = await readFormat(sbirGov, [input]);
  expect(drafts[0]).toMatchObject({
    program: { type: "SBIR", contract_class: "Phase I, Phase II" },
    classifications: { keywords: ["STTR"] },
    organization: { agency: "XYZ" },
  });
  expect(warnings).toEqual(['unknown status "Paused"', 'unknown agency "XYZ"']);
});

test("an empty response has no opportunities, and is no error", async () => {
  expect((await readFormat(sbirGov, [textInput("[]")])).items).toEqual([]);
});

test.each([
  ["a maintenance message", '{"message": "maintenance"}', "Cannot import test: it is not a JSON array"],
  ["a maintenance page", "<html>maintenance</html>", "Cannot import test: the header has no column"],
  ["an array of something else", '[{"Code": "ERROR", "Message": "busy"}]', "Cannot import test: element 1 is not a solicitation"],
  ["an array that ends early", `[${JSON.stringify(aSolicitation())},`, "Cannot import test: it ends in the middle"],
  ["deep JSON", '{"a":'.repeat(100_000), "Cannot import test: it is nested more than 100 deep"],
])("%s is refused by name", async (_, text, message) => {
  await expect(readFormat(sbirGov, [textInput(text)])).rejects.toThrow(message);
});

test("a solicitation that cannot be imported is rejected alone", async () => {
  const topics = Array.from({ length: 3 }, (_, n) => ({ topic_number: `T${n}`, topic_title: "T" }));
  const long = { ...aSolicitation(), solicitation_number: "long", agency: "x".repeat(100_000), solicitation_topics: topics };
  const text = JSON.stringify([aSolicitation(), 7, {}, long, { ...aSolicitation(), solicitation_title: "Caf\xe9" }]);
  const { kept, refused } = await readFormat(sbirGov, [textInput(Buffer.from(text, "latin1"))]);
  expect(kept.size).toBe(1);
  expect(refused).toEqual([
    "the element is not an object",
    "the element is not a solicitation: it has neither solicitation_number nor solicitation_title",
    "the element has more than 100000 characters besides its topics",
    "title must be UTF-8",
  ]);
});

describe("the topics at four dates, from the CSV export and the API", () => {
  const versions = [
    ["topics_search-20250714.csv", "2025-07-14T15:46:17Z"],
    ["solicitations-20250912.json", "2025-09-12T23:08:13Z"],
    ["solicitations-20250914.json", "2025-09-14T23:22:17Z"],
    ["sbir-topics-20260617.csv", "2026-06-18T00:45:33Z"],
  ] as const;

  async function imported(directory?: string) {
    const catalog = await aCatalog();
    catalog.clock.now = 0;
    const outcomes = [];
    for (const [name, at] of versions) {
      const path = realPath(`sbir-gov/${name}`, directory);
      const { read, added, changed, merged, rejected } = await catalog.takeFiles([path], { format: sbirGov, asOf: Date.parse(at) });
      outcomes.push({ read, added, changed, merged, rejected });
      expect(await catalog.takeFiles([path], { format: sbirGov, dryRun: true })).toMatchObject({ added: 0, changed: 0, events: 0 });
    }
    expect(await checkCatalog(catalog.db)).toEqual([]);
    return { catalog, outcomes };
  }

  test("are a history: topics that close at their dates, get their number, another title, and new ones", async () => {
    const { catalog, outcomes } = await imported();

    expect(outcomes).toEqual([
      { read: 17, added: 17, changed: 0, merged: 0, rejected: 0 },
      { read: 10, added: 0, changed: 10, merged: 0, rejected: 0 },
      { read: 15, added: 0, changed: 2, merged: 4, rejected: 0 },
      { read: 21, added: 21, changed: 0, merged: 0, rejected: 0 },
    ]);
    const rows = await catalog.db.all(rawSql<{ document: Uint8Array }>("select document from events"));
    const events = rows.map(({ document }) => JSON.parse(Buffer.from(document).toString()));
    expect(countBy(events, ({ type, changed_fields }) => [type, ...changed_fields].join(" "))).toEqual({
      opportunity_added: 38,
      "status_changed status": 18,
      "date_changed dates.closes_at dates.response_at": 6, // The CSV has the expiry, the API the due dates before it.
      "date_changed dates.response_at": 8, // Due dates that passed.
      "description_changed title": 1,
      "field_updated program.solicitation_id program.solicitation_title": 10,
      "field_updated source.opportunity_id program.solicitation_id": 1,
      "field_updated source.opportunity_id program.solicitation_id program.solicitation_title": 1,
    });
  });

  testReal("in full: 82 and 21 topics of the CSV, none rejected", async (directory) => {
    const { outcomes } = await imported(directory);
    expect(outcomes.map(({ read, added, rejected }) => [read, added, rejected])).toEqual([
      [82, 82, 0],
      [10, 0, 0],
      [15, 0, 0],
      [21, 21, 0],
    ]);
  });
});

test("the same topics are the same records with their agencies in words, as in 2023, and as codes of any year", async () => {
  const text = realFile("sbir-gov/solicitations-202312-makegov.json").toString();
  const { db, take } = await aCatalog();
  const inWords = await take(text, { format: sbirGov });
  expect([inWords.added, inWords.messages]).toEqual([11, []]);
  const lineages = await db.all(
    rawSql<{ lineage: string }>("select lineage from opportunities where lineage not like 'node/%' order by 1"),
  );
  expect(lineages.map(({ lineage }) => lineage)).toEqual(["DTRA23D-P01", "HR0011ST2023D", "HR0011ST2023D-02", "HR0011ST2023D-03"]);
  for (const [defense, homeland, health] of [
    ["DOD", "DHS", "HHS"],
    ["DOW", "Dept of Homeland Security", "HHS"],
    ["Department of War", "DEPARTMENT OF HOMELAND SECURITY", "Department of Health & Human Services"],
  ] as const) {
    const other = text
      .replaceAll('"agency":"Department of Defense"', `"agency":"${defense}"`)
      .replaceAll('"agency":"Department of Homeland Security"', `"agency":"${homeland}"`)
      .replaceAll('"agency":"Department of Health and Human Services"', `"agency":"${health}"`);
    expect(await take(other, { format: sbirGov })).toMatchObject({ added: 0, events: 0, unchanged: 11, messages: [] });
  }
});

test("due dates that the API lists where the CSV had only the expiry are no earlier deadline", async () => {
  const { db, takeFiles } = await aCatalog();
  const files = ["sbir-gov/topics_search-20250714.csv", "sbir-gov/solicitations-20250914.json"].map((name) => realPath(name));
  for (const file of files) await takeFiles([file], { format: sbirGov });
  const severities = async () => {
    const rows = await db.all(rawSql<{ severity: string; document: Uint8Array }>("select severity, document from events"));
    return countBy(
      rows.filter(({ document }) => Buffer.from(document).includes("dates.closes_at")),
      ({ severity }) => severity,
    );
  };
  expect(await severities()).toEqual({ material: 6 });
  for (const file of files) await takeFiles([file], { format: sbirGov });
  expect(await severities()).toEqual({ material: 6 });
});
