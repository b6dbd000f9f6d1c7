/** The event table of the contract, row by row: the type, severity, fields and values of the event for each difference. */
import { describe, expect, test } from "bun:test";
import { classify } from "../../src/changes/classify.ts";
import { comparedFields, detect } from "../../src/changes/detect.ts";
import { ruleFor, rules } from "../../src/changes/rules.ts";
import type { Draft } from "../../src/import/record.ts";
import { aContent } from "../support/contents.ts";

type Row = [difference: string, before: Partial<Draft>, after: Partial<Draft>, type: string, severity: string, field: string];

const NOW = Date.UTC(2026, 0, 31, 12);
const NOON = "2026-03-01T12:00:00-05:00";
const NOON_ELSEWHERE = "2026-03-01T17:00:00Z";
const LATER = "2026-03-01T12:01:00-05:00";
const EARLIER = "2026-03-01T11:59:59-05:00";

const dates = (given: Draft["dates"]): Partial<Draft> => ({ dates: given ?? {} });
const status = (given: string): Partial<Draft> => ({ status: given });
const title = (given: string): Partial<Draft> => ({ title: given });
const description = (given: string | null): Partial<Draft> => ({ description: given });
const funding = (given: Draft["funding"]): Partial<Draft> => ({ funding: given ?? null });
const display = (before: string | null, after: string | null, severity: string): Row => [
  `funding.display from ${before} to ${after}`,
  funding({ amount_max: "1", display: before }),
  funding({ amount_max: "1", display: after }),
  "funding_changed",
  severity,
  "funding.display",
];
const sameMoney: [string | null, string | null][] = [
  ["Awarded $94083 to ACME, INC.", "awarded $94,083.00 to Acme Inc"],
  ["Up to $5 per award; 3 awards expected", "Up to $5 per award, 3 awards expected."],
  ["$1,000 &amp; more", "<b>$1000.0</b> & more"],
  [null, ""],
];
const otherMoney: [string | null, string | null][] = [
  ["Awarded $94,083.00 to Acme", "Awarded $36,800.00 to Acme"],
  ["Awarded $94,083.00 to Acme", "Awarded $94,083.00 to Zenith"],
  ["Awarded $10.5 to Acme", "Awarded $105 to Acme"],
  ["3 awards of $5", "5 awards of $3"],
  ["Up to $5 per award", "Up to $5 per award; $10,772,270 total"],
  ["Awarded $5", "Awarded $5 to Acme"],
  ["5 to 10", "5"],
  [null, "$10,772,270 total"],
  ["$5", "€5"],
];
const setAsides = (...given: string[]): Partial<Draft> => ({ classifications: { set_aside_types: given } });
const keywords = (...given: string[]): Partial<Draft> => ({ classifications: { keywords: given } });
const source = (given: Partial<Draft["source"]>): Partial<Draft> => ({ source: { code: "SAM", opportunity_id: "N0", ...given } });
const [ann, bob] = [{ name: "Ann" }, { name: "Bob" }];
const [spec, form] = [
  { name: "spec.pdf", url: "https://x/1" },
  { name: "form.pdf", url: "https://x/2" },
];
const [why, when] = [
  { question: "Why?", answer: "Because." },
  { question: "When?", answer: null },
];

const eventsOf = (before: Partial<Draft>, after: Partial<Draft>) =>
  classify("7b2f0c1e-0000-5000-8000-000000000000", detect(aContent(before), aContent(after)), NOW);

const table: Row[] = [
  ["open → cancelled", status("open"), status("cancelled"), "status_changed", "critical", "status"],
  ["closed → cancelled", status("closed"), status("cancelled"), "status_changed", "critical", "status"],
  ["an unknown status → cancelled", status("Paused"), status("cancelled"), "status_changed", "critical", "status"],
  ["closed → open", status("closed"), status("open"), "status_changed", "critical", "status"],
  ["closed → closing_soon", status("closed"), status("closing_soon"), "status_changed", "critical", "status"],
  ["archived → open", status("archived"), status("open"), "status_changed", "critical", "status"],
  ["archived → closing_soon", status("archived"), status("closing_soon"), "status_changed", "critical", "status"],
  ["cancelled → open", status("cancelled"), status("open"), "status_changed", "critical", "status"],
  ["cancelled → closing_soon", status("cancelled"), status("closing_soon"), "status_changed", "critical", "status"],
  ["open → closing_soon", status("open"), status("closing_soon"), "status_changed", "informational", "status"],
  ["closed → archived", status("closed"), status("archived"), "status_changed", "informational", "status"],
  ["closing_soon → open", status("closing_soon"), status("open"), "status_changed", "material", "status"],
  ["closing_soon → closed", status("closing_soon"), status("closed"), "status_changed", "material", "status"],
  ["pre_release → open", status("pre_release"), status("open"), "status_changed", "material", "status"],
  ["forecast → open", status("forecast"), status("open"), "status_changed", "material", "status"],
  ["archived → pre_release", status("archived"), status("pre_release"), "status_changed", "material", "status"],
  ["archived → closed", status("archived"), status("closed"), "status_changed", "material", "status"],
  ["open → awarded", status("open"), status("awarded"), "status_changed", "material", "status"],
  ["open → archived", status("open"), status("archived"), "status_changed", "material", "status"],
  ["open → an unknown status", status("open"), status("Paused"), "status_changed", "material", "status"],

  ["closes_at earlier", dates({ closes_at: NOON }), dates({ closes_at: EARLIER }), "date_changed", "critical", "dates.closes_at"],
  ["closes_at later", dates({ closes_at: NOON }), dates({ closes_at: LATER }), "date_changed", "material", "dates.closes_at"],
  ["closes_at set", dates({}), dates({ closes_at: NOON }), "date_changed", "material", "dates.closes_at"],
  ["closes_at cleared", dates({ closes_at: NOON }), dates({}), "date_changed", "material", "dates.closes_at"],
  [
    "closes_at earlier although its text is greater",
    dates({ closes_at: NOON }),
    dates({ closes_at: "2026-03-01T16:59:59Z" }),
    "date_changed",
    "critical",
    "dates.closes_at",
  ],
  [
    "closes_at earlier by less than a millisecond",
    dates({ closes_at: "2026-03-01T12:00:00.0000Z" }),
    dates({ closes_at: "2026-03-01T11:59:59.9999Z" }),
    "date_changed",
    "critical",
    "dates.closes_at",
  ],
  [
    "closes_at 11:59:59 PM instead of 11:59 PM",
    dates({ closes_at: "2026-03-01T23:59:00-05:00" }),
    dates({ closes_at: "2026-03-01T23:59:59-05:00" }),
    "date_changed",
    "cosmetic",
    "dates.closes_at",
  ],
  [
    "response_at with earlier seconds, in another offset",
    dates({ response_at: "2026-03-01T23:59:59.9-05:00" }),
    dates({ response_at: "2026-03-02T04:59:00Z" }),
    "date_changed",
    "cosmetic",
    "dates.response_at",
  ],
  [
    "posted_at with other seconds",
    dates({ posted_at: "2026-03-01T12:00:01Z" }),
    dates({ posted_at: "2026-03-01T12:00:02Z" }),
    "date_changed",
    "cosmetic",
    "dates.posted_at",
  ],
  ["response_at earlier", dates({ response_at: NOON }), dates({ response_at: EARLIER }), "date_changed", "critical", "dates.response_at"],
  ["response_at later", dates({ response_at: NOON }), dates({ response_at: LATER }), "date_changed", "material", "dates.response_at"],
  ["posted_at earlier", dates({ posted_at: NOON }), dates({ posted_at: EARLIER }), "date_changed", "informational", "dates.posted_at"],
  ["posted_at set", dates({}), dates({ posted_at: NOON }), "date_changed", "informational", "dates.posted_at"],
  ["opens_at earlier", dates({ opens_at: NOON }), dates({ opens_at: EARLIER }), "date_changed", "informational", "dates.opens_at"],

  ["amount_min", funding({ amount_min: "1" }), funding({ amount_min: "2" }), "funding_changed", "material", "funding.amount_min"],
  ["amount_max", funding({ amount_max: "1" }), funding({ amount_max: null }), "funding_changed", "material", "funding.amount_max"],
  ["funding from null", funding(null), funding({ display: "x" }), "funding_changed", "material", "funding"],
  ["funding to null", funding({ amount_max: "1" }), funding(null), "funding_changed", "material", "funding"],
  ...sameMoney.map(([before, after]) => display(before, after, "cosmetic")),
  ...otherMoney.map(([before, after]) => display(before, after, "material")),

  [
    "a title that says cancelled",
    title("Custodial Services"),
    title("CANCELLED: Custodial Services"),
    "description_changed",
    "critical",
    "title",
  ],
  [
    "a title that says it in other words",
    title("CANCELED - Roof"),
    title("CANCELLED - Roofs"),
    "description_changed",
    "informational",
    "title",
  ],
  ["a title that says it no longer", title("WITHDRAWN - Roof"), title("Roof"), "description_changed", "informational", "title"],
  [
    "a text that says rescinded",
    { description: "Bids are due." },
    { description: "This notice is rescinded." },
    "description_changed",
    "material",
    "description",
  ],
  ["title", title("Robots"), title("Drones"), "description_changed", "informational", "title"],
  ["summary set", {}, { summary: "New" }, "description_changed", "informational", "summary"],
  ["description cleared", description("Old"), description(null), "description_changed", "informational", "description"],
  ["white space", title("A  b\u00a0c"), title("A b\nc "), "description_changed", "cosmetic", "title"],
  ["white space added or removed", title("Robo tics"), title("Robotics"), "description_changed", "cosmetic", "title"],
  ["letter case", title("SMALL STRASSE"), title("Small Straße"), "description_changed", "cosmetic", "title"],
  ["punctuation", title("Co-operative “R&D” (phase 1)"), title("Cooperative R&D, phase 1."), "description_changed", "cosmetic", "title"],
  ["mark-up", description("<p>One <b>two</b></p>"), description("One<br/>two"), "description_changed", "cosmetic", "description"],
  ["mark-up within a word", description("H<sub>2</sub>O"), description("H2O"), "description_changed", "cosmetic", "description"],
  ["entities", title("A &amp; B"), title("A & B"), "description_changed", "cosmetic", "title"],
  ["entities escaped twice", title("It&amp;#8217;s"), title("It’s"), "description_changed", "cosmetic", "title"],
  [
    "mark-up escaped as entities",
    description("&lt;p&gt;One&lt;/p&gt;"),
    description("One"),
    "description_changed",
    "cosmetic",
    "description",
  ],
  ["a digit within punctuation", title("Phase (1)"), title("Phase (2)"), "description_changed", "informational", "title"],
  ["a sign that is not punctuation", title("C"), title("C+"), "description_changed", "informational", "title"],
  ["text from null to empty", {}, { summary: "" }, "description_changed", "cosmetic", "summary"],

  ["a question", { questions: [why] }, { questions: [why, when] }, "qanda_updated", "informational", "questions"],
  ["an answer", { questions: [when] }, { questions: [{ ...when, answer: "Now." }] }, "qanda_updated", "informational", "questions"],
  ["an attachment", { attachments: [spec] }, { attachments: [spec, form] }, "attachments_changed", "material", "attachments"],
  ["an attachment removed", { attachments: [spec] }, {}, "attachments_changed", "material", "attachments"],

  ["a note that names a date", {}, { deadline_note: "December 1-15, annually" }, "date_changed", "material", "deadline_note"],
  ["a note that says anytime", { deadline_note: "Accepted anytime" }, {}, "date_changed", "material", "deadline_note"],
  ["a note that names no date", {}, { deadline_note: "By 5 pm, local time" }, "date_changed", "informational", "deadline_note"],
  [
    "the punctuation of a note",
    { deadline_note: "Extended to May 1" },
    { deadline_note: "Extended to May 1." },
    "date_changed",
    "cosmetic",
    "deadline_note",
  ],
  [
    "a note in the requirements of an earlier export",
    { eligibility: { requirements: "All\nDeadline note: by 5 pm" } },
    { eligibility: { requirements: "All" }, deadline_note: "by 6 pm" },
    "date_changed",
    "informational",
    "deadline_note",
  ],
  ["requirements", {}, { eligibility: { requirements: "All" } }, "field_updated", "material", "eligibility.requirements"],
  ["geographic scope", {}, { eligibility: { geographic_scope: "Ohio" } }, "field_updated", "material", "eligibility.geographic_scope"],
  ["set-aside types", setAsides("SBA"), setAsides("8A"), "field_updated", "material", "classifications.set_aside_types"],
  ["status_display", {}, { status_display: "Posted" }, "field_updated", "cosmetic", "status_display"],
  ["source.name", source({ name: "SAM" }), source({ name: "SAM.gov" }), "field_updated", "cosmetic", "source.name"],
  ["source.url", source({}), source({ url: "https://sam.gov/1" }), "field_updated", "cosmetic", "source.url"],
  ["keywords", keywords("a"), keywords("a", "b"), "field_updated", "informational", "classifications.keywords"],
  ["another item repeated", keywords("a", "b", "b"), keywords("a", "a", "b"), "field_updated", "informational", "classifications.keywords"],
  ["contacts", { contacts: [ann] }, { contacts: [bob] }, "field_updated", "informational", "contacts"],
  [
    "agency",
    { organization: { agency: "NASA" } },
    { organization: { agency: "NSF" } },
    "field_updated",
    "informational",
    "organization.agency",
  ],
  ["program type", {}, { program: { type: "GRANT" } }, "field_updated", "informational", "program.type"],
  [
    "parent",
    {},
    { relationships: { parent_id: "0190c4a0-0000-7000-8000-000000000001" } },
    "field_updated",
    "informational",
    "relationships.parent_id",
  ],

  ["keywords reordered", keywords("a", "b"), keywords("b", "a"), "field_updated", "noise", "classifications.keywords"],
  [
    "set-aside types reordered",
    setAsides("8A", "SBA"),
    setAsides("SBA", "8A"),
    "field_updated",
    "noise",
    "classifications.set_aside_types",
  ],
  ["contacts reordered", { contacts: [ann, bob] }, { contacts: [bob, ann] }, "field_updated", "noise", "contacts"],
  ["attachments reordered", { attachments: [spec, form] }, { attachments: [form, spec] }, "attachments_changed", "noise", "attachments"],
  ["questions reordered", { questions: [why, when] }, { questions: [when, why] }, "qanda_updated", "noise", "questions"],
];

/** What the clock changes, because a date that was known has passed. */
const foreseen: Row[] = [
  ["closing_soon → closed", status("closing_soon"), status("closed"), "status_changed", "informational", "status"],
  ["pre_release → open", status("pre_release"), status("open"), "status_changed", "informational", "status"],
  ["open → archived", status("open"), status("archived"), "status_changed", "informational", "status"],
  ["closed → open", status("closed"), status("open"), "status_changed", "informational", "status"],
  ["the next due date", dates({ response_at: NOON }), dates({ response_at: LATER }), "date_changed", "informational", "dates.response_at"],
];

/** Due dates that are listed where only the expiry was known. */
const listed: Row[] = [
  ["the last due date", dates({ closes_at: NOON }), dates({ closes_at: EARLIER }), "date_changed", "material", "dates.closes_at"],
  ["the next due date", dates({ response_at: NOON }), dates({ response_at: EARLIER }), "date_changed", "material", "dates.response_at"],
];

/** What an earlier version of the program did not read. */
const firstRead: Row[] = [
  [
    "codes of a set-aside",
    { classifications: { set_aside_types: [] } },
    { classifications: { set_aside_types: ["SBA"] } },
    "field_updated",
    "cosmetic",
    "classifications.set_aside_types",
  ],
  ["questions", { questions: [] }, { questions: [{ question: "Q?", answer: "A." }] }, "qanda_updated", "cosmetic", "questions"],
];

describe("the event table", () => {
  test.each(firstRead)("read for the first time: %s", (_, before, after, type, severity, field) => {
    const changes = detect(aContent(before), aContent(after));
    expect(classify("7b2f0c1e-0000-5000-8000-000000000000", changes, NOW, new Map([[field, "first read"]]))).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field] }),
    ]);
  });

  test.each(listed)("listed: %s", (_, before, after, type, severity, field) => {
    const changes = detect(aContent(before), aContent(after));
    expect(classify("7b2f0c1e-0000-5000-8000-000000000000", changes, NOW, new Map([[field, "listed"]]))).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field] }),
    ]);
  });

  test.each(foreseen)("foreseen: %s", (_, before, after, type, severity, field) => {
    const changes = detect(aContent(before), aContent(after));
    expect(classify("7b2f0c1e-0000-5000-8000-000000000000", changes, NOW, new Map([[field, "foreseen"]]))).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field] }),
    ]);
    expect(classify("7b2f0c1e-0000-5000-8000-000000000000", changes, NOW, new Map([["title", "foreseen"]]))[0]?.severity).not.toBe(
      "informational",
    );
  });

  test.each(table)("%s", (_, before, after, type, severity, field) => {
    expect(eventsOf(before, after)).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field], changes: [expect.objectContaining({ field })] }),
    ]);
  });

  test("uses every rule", () => {
    const changesOf = ([, before, after]: Row) => detect(aContent(before), aContent(after));
    const used = [
      ...table.flatMap((row) => changesOf(row).map((change) => ruleFor(change))),
      ...listed.flatMap((row) => changesOf(row).map((change) => ruleFor(change, "listed"))),
      ...firstRead.flatMap((row) => changesOf(row).map((change) => ruleFor(change, "first read"))),
      ...foreseen.flatMap((row) => changesOf(row).map((change) => ruleFor(change, "foreseen"))),
    ];
    const [, , ...fieldRules] = rules; // After the addition and the removal of a record as a whole.
    expect(fieldRules.filter((rule) => !used.includes(rule))).toEqual([]);
  });

  test("covers every compared field", () => {
    const covered = table.map(([, , , , , field]) => field);
    const alike = /^(organization|program|classifications|relationships)\.|^source\.opportunity_id$|^funding\.currency$/;
    expect(comparedFields.filter((field) => !covered.includes(field) && !alike.test(field))).toEqual([]);
  });

  test.each([
    [
      "the same record",
      { dates: { closes_at: NOON }, funding: { amount_max: "1" } },
      { dates: { closes_at: NOON }, funding: { amount_max: "1" } },
    ],
    ["a date with another offset", dates({ closes_at: NOON }), dates({ closes_at: NOON_ELSEWHERE })],
    ["a date with more zeros", dates({ opens_at: NOON_ELSEWHERE }), dates({ opens_at: "2026-03-01T17:00:00.000Z" })],
  ])("gives no event for %s", (_, before, after) => {
    expect(eventsOf(before, after)).toEqual([]);
  });
});

describe("detect()", () => {
  test("returns the values as the API renders them, in the resource's order", () => {
    const before = { title: "Old", ...dates({ closes_at: NOON }), ...keywords("a") };
    const after = { ...keywords("b"), ...dates({ closes_at: null, response_at: NOON_ELSEWHERE }), title: "New" };
    expect(detect(aContent(before), aContent(after))).toEqual([
      { field: "title", previous: "Old", current: "New" },
      { field: "dates.closes_at", previous: NOON, current: null },
      { field: "dates.response_at", previous: null, current: NOON_ELSEWHERE },
      { field: "classifications.keywords", previous: ["a"], current: ["b"] },
    ]);
  });

  test("reports funding that appears or disappears as the one field `funding`", () => {
    const whole = { currency: "USD", amount_min: null, amount_max: "5", display: null };
    expect(detect(aContent(), aContent(funding({ amount_max: "5" })))).toEqual([{ field: "funding", previous: null, current: whole }]);
    expect(detect(aContent(funding({ amount_max: "5" })), aContent())).toEqual([{ field: "funding", previous: whole, current: null }]);
  });

  test("compares amounts as text: 5 and 5.00 differ", () => {
    expect(detect(aContent(funding({ amount_max: "5" })), aContent(funding({ amount_max: "5.00" })))).toHaveLength(1);
  });
});

describe("classify()", () => {
  test("makes one event for each type, with the severity of its most severe change", () => {
    const before = {
      title: "Robots",
      summary: "All about robots",
      ...dates({ posted_at: NOON, closes_at: NOON, response_at: NOON }),
      ...funding({ amount_max: "1", display: "a" }),
      classifications: { keywords: ["a", "b"], set_aside_types: ["SBA"] },
    };
    const after = {
      title: "ROBOTS",
      summary: "All about drones",
      ...dates({ posted_at: LATER, closes_at: LATER, response_at: EARLIER }),
      ...funding({ amount_max: "2", display: "b" }),
      classifications: { keywords: ["b", "a"], set_aside_types: ["8A"] },
      status: "closed",
    };
    const shown = eventsOf(before, after).map(({ type, severity, changed_fields }) => ({ type, severity, changed_fields }));
    expect(shown).toEqual([
      { type: "status_changed", severity: "material", changed_fields: ["status"] },
      { type: "date_changed", severity: "critical", changed_fields: ["dates.posted_at", "dates.closes_at", "dates.response_at"] },
      { type: "funding_changed", severity: "material", changed_fields: ["funding.amount_max", "funding.display"] },
      { type: "description_changed", severity: "informational", changed_fields: ["title", "summary"] },
      { type: "field_updated", severity: "material", changed_fields: ["classifications.keywords", "classifications.set_aside_types"] },
    ]);
  });

  test("makes a complete event with an id that is always the same", () => {
    const [event] = eventsOf(title("Robots"), title("Drones"));
    expect(event).toEqual({
      id: "a7b2ea91-7011-51d4-9a2a-13fca6c894ab",
      opportunity_id: "7b2f0c1e-0000-5000-8000-000000000000",
      type: "description_changed",
      severity: "informational",
      summary: "title changed from Robots to Drones",
      changed_fields: ["title"],
      changes: [{ field: "title", previous: "Robots", current: "Drones" }],
      detected_at: "2026-01-31T12:00:00.000Z",
    });
  });
});
