/** The event table of the contract, row by row: the type, severity, fields and values of the event for each difference. */
import { describe, expect, test } from "bun:test";
import { classify } from "../../src/changes/classify.ts";
import { comparedFields, detect } from "../../src/changes/detect.ts";
import { type Cause, ruleFor, rules } from "../../src/changes/rules.ts";
import type { Draft } from "../../src/import/format.ts";
import { aContent } from "../support/contents.ts";

type Row = [difference: string, field: string, before: unknown, after: unknown, event: string];

const OPPORTUNITY = "7b2f0c1e-0000-5000-8000-000000000000";
const NOW = Date.UTC(2026, 0, 31, 12);
const NOON = "2026-03-01T12:00:00-05:00";
const NOON_ELSEWHERE = "2026-03-01T17:00:00Z";
const LATER = "2026-03-01T12:01:00-05:00";
const EARLIER = "2026-03-01T11:59:59-05:00";

/** A record with this value of the field, in funding beside an amount; without the field if it is undefined. */
function withField(path: string, value: unknown): Partial<Draft> {
  const [name = "", member] = path.split(".");
  if (value === undefined) return {};
  if (member === undefined) return { [name]: value };
  if (path === "funding.display") return { funding: { amount_max: "1", display: value as string | null } };
  return { [name]: { ...(name === "source" && { code: "SAM", opportunity_id: "N0" }), [member]: value } };
}

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
const [ann, bob] = [{ name: "Ann" }, { name: "Bob" }];
const [spec, form] = [
  { name: "spec.pdf", url: "https://x/1" },
  { name: "form.pdf", url: "https://x/2" },
];
const [why, when] = [
  { question: "Why?", answer: "Cause." },
  { question: "When?", answer: null },
];

const changesOf = (before: Partial<Draft>, after: Partial<Draft>) => detect(aContent(before), aContent(after));
const changesIn = ([, field, before, after]: Row) => changesOf(withField(field, before), withField(field, after));
const eventsOf = (before: Partial<Draft>, after: Partial<Draft>) => classify(OPPORTUNITY, changesOf(before, after), NOW);

const table: Row[] = [
  ["open → cancelled", "status", "open", "cancelled", "status_changed critical"],
  ["closed → cancelled", "status", "closed", "cancelled", "status_changed critical"],
  ["an unknown status → cancelled", "status", "Paused", "cancelled", "status_changed critical"],
  ["closed → open", "status", "closed", "open", "status_changed critical"],
  ["closed → closing_soon", "status", "closed", "closing_soon", "status_changed critical"],
  ["archived → open", "status", "archived", "open", "status_changed critical"],
  ["archived → closing_soon", "status", "archived", "closing_soon", "status_changed critical"],
  ["cancelled → open", "status", "cancelled", "open", "status_changed critical"],
  ["cancelled → closing_soon", "status", "cancelled", "closing_soon", "status_changed critical"],
  ["open → closing_soon", "status", "open", "closing_soon", "status_changed informational"],
  ["closed → archived", "status", "closed", "archived", "status_changed informational"],
  ["closing_soon → open", "status", "closing_soon", "open", "status_changed material"],
  ["closing_soon → closed", "status", "closing_soon", "closed", "status_changed material"],
  ["pre_release → open", "status", "pre_release", "open", "status_changed material"],
  ["forecast → open", "status", "forecast", "open", "status_changed material"],
  ["archived → pre_release", "status", "archived", "pre_release", "status_changed material"],
  ["archived → closed", "status", "archived", "closed", "status_changed material"],
  ["open → awarded", "status", "open", "awarded", "status_changed material"],
  ["open → archived", "status", "open", "archived", "status_changed material"],
  ["open → an unknown status", "status", "open", "Paused", "status_changed material"],

  ["closes_at earlier", "dates.closes_at", NOON, EARLIER, "date_changed critical"],
  ["closes_at later", "dates.closes_at", NOON, LATER, "date_changed material"],
  ["closes_at set", "dates.closes_at", undefined, NOON, "date_changed material"],
  ["closes_at cleared", "dates.closes_at", NOON, undefined, "date_changed material"],
  ["closes_at earlier although its text is greater", "dates.closes_at", NOON, "2026-03-01T16:59:59Z", "date_changed critical"],
  [
    "closes_at earlier by less than a millisecond",
    "dates.closes_at",
    "2026-03-01T12:00:00.0000Z",
    "2026-03-01T11:59:59.9999Z",
    "date_changed critical",
  ],
  [
    "closes_at 11:59:59 PM instead of 11:59 PM",
    "dates.closes_at",
    "2026-03-01T23:59:00-05:00",
    "2026-03-01T23:59:59-05:00",
    "date_changed cosmetic",
  ],
  [
    "response_at with earlier seconds, in another offset",
    "dates.response_at",
    "2026-03-01T23:59:59.9-05:00",
    "2026-03-02T04:59:00Z",
    "date_changed cosmetic",
  ],
  ["posted_at with other seconds", "dates.posted_at", "2026-03-01T12:00:01Z", "2026-03-01T12:00:02Z", "date_changed cosmetic"],
  ["response_at earlier", "dates.response_at", NOON, EARLIER, "date_changed critical"],
  ["response_at later", "dates.response_at", NOON, LATER, "date_changed material"],
  ["posted_at earlier", "dates.posted_at", NOON, EARLIER, "date_changed informational"],
  ["posted_at set", "dates.posted_at", undefined, NOON, "date_changed informational"],
  ["opens_at earlier", "dates.opens_at", NOON, EARLIER, "date_changed informational"],

  ["amount_min", "funding.amount_min", "1", "2", "funding_changed material"],
  ["amount_max", "funding.amount_max", "1", null, "funding_changed material"],
  ["funding from null", "funding", null, { display: "x" }, "funding_changed material"],
  ["funding to null", "funding", { amount_max: "1" }, null, "funding_changed material"],
  ...sameMoney.map(([before, after]): Row => [`from ${before} to ${after}`, "funding.display", before, after, "funding_changed cosmetic"]),
  ...otherMoney.map(([before, after]): Row => [`from ${before} to ${after}`, "funding.display", before, after, "funding_changed material"]),

  ["a title that says cancelled", "title", "Custodial Services", "CANCELLED: Custodial Services", "description_changed critical"],
  ["a title that says it in other words", "title", "CANCELED - Roof", "CANCELLED - Roofs", "description_changed informational"],
  ["a title that says it no longer", "title", "WITHDRAWN - Roof", "Roof", "description_changed informational"],
  ["a text that says rescinded", "description", "Bids are due.", "This notice is rescinded.", "description_changed material"],
  ["title", "title", "Robots", "Drones", "description_changed informational"],
  ["summary set", "summary", undefined, "New", "description_changed informational"],
  ["description cleared", "description", "Old", null, "description_changed informational"],
  ["white space", "title", "A  b\u00a0c", "A b\nc ", "description_changed cosmetic"],
  ["white space added or removed", "title", "Robo tics", "Robotics", "description_changed cosmetic"],
  ["letter case", "title", "SMALL STRASSE", "Small Straße", "description_changed cosmetic"],
  ["punctuation", "title", "Co-operative “R&D” (phase 1)", "Cooperative R&D, phase 1.", "description_changed cosmetic"],
  ["mark-up", "description", "<p>One <b>two</b></p>", "One<br/>two", "description_changed cosmetic"],
  ["mark-up within a word", "description", "H<sub>2</sub>O", "H2O", "description_changed cosmetic"],
  ["entities", "title", "A &amp; B", "A & B", "description_changed cosmetic"],
  ["entities escaped twice", "title", "It&amp;#8217;s", "It’s", "description_changed cosmetic"],
  ["mark-up escaped as entities", "description", "&lt;p&gt;One&lt;/p&gt;", "One", "description_changed cosmetic"],
  ["a digit within punctuation", "title", "Phase (1)", "Phase (2)", "description_changed informational"],
  ["a sign that is not punctuation", "title", "C", "C+", "description_changed informational"],
  ["text from null to empty", "summary", undefined, "", "description_changed cosmetic"],

  ["a question", "questions", [why], [why, when], "qanda_updated informational"],
  ["an answer", "questions", [when], [{ question: "When?", answer: "Now." }], "qanda_updated informational"],
  ["an attachment", "attachments", [spec], [spec, form], "attachments_changed material"],
  ["an attachment removed", "attachments", [spec], undefined, "attachments_changed material"],

  ["a note that names a date", "deadline_note", undefined, "December 1-15, annually", "date_changed material"],
  ["a note that says anytime", "deadline_note", "Accepted anytime", undefined, "date_changed material"],
  ["a note that names no date", "deadline_note", undefined, "By 5 pm, local time", "date_changed informational"],
  ["the punctuation of a note", "deadline_note", "Extended to May 1", "Extended to May 1.", "date_changed cosmetic"],
  ["requirements", "eligibility.requirements", undefined, "All", "field_updated material"],
  ["geographic scope", "eligibility.geographic_scope", undefined, "Ohio", "field_updated material"],
  ["set-aside types", "classifications.set_aside_types", ["SBA"], ["8A"], "field_updated material"],
  ["status_display", "status_display", undefined, "Posted", "field_updated cosmetic"],
  ["source.name", "source.name", "SAM", "SAM.gov", "field_updated cosmetic"],
  ["source.url", "source.url", undefined, "https://sam.gov/1", "field_updated cosmetic"],
  ["keywords", "classifications.keywords", ["a"], ["a", "b"], "field_updated informational"],
  ["another item repeated", "classifications.keywords", ["a", "b", "b"], ["a", "a", "b"], "field_updated informational"],
  ["contacts", "contacts", [ann], [bob], "field_updated informational"],
  ["agency", "organization.agency", "NASA", "NSF", "field_updated informational"],
  ["program type", "program.type", undefined, "GRANT", "field_updated informational"],
  ["parent", "relationships.parent_id", undefined, "0190c4a0-0000-7000-8000-000000000001", "field_updated informational"],

  ["keywords reordered", "classifications.keywords", ["a", "b"], ["b", "a"], "field_updated noise"],
  ["set-aside types reordered", "classifications.set_aside_types", ["8A", "SBA"], ["SBA", "8A"], "field_updated noise"],
  ["contacts reordered", "contacts", [ann, bob], [bob, ann], "field_updated noise"],
  ["attachments reordered", "attachments", [spec, form], [form, spec], "attachments_changed noise"],
  ["questions reordered", "questions", [why, when], [when, why], "qanda_updated noise"],
];

/** Changes that have another event for one reason. */
const reasons: Readonly<Record<Cause, readonly Row[]>> = {
  // What the clock changes, because a date that was known has passed.
  foreseen: [
    ["closing_soon → closed", "status", "closing_soon", "closed", "status_changed informational"],
    ["pre_release → open", "status", "pre_release", "open", "status_changed informational"],
    ["open → archived", "status", "open", "archived", "status_changed informational"],
    ["closed → open", "status", "closed", "open", "status_changed informational"],
    ["the next due date", "dates.response_at", NOON, LATER, "date_changed informational"],
  ],
  // Due dates that are listed where only the expiry was known.
  listed: [
    ["the last due date", "dates.closes_at", NOON, EARLIER, "date_changed material"],
    ["the next due date", "dates.response_at", NOON, EARLIER, "date_changed material"],
  ],
  // What an earlier version of the program did not read.
  "first read": [
    ["codes of a set-aside", "classifications.set_aside_types", [], ["SBA"], "field_updated cosmetic"],
    ["questions", "questions", [], [{ question: "Q?", answer: "A." }], "qanda_updated cosmetic"],
  ],
};
const explained = (Object.keys(reasons) as Cause[]).flatMap((because) => reasons[because].map((row) => ({ because, row })));

describe("the event table", () => {
  test.each(table.map((row) => ({ row })))("$row.0", ({ row }) => {
    const [, field, , , event] = row;
    const [type, severity] = event.split(" ");
    expect(classify(OPPORTUNITY, changesIn(row), NOW)).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field], changes: [expect.objectContaining({ field })] }),
    ]);
  });

  test.each(explained)("$because: $row.0", ({ because, row }) => {
    const [, field, , , event] = row;
    const [type, severity] = event.split(" ");
    expect(classify(OPPORTUNITY, changesIn(row), NOW, new Map([[field, because]]))).toEqual([
      expect.objectContaining({ type, severity, changed_fields: [field] }),
    ]);
    if (because === "foreseen")
      expect(classify(OPPORTUNITY, changesIn(row), NOW, new Map([["title", because]]))).not.toMatchObject([{ severity }]);
  });

  test("knows a note in the requirements of an earlier export", () => {
    const before = { eligibility: { requirements: "All\nDeadline note: by 5 pm" } };
    const events = eventsOf(before, { eligibility: { requirements: "All" }, deadline_note: "by 6 pm" });
    expect(events).toMatchObject([{ type: "date_changed", severity: "informational", changed_fields: ["deadline_note"] }]);
  });

  test("uses every rule", () => {
    const used = [
      ...table.flatMap((row) => changesIn(row).map((change) => ruleFor(change))),
      ...explained.flatMap(({ because, row }) => changesIn(row).map((change) => ruleFor(change, because))),
    ];
    const [, , ...fieldRules] = rules; // After the addition and the removal of a record as a whole.
    expect(fieldRules.filter((rule) => !used.includes(rule))).toEqual([]);
  });

  test("covers every compared field", () => {
    const covered = table.map(([, field]) => field);
    const alike = /^(organization|program|classifications|relationships)\.|^source\.opportunity_id$|^funding\.currency$/;
    expect(comparedFields.filter((field) => !covered.includes(field) && !alike.test(field))).toEqual([]);
  });

  test.each([
    ["the same amount", "funding.amount_max", "1", "1"],
    ["the same date", "dates.closes_at", NOON, NOON],
    ["a date with another offset", "dates.closes_at", NOON, NOON_ELSEWHERE],
    ["a date with more zeros", "dates.opens_at", NOON_ELSEWHERE, "2026-03-01T17:00:00.000Z"],
  ])("gives no event for %s", (_, field, before, after) => {
    expect(eventsOf(withField(field, before), withField(field, after))).toEqual([]);
  });
});

describe("detect()", () => {
  test("returns the values as the API renders them, in the resource's order", () => {
    const before = { title: "Old", dates: { closes_at: NOON }, classifications: { keywords: ["a"] } };
    const after = { classifications: { keywords: ["b"] }, dates: { closes_at: null, response_at: NOON_ELSEWHERE }, title: "New" };
    expect(detect(aContent(before), aContent(after))).toEqual([
      { field: "title", previous: "Old", current: "New" },
      { field: "dates.closes_at", previous: NOON, current: null },
      { field: "dates.response_at", previous: null, current: NOON_ELSEWHERE },
      { field: "classifications.keywords", previous: ["a"], current: ["b"] },
    ]);
  });

  test("reports funding that appears or disappears as the one field `funding`", () => {
    const whole = { currency: "USD", amount_min: null, amount_max: "5", display: null };
    expect(detect(aContent(), aContent({ funding: { amount_max: "5" } }))).toEqual([{ field: "funding", previous: null, current: whole }]);
    expect(detect(aContent({ funding: { amount_max: "5" } }), aContent())).toEqual([{ field: "funding", previous: whole, current: null }]);
  });

  test("compares amounts as text: 5 and 5.00 differ", () => {
    expect(detect(aContent({ funding: { amount_max: "5" } }), aContent({ funding: { amount_max: "5.00" } }))).toHaveLength(1);
  });
});

describe("classify()", () => {
  test("makes one event for each type, with the severity of its most severe change", () => {
    const before = {
      title: "Robots",
      summary: "All about robots",
      dates: { posted_at: NOON, closes_at: NOON, response_at: NOON },
      funding: { amount_max: "1", display: "a" },
      classifications: { keywords: ["a", "b"], set_aside_types: ["SBA"] },
    };
    const after = {
      title: "ROBOTS",
      summary: "All about drones",
      dates: { posted_at: LATER, closes_at: LATER, response_at: EARLIER },
      funding: { amount_max: "2", display: "b" },
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
    const [event] = eventsOf({ title: "Robots" }, { title: "Drones" });
    expect(event).toEqual({
      id: "a7b2ea91-7011-51d4-9a2a-13fca6c894ab",
      opportunity_id: OPPORTUNITY,
      type: "description_changed",
      severity: "informational",
      summary: "title changed from Robots to Drones",
      changed_fields: ["title"],
      changes: [{ field: "title", previous: "Robots", current: "Drones" }],
      detected_at: "2026-01-31T12:00:00.000Z",
    });
  });
});
