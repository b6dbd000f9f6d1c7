import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../../../src/import/format.ts";
import { dsip } from "../../../src/import/formats/dsip.ts";
import { csvRows } from "../../../src/import/readers/csv-rows.ts";
import { countBy, readFormat, realInput, textInput } from "../../support/read-format.ts";
import { describeReal, EXCERPTS } from "../../support/real-data.ts";

const SEARCH = "dod-dsip/raw_api_search_correct_format.json";
const DETAILS = "dod-dsip/raw_api_details_response.json";
const QUESTIONS = "dod-dsip/raw_api_qa_response.json";
const ENRICHED = "dod-dsip/cli_enrich_complete.json.gz";

const realInputs = (names: readonly string[], directory = EXCERPTS) => Promise.all(names.map((name) => realInput(name, directory)));

/** A topic as the search answers it, told by what the test is about. */
const aTopic = (fields: object = {}) => ({
  topicId: "a1_1",
  topicCode: "N251-001",
  topicTitle: "Quiet pumps",
  topicStatus: "Open",
  program: "SBIR",
  baaInstructions: [],
  ...fields,
});
const search = (...topics: object[]) => textInput(JSON.stringify({ total: topics.length, data: topics }), "search.json");

async function draftOf(fields: object): Promise<Draft> {
  const { drafts } = await readFormat(dsip, [search(aTopic(fields))]);
  return drafts[0] as Draft;
}

type Kinds = Record<string, number>;

/** Each file has that many topics of these kinds, and none is refused. */
function testFiles(directory: string, files: readonly (readonly [name: string, topics: number, kinds: Kinds])[]): void {
  test.each(files)("%s: %d topics, none refused", async (name, topics, kinds) => {
    const { kept, items, refused } = await readFormat(dsip, [await realInput(name, directory)]);

    expect(refused).toEqual([]);
    expect([items.length, kept.size]).toEqual([topics, topics]);
    expect(countBy(kept.values(), ({ program, status }) => `${program?.type} ${status}`)).toEqual(kinds);
  });
}

function testExport(directory: string, topics: number, kinds: Kinds, withKeywords: Kinds): void {
  test(`the seven parts of the export: ${topics} topics, none refused`, async () => {
    const names = readdirSync(join(directory, "dod-dsip")).filter((name) => name.startsWith("topics-export"));
    const inputs = await realInputs(
      names.map((name) => `dod-dsip/${name}`),
      directory,
    );
    const { kept, items, refused, warnings } = await readFormat(dsip, inputs);

    expect([names.length, refused, warnings]).toEqual([7, [], []]);
    expect([items.length, kept.size]).toEqual([topics, topics]);
    expect(countBy(kept.values(), ({ program, status }) => `${program?.type} ${status}`)).toEqual(kinds);
    expect(countBy(kept.values(), ({ classifications }) => (classifications?.keywords?.length ?? 0) > 0)).toEqual(withKeywords);
  });
}

describeReal("the full files", (directory) => {
  testFiles(directory, [[ENRICHED, 3, { "SBIR null": 3 }]]);
  testExport(directory, 6412, { "SBIR closed": 6325, "SBIR null": 11, "STTR closed": 76 }, { false: 6117, true: 295 });
});

describe("real files", () => {
  testFiles(EXCERPTS, [
    [SEARCH, 2, { "SBIR null": 2 }],
    ["dod-dsip/raw_api_search_response.json", 5, { "SBIR closed": 5 }],
    [ENRICHED, 1, { "SBIR null": 1 }],
  ]);
  testExport(EXCERPTS, 155, { "SBIR closed": 118, "SBIR null": 11, "STTR closed": 26 }, { false: 97, true: 58 });

  test("a topic of the search with its details and questions, field by field", async () => {
    const { kept, refused, warnings } = await readFormat(dsip, await realInputs([SEARCH, DETAILS, QUESTIONS]));

    expect(refused).toEqual([]);
    expect(warnings).toEqual(["the portal's search found 24 topics; these files contain 2 of them"]);
    const draft = kept.get("A254-049");
    const { description, questions, summary } = draft ?? {};
    expect({ ...draft, summary: null, description: null, questions: [] }).toEqual({
      source: { code: "DSIP", opportunity_id: "A254-049", url: "https://www.dodsbirsttr.mil/topics-app/" },
      title: "Affordable Ka-Band Metamaterial-Based Electronically Scanned Array Radar for Test and Training",
      summary: null,
      description: null,
      status: null,
      organization: { agency: "Department of Defense", sub_agency: "ARMY", issuing_office: "ASA(ALT)" },
      program: {
        type: "SBIR",
        solicitation_id: "25.4",
        solicitation_title: "DoD SBIR 2025.4",
        contract_class: "Phase I, Phase II, Sequential Phase II",
      },
      dates: {
        posted_at: "2025-09-03T08:00:00-04:00",
        opens_at: "2026-04-01T08:00:00-04:00",
        closes_at: "2026-04-29T12:00:00-04:00",
        response_at: "2026-04-29T12:00:00-04:00",
      },
      classifications: {
        keywords: ["Radar", "antenna", "metamaterials", "scanning", "array"],
        technology_areas: ["Information Systems", "Materials"],
        tech_taxonomy: ["DSIP_FOCUS:Advanced Computing and Software", "DSIP_FOCUS:Advanced Materials", "DSIP_FOCUS:Microelectronics"],
      },
      eligibility: { requirements: null },
      contacts: [{ name: "Jeffrey Brown", email: "jeffrey.s.brown14.civ@army.mil", phone: null, role: "TPOC" }],
      attachments: [
        {
          name: "DoD 25.4 SBIR BAA Preface_R12_09232025.pdf",
          url: "https://www.dodsbirsttr.mil/submissions/api/public/download/1720325",
        },
        {
          name: "Army_SBIR_254_R12.pdf",
          url: "https://www.dodsbirsttr.mil/submissions/api/public/download/1715189",
          kind: "COMPONENT_FINAL_DOCUMENT_UPLOAD",
        },
      ],
      questions: [],
      questions_read: true,
    });
    expect(summary).toStartWith("The objective of this topic is to provide low-cost Ka-Band radar solutions");
    expect(description?.match(/<h3>.*<\/h3>/g)).toEqual([
      "<h3>Objective</h3>",
      "<h3>Description</h3>",
      "<h3>Phase I</h3>",
      "<h3>Phase II</h3>",
      "<h3>Phase III dual use applications</h3>",
      "<h3>References</h3>",
    ]);
    expect(questions).toHaveLength(7);
    expect(questions?.[5]).toEqual({
      question: "<p>How can I view the 11 September Reverse Pitch recording?</p>",
      answer: '<figure class="media"><oembed url="https://youtu.be/TLXV55ZE7Uk?si=r9uWaPHq5vEQM0yT"></oembed></figure>',
    });
  });

  test("fields that no file has are left out, so that stored values stay", async () => {
    const { kept, items } = await readFormat(dsip, await realInputs([SEARCH, DETAILS, QUESTIONS]));
    const draft = kept.get("A254-P050");
    const stated = Object.entries(draft ?? {}).filter(([, value]) => value !== undefined);
    expect(stated.map(([name]) => name)).toEqual([
      "source",
      "title",
      "status",
      "organization",
      "program",
      "dates",
      "contacts",
      "attachments",
    ]);
    expect(items.map((item) => item.kind === "record" && item.partial)).toEqual(["omits", "omits"]);
  });

  test("the enriched layout gives the same questions, keywords and dates of that topic", async () => {
    const { kept } = await readFormat(dsip, [await realInput(ENRICHED)]);
    const ofPortal = (await readFormat(dsip, await realInputs([SEARCH, DETAILS, QUESTIONS]))).kept.get("A254-049");

    const { questions, classifications, dates, program } = kept.get("A254-049") ?? {};
    expect(questions).toEqual(ofPortal?.questions ?? []);
    expect(classifications).toEqual(ofPortal?.classifications ?? {});
    const { posted_at: _, ...others } = ofPortal?.dates ?? {}; // It has no day of the pre-release.
    expect(dates).toEqual(others);
    expect(program?.contract_class).toBe("Phase I, Phase II, Sequential Phase II");
  });

  test("a topic of the export, field by field", async () => {
    const { kept } = await readFormat(dsip, [await realInput("dod-dsip/topics-export-20250809-chunk_33.csv.gz")]);

    const { questions, questions_read: _, ...draft } = kept.get("SF254-01001") as Draft;
    expect(questions).toHaveLength(7);
    expect({ ...draft, summary: draft.summary?.slice(0, 32), description: draft.description?.slice(0, 51) }).toEqual({
      source: { code: "DSIP", opportunity_id: "SF254-01001", url: "https://www.dodsbirsttr.mil/topics-app/" },
      title: "Autonomous Space Cargo Network (ASCN): AI-Driven Logistics Automation and Digital Twin Integration for Space Mobility",
      summary: "The goal for this effort is to d",
      description: "<h3>Objective</h3>\nThe goal for this effort is to d",
      status: null,
      organization: { agency: "Department of Defense", sub_agency: "USAF", issuing_office: "SSC" },
      program: { type: "SBIR", solicitation_id: "25.4", solicitation_title: "DoD SBIR 2025.4" },
      dates: {
        posted_at: "2025-07-02T00:00:00-04:00",
        opens_at: "2025-07-23T00:00:00-04:00",
        closes_at: "2025-08-20T23:59:59-04:00",
        response_at: "2025-08-20T23:59:59-04:00",
      },
      classifications: {
        keywords: [
          "Autonomous Cargo Logistics for Space",
          "AI-Driven Cargo Management System",
          "Autonomous Space Mobility & Sustainment",
          "Digital Twin for Space Logistics Optimization",
          "Cybersecure AI Logistics Framework",
        ],
        technology_areas: ["Materials"],
        tech_taxonomy: ["DSIP_FOCUS:Sustainment & Logistics"],
      },
      eligibility: { requirements: "Export controlled (ITAR)." },
    });
  });

  test("a topic of the export has as many questions as it says were published", async () => {
    const input = await realInput("dod-dsip/topics-export-20250809-chunk_33.csv.gz");
    const { kept } = await readFormat(dsip, [input]);
    const published = new Map<string, number>();
    for await (const { raw: row } of csvRows(input.bytes(), []))
      published.set(row.topic_number_topiccode ?? "", Number(row.published_questions_noofpublishedquestions));
    const withQuestions = [...kept].filter(([, { questions }]) => questions !== undefined);
    expect(withQuestions).toHaveLength(36);
    for (const [code, { questions = [] }] of withQuestions) {
      expect([code, questions.length]).toEqual([code, published.get(code) ?? 0]);
      expect(questions.filter(({ question }) => !question)).toEqual([]);
    }
    expect(kept.get("AFX23E-TPCSO1")?.questions?.[0]).toMatchObject({
      question: expect.stringContaining("Where can I find the &quot;Component-specific&quot; instructions."),
      answer: "Pages/slides in excess of the maximum will not be considered during evaluations. See Attachment 11 for a sample slide deck.",
    });
  });

  test("details without their topic are rejected", async () => {
    const { refused } = await readFormat(dsip, await realInputs([DETAILS, QUESTIONS]));
    expect(refused).toEqual(["no topic search response among the files has the topic 7051b2da4a1e4c52bd0e7daf80d514f7_86352"]);
  });

  test("a file of another layout is refused by name", async () => {
    const file = await realInput("dod-dsip/dod-sbir-2015.1-topics-20150910.json.gz");
    await expect(readFormat(dsip, [file])).rejects.toThrow(/^Cannot import .*20150910\.json\.gz: element 1 is neither a topic/);
  });
});

describe("questions", () => {
  const questions = (name: string) => textInput(JSON.stringify([{ questionId: 1, question: "Why?", answers: [] }]), name);

  test("of a file are those of the topic whose details come before it", async () => {
    const topics = search(aTopic(), aTopic({ topicId: "a1_2", topicCode: "N251-002" }));
    const details = textInput(JSON.stringify({ topicId: "a1_2", objective: "" }), "details.json");
    const { drafts } = await readFormat(dsip, [topics, details, questions("questions.json")]);
    expect(drafts.map((draft) => draft.questions)).toEqual([undefined, [{ question: "Why?", answer: null }]]);
  });

  test("of two files of one topic are those of the last", async () => {
    const details = () => textInput(JSON.stringify({ topicId: "a1_1", objective: "" }), "details.json");
    const { drafts } = await readFormat(dsip, [search(aTopic()), details(), questions("old.json"), details(), questions("new.json")]);
    expect(drafts[0]?.questions).toEqual([{ question: "Why?", answer: null }]);
  });

  test("after details without an id fail the import", async () => {
    const details = textInput(JSON.stringify({ topicId: "", objective: "" }), "details.json");
    await expect(readFormat(dsip, [search(aTopic()), details, questions("qa.json")])).rejects.toThrow(
      "which topic its questions are about",
    );
  });

  test("may be among the details of many topics", async () => {
    const details = textInput(
      JSON.stringify([{ topicId: "a1_1", objective: "<p>Less noise</p>", questions: [{ questionId: 1, question: "Why?" }] }]),
    );
    const { drafts } = await readFormat(dsip, [search(aTopic()), details]);
    expect(drafts[0]).toMatchObject({ summary: "Less noise", questions: [{ question: "Why?", answer: null }] });
  });

  test("without a topic fail the import", async () => {
    await expect(readFormat(dsip, [search(aTopic()), questions("qa.json")])).rejects.toThrow(
      "Cannot import qa.json: it does not say which topic its questions are about",
    );
  });

  test.each([
    ['{"content":"<p>Yes</p>","length":3}', "<p>Yes</p>"],
    ["Yes", "Yes"],
    ["{broken", "{broken"],
    [null, null],
  ])("with the answer %p have the answer %p", async (answer, expected) => {
    const [question] =
      (await draftOf({ questions: [{ questionId: 1, question: "Why?", answers: [{ answerId: 1, answer }] }] })).questions ?? [];
    expect(question?.answer).toBe(expected);
  });
});

describe("contacts", () => {
  const manager = { name: "Ann", email: "ann@navy.mil", phone: "555", assignmentType: "TPOC" };
  test.each([
    ["all of a manager", manager, { email: "ann@navy.mil", phone: "555" }],
    ["no address that is not to be shown", { ...manager, emailDisplay: "N" }, { email: null, phone: "555" }],
    ["no telephone that is not to be shown", { ...manager, phoneDisplay: "N" }, { email: "ann@navy.mil", phone: null }],
  ])("show %s", async (_, topicManager, shown) => {
    expect((await draftOf({ topicManagers: [topicManager] })).contacts).toEqual([{ name: "Ann", role: "TPOC", ...shown }]);
  });

  test("are left out if the portal shows no managers", async () => {
    expect((await draftOf({ showTpoc: false, topicManagers: [manager] })).contacts).toEqual([]);
  });
});

test.each([
  ["lasers; optics; lasers;", ["lasers", "optics"]],
  ["lasers, optics (UV), mirrors", ["lasers", "optics (UV)", "mirrors"]],
  ["<p>Open; Other, &amp; more</p>", ["Open", "Other, & more"]],
  ["", []],
])("keywords %p are %p", async (keywords, list) => {
  expect((await draftOf({ objective: "", keywords })).classifications?.keywords).toEqual(list);
});

test.each([
  [425894400000, "1983-07-01T04:00:00-04:00"],
  ["1775044800000", "2026-04-01T08:00:00-04:00"],
  [1767225600000, "2025-12-31T19:00:00-05:00"],
  ["2026-04-29T16:00:00+00:00", "2026-04-29T12:00:00-04:00"],
  ["2026-11-01T05:30:00+00:00", "2026-11-01T01:30:00-04:00"],
  ["2026-04-29", "2026-04-29T23:59:59-04:00"],
  [null, null],
  ["soon", null],
  ["04/29/2026", "2026-04-29T23:59:59-04:00"],
])("topicEndDate %p is %p", async (topicEndDate, instant) => {
  const { drafts, warnings } = await readFormat(dsip, [search(aTopic({ topicEndDate }))]);
  expect([drafts[0]?.dates?.closes_at as unknown, warnings]).toEqual([
    instant,
    instant === null && topicEndDate !== null ? [`unreadable date "${topicEndDate}" is left out`] : [],
  ]);
});

test.each([
  ["Open", {}, null],
  ["Pre-Release", { topicStartDate: 1775044800000 }, null],
  ["Pre-Release", {}, "pre_release"],
  ["Closed", { topicEndDate: 4102444800000 }, "closed"],
])("topicStatus %s with %p gives the status %p", async (topicStatus, fields, status) => {
  expect((await draftOf({ topicStatus, ...fields })).status).toBe(status);
});

test("mark-up in titles, export control and a level of certification", async () => {
  const draft = await draftOf({ topicTitle: "<p>Pumps &amp; <b>valves</b></p>", objective: "", itar: true, cmmcLevel: "2" });
  expect([draft.title, draft.eligibility?.requirements]).toEqual(["Pumps & valves", "Export controlled (ITAR). CMMC level: 2."]);
});

test("references stand at the end of the description", async () => {
  const referenceDocuments = [{ referenceTitle: "<p>Pumps</p>" }, { referenceTitle: "Valves", url: "https://example.mil/v" }];
  const { description } = await draftOf({ objective: "Less noise", referenceDocuments });
  expect(description).toBe(
    "<h3>Objective</h3>\nLess noise\n<h3>References</h3>\n<ol><li><p>Pumps</p></li><li>Valves https://example.mil/v</li></ol>",
  );
});

test("phases that are not configured are left out, and so is a hierarchy that is not JSON", async () => {
  const config = [
    { displayValue: "I", hasConfiguration: "N" },
    { displayValue: "II", hasConfiguration: "Y" },
  ];
  expect((await draftOf({ phaseHierarchy: JSON.stringify({ config }) })).program?.contract_class).toBe("Phase II");
  expect((await draftOf({ phaseHierarchy: "{" })).program?.contract_class).toBeNull();
});

test("a topic without a code is rejected alone", async () => {
  const { kept, refused } = await readFormat(dsip, [search(aTopic({ topicCode: null }), aTopic())]);
  expect([kept.size, refused]).toEqual([1, ["topicCode must not be blank"]]);
});

test("an element of another kind, or that is not JSON, is rejected alone", async () => {
  const text = `[${JSON.stringify(aTopic())},{"hello":"world"},7,{"topicCode":tru},${"[".repeat(200)}${"]".repeat(200)}]`;
  const { kept, refused } = await readFormat(dsip, [textInput(text)]);
  expect([kept.size, refused]).toEqual([
    1,
    [
      "the element is neither a topic, nor a topic's details, nor a question",
      "the element is not an object",
      "the element is not JSON",
      "the element is nested more than 100 deep",
    ],
  ]);
});

test("details are joined to ten topics of one id, and no more", async () => {
  const topics = Array.from({ length: 12 }, (_, n) => aTopic({ topicCode: `A${n}` }));
  const { kept, refused } = await readFormat(dsip, [search(...topics)]);
  expect([kept.size, refused]).toEqual([10, Array(2).fill("more than 10 topics have its topicId")]);
});

test("an unknown status is accepted with a warning", async () => {
  const { drafts, warnings } = await readFormat(dsip, [search(aTopic({ topicStatus: "Paused" }))]);
  expect([drafts.length, warnings]).toEqual([1, ['unknown topic status "Paused"']]);
});

test.each([
  [
    "a message",
    '{"message": "Service unavailable"}',
    "Cannot import test: element 1 is neither a topic, nor a topic's details, nor a question",
  ],
  ["a maintenance page", "<html>503</html>", "Cannot import test: the header has no column"],
  ["a search that ends early", '{"total":2,"data":[{"topicCode":"N1"},', "Cannot import test: it ends in the middle"],
  ["deep JSON", '{"topicId":'.repeat(100_000), "Cannot import test: it ends in the middle"],
])("%s is refused by name", async (_, text, message) => {
  await expect(readFormat(dsip, [textInput(text)])).rejects.toThrow(message);
});
