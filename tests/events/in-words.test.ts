import { describe, expect, test } from "bun:test";
import { changesInWords } from "../../src/events/in-words.ts";
import { amountInWords } from "../../src/opportunities/funding.ts";

const changed = (...changes: [field: string, previous: unknown, current: unknown][]) => ({
  id: "",
  opportunity_id: "",
  type: "field_updated",
  severity: "material",
  summary: "Something changed",
  changed_fields: changes.map(([field]) => field),
  changes: changes.map(([field, previous, current]) => ({ field, previous, current })),
  detected_at: "2026-03-01T12:00:00.000Z",
});
const wordsOf = (...changes: Parameters<typeof changed>) => changesInWords(changed(...changes));
const named = (...names: string[]) => names.map((name) => ({ name, url: null }));
const long = "word ".repeat(40);

describe("changesInWords()", () => {
  test("names the ids of an amended notice last", () => {
    expect(wordsOf(["source.opportunity_id", "aa", "bb"], ["source.url", "https://a.gov", "https://b.gov"], ["title", "A", "B"])).toEqual([
      "title changed from “A” to “B”",
      "upstream id changed from aa to bb",
      "address changed from https://a.gov to https://b.gov",
    ]);
  });

  test.each([
    ["2026-03-03T17:00:00-05:00", "2026-02-20T17:00:00-05:00", "moved from Mar 3 to Feb 20, 2026 (11 days earlier)"],
    ["2026-12-18T17:00:00-05:00", "2027-01-05T17:00:00-05:00", "moved from Dec 18, 2026 to Jan 5, 2027 (18 days later)"],
    // The day on which daylight saving time begins has 23 hours.
    ["2026-03-07T17:00:00-05:00", "2026-03-08T17:00:00-04:00", "moved from Mar 7 to Mar 8, 2026 (1 day later)"],
    [
      "2027-03-01T17:00:00-05:00",
      "2027-03-02T16:00:00-05:00",
      "moved from Mar 1, 2027, 5:00 PM ET to Mar 2, 2027, 4:00 PM ET (23 hours later)",
    ],
    [
      "2027-03-01T17:00:00-05:00",
      "2027-03-11T17:00:00-07:00",
      "moved from Mar 1, 2027, 5:00 PM ET to Mar 11, 2027, 5:00 PM UTC-7 (10 days 2 hours later)",
    ],
    // The calendar days say two days.
    [
      "2026-03-07T23:59:00-05:00",
      "2026-03-09T00:01:00-04:00",
      "moved from Mar 7, 2026, 11:59 PM ET to Mar 9, 2026, 12:01 AM ET (23 hours 2 minutes later)",
    ],
    // The calendar days say one day later.
    [
      "2027-03-01T23:00:00-05:00",
      "2027-03-02T00:30:00Z",
      "moved from Mar 1, 2027, 11:00 PM ET to Mar 2, 2027, 12:30 AM UTC (3 hours 30 minutes earlier)",
    ],
    [
      "2027-03-01T23:59:59-05:00",
      "2027-03-02T00:00:00-05:00",
      "moved from Mar 1, 2027, 11:59 PM ET to Mar 2, 2027, 12:00 AM ET (1 minute later)",
    ],
    [
      "2026-03-03T09:00:00-05:00",
      "2026-03-04T23:00:00-05:00",
      "moved from Mar 3, 2026, 9:00 AM ET to Mar 4, 2026, 11:00 PM ET (1 day 14 hours later)",
    ],
    ["2026-03-03T00:00:00-12:00", "2026-03-03T12:00:00+00:00", "restated within the same minute: Mar 3, 2026, 12:00 PM UTC"],
    ["2026-03-03T23:59:00-05:00", "2026-03-03T23:59:59-05:00", "restated within the same minute: Mar 3, 2026, 11:59 PM ET"],
    [
      "2026-03-03T00:00:00-05:00",
      "2026-03-03T23:59:59-05:00",
      "moved from 12:00 AM to 11:59 PM ET on Mar 3, 2026 (23 hours 59 minutes later)",
    ],
    ["2026-03-03T17:00:00-05:00", "2026-03-03T18:30:00-05:00", "moved from 5:00 PM to 6:30 PM ET on Mar 3, 2026 (1 hour 30 minutes later)"],
    ["2026-03-03T17:00:00-05:00", "2026-03-03T15:00:00-07:00", "restated within the same minute: Mar 3, 2026, 3:00 PM UTC-7"],
    ["some day", "2026-03-03T17:00:00-05:00", "changed from some day to Mar 3, 2026"],
  ])("deadline from %s to %s", (previous, current, words) => {
    expect(wordsOf(["dates.closes_at", previous, current])).toEqual([`deadline ${words}`]);
  });

  test.each<[string, unknown, unknown, string]>([
    [
      "dates.opens_at",
      "2026-03-03T17:00:00-05:00",
      "2026-03-03T17:00:00-07:00",
      "opening date moved from 5:00 PM ET to 5:00 PM UTC-7 on Mar 3, 2026 (2 hours later)",
    ],
    ["dates.response_at", null, "2026-03-03T17:00:00-05:00", "response date set to Mar 3, 2026"],
    ["dates.posted_at", "2026-03-03T00:00:00-05:00", null, "posting date removed; it was Mar 3, 2026"],
    ["relationships.canonical_id", null, "e70c298d-0672-540d-a9c2-c846a82fdc58", "link to the same opportunity in another source added"],
    ["relationships.parent_id", "e70c298d-0672-540d-a9c2-c846a82fdc58", null, "link to a parent opportunity removed"],
    ["status", "open", "closing_soon", "status changed from open to closing soon"],
    ["status", "pre_release", "open", "status changed from pre-release to open"],
    ["funding.amount_max", "1000000.00", "1500000.50", "largest award raised from $1,000,000 to $1,500,000.50"],
    ["funding.amount_min", "250000", "99999", "smallest award lowered from $250,000 to $99,999"],
    [
      "funding",
      null,
      { display: "Up to $20,000.00 per award", amount_min: "1000", amount_max: "20000" },
      "funding set to $1,000 to $20,000",
    ],
    [
      "funding",
      null,
      { display: "Up to $20,000 per award; $1,000,000 total", amount_min: null, amount_max: "20000" },
      "funding set to up to $20,000 per award; $1,000,000 total",
    ],
    ["funding.amount_max", "1000", "1000.00", "largest award written as 1000.00 instead of 1000, the same amount"],
    ["funding", null, { display: null, amount_min: null, amount_max: "20000" }, "funding set to up to $20,000 per award"],
    ["funding", { display: null, amount_min: "1000", amount_max: null }, null, "funding removed; it was at least $1,000 per award"],
    ["funding", null, { display: null, amount_min: "1000", amount_max: "1000" }, "funding set to $1,000"],
    ["funding", { display: "varies", amount_min: null, amount_max: null }, null, "funding removed; it was varies"],
    ["funding.display", "$1", "$2", "funding changed from “$1” to “$2”"],
    [
      "funding.display",
      "Awarded $94,083.00 to ACME &amp; SONS",
      "Awarded $36,800.00 to ZENITH LLC",
      "funding changed from “Awarded $94,083.00 to ACME & SONS” to “Awarded $36,800.00 to ZENITH LLC”",
    ],
    [
      "funding.display",
      "Up to $5,000 per award; 3 awards expected",
      "Up to $5,000 per award; $10,772,270 total; 3 awards expected",
      "funding: “$10,772,270 total” added",
    ],
    ["funding.display", "$10,772,270 total", null, "funding: “$10,772,270 total” removed"],
    ["funding.display", "3 awards expected; $5 total", "$5 total; 3 awards expected", "funding changed"],
    ["funding.display", long, "$5 total", `funding changed from “${long.trim().slice(0, 159)}…” to “$5 total”`],
    ["title", "Solar sail", "Solar &amp; lunar sails", "title changed from “Solar sail” to “Solar & lunar sails”"],
    ["title", long, "Solar sail", "title changed to “Solar sail”"],
    ["description", long, `${long}more`, "description changed"],
    ["description", null, long, "description added"],
    ["description", long, null, "description removed"],
    ["organization.sub_agency", null, "NASA", "sub-agency set to NASA"],
    ["classifications.naics_codes", ["541715"], ["541715", "541713"], "NAICS codes: 541713 added"],
    ["classifications.naics_codes", ["1", "2"], ["2", "3"], "NAICS codes: 3 added; 1 removed"],
    ["classifications.naics_codes", ["1", "2"], ["2", "1"], "NAICS codes reordered"],
    ["classifications.keywords", [], ["a", "b", "c", "d", "e"], "keywords: a, b, c and 2 more added"],
    ["classifications.keywords", ["a", "b", "…"], ["b", "c", "…"], "keywords changed"],
    ["evaluation", "…", "…", "evaluation changed"],
    ["attachments", named("A.pdf"), named("A.pdf", "B.pdf"), "attachments: B.pdf added"],
    ["attachments", [{ name: "A.pdf", url: "x" }], [{ name: "A.pdf", url: "y" }], "attachments changed"],
    ["questions", [], [{ question: "May we apply?", answer: "Yes" }], "questions and answers: May we apply? added"],
    ["classifications.naics_codes", ["1"], ["2", "2"], "NAICS codes: 2 added; 1 removed"],
    ["contacts", [{ name: "Ada" }], [{ name: "Grace" }], "contacts changed"],
    ["contacts.0.name", "Ada", "Grace", "contacts changed"],
    ["program.e-mail", "ada@example.gov", null, "contacts changed"],
    ["people.ada@example.gov", null, "Grace", "contacts changed"],
    ["unheard.of", 1, { any: "value" }, "of changed"],
  ])("%s from %j to %j", (field, previous, current, words) => {
    expect(wordsOf([field, previous, current])).toEqual([words]);
  });

  test("leaves out what another change already says", () => {
    const [before, after] = ["2026-03-03T17:00:00-05:00", "2026-04-03T17:00:00-04:00"];
    expect(wordsOf(["dates.closes_at", before, after], ["dates.response_at", before, after])).toHaveLength(1);
    expect(wordsOf(["dates.closes_at", before, after], ["dates.response_at", null, after])).toHaveLength(2);
    expect(wordsOf(["funding.amount_max", "1", "2"], ["funding.display", "$1", "$2"])).toEqual(["largest award raised from $1 to $2"]);
    const awarded = (to: string, of: string): Parameters<typeof wordsOf> => [
      ["funding.amount_max", "94083.00", of],
      ["funding.display", "Awarded $94,083.00 to ACME CORP. Norfolk VA 23323 USA", to],
    ];
    for (const [of, to] of [
      ["36800.00", "Awarded $36,800.00 to ZENITH LLC"],
      ["94084.00", "Awarded $94,084.00 to ACME CORP"],
    ] as const)
      expect(wordsOf(...awarded(to, of))[1]).toBe(
        `funding changed from “Awarded $94,083.00 to ACME CORP. Norfolk VA 23323 USA” to “${to}”`,
      );
    expect(wordsOf(["funding.amount_max", "1", "2"], ["funding.display", "Awarded $1 to ACME", "Awarded $2 to ZENITH"])).toHaveLength(2);
    const perAward: Parameters<typeof wordsOf> = [
      ["funding.amount_max", null, "9"],
      ["funding.display", "At least $5 per award; $7 total", "Up to $9 per award; $7 total"],
    ];
    expect(wordsOf(...perAward)).toEqual(["largest award set to $9"]);
    expect(wordsOf(["funding.amount_max", "1", "2"], ["funding.display", "Up to $1; $9 total", "Up to $2; $10 total"])).toEqual([
      "largest award raised from $1 to $2",
      "funding changed from “$9 total” to “$10 total”",
    ]);
  });

  test("has a sentence for events without changed fields", () => {
    const words = (type: string, summary: string | null) => changesInWords({ ...changed(), type, summary })[0];
    expect(words("opportunity_added", "Added")).toBe("added");
    expect(words("opportunity_removed", null)).toBe("no longer published by its source");
    expect(words("unknown", "Merged")).toBe("Merged");
    expect(words("qanda_updated", null)).toBe("qanda updated");
  });

  test("never names contacts, which other systems' events may have in the summary, too", () => {
    const words = (changed_fields: string[], summary: string) => changesInWords({ ...changed(), changed_fields, summary });
    expect(words(["contacts"], "Ada left")).toEqual(["contacts changed"]);
    expect(words([], "Write to ada@example.gov")).toEqual(["field updated"]);
    expect(wordsOf(["contacts.0.name", "Ada", "Grace"], ["title", "A", "B"], ["contacts.0.phone", "1", "2"])).toEqual([
      "title changed from “A” to “B”",
      "contacts changed",
    ]);
  });

  test("tells directions and distances as the instants have them, whatever the offsets", () => {
    const offsets = ["-12:00", "-05:00", "-04:00", "Z", "+05:30", "+14:00"];
    const hours = ["00:00:00", "00:30:00", "11:00:00", "23:00:00", "23:59:59"];
    const texts = ["2027-03-01", "2027-03-02", "2027-03-14"].flatMap((day) =>
      hours.flatMap((hour) => offsets.map((offset) => `${day}T${hour}${offset}`)),
    );
    for (const previous of texts)
      for (const current of texts) {
        const [words = ""] = wordsOf(["dates.closes_at", previous, current]);
        const minutes = Math.floor(Date.parse(current) / 60_000) - Math.floor(Date.parse(previous) / 60_000);
        const [, days = 0, hours = 0, rest = 0, direction] =
          /\((?:(\d+) days? ?)?(?:(\d+) hours? ?)?(?:(\d+) minutes? ?)?(later|earlier)\)$/.exec(words) ?? [];
        expect([words, direction]).toEqual([words, minutes === 0 ? undefined : minutes > 0 ? "later" : "earlier"]);
        const told = Number(days) * 1440 + Number(hours) * 60 + Number(rest);
        // Days alone may be off by the hour of daylight saving time.
        const tolerance = words.includes("M ") ? 0 : 60;
        expect([words, Math.abs(Math.abs(minutes) - told) <= tolerance]).toEqual([words, true]);
      }
  });

  test("gives times if the day is the same, in the reader's zone", () => {
    const event = changed(["dates.closes_at", "2026-03-03T23:00:00-05:00", "2026-03-03T23:59:00-05:00"]);
    expect(changesInWords(event, "Europe/Berlin")).toEqual([
      "deadline moved from 5:00 AM to 5:59 AM UTC+1 on Mar 4, 2026 (59 minutes later)",
    ]);
    const summer = changed(["dates.closes_at", "2026-03-03T17:00:00+01:00", "2026-04-03T17:00:00+02:00"]);
    expect(changesInWords(summer, "Europe/Berlin")).toEqual(["deadline moved from Mar 3 to Apr 3, 2026 (31 days later)"]);
  });
});

test("amountInWords() keeps every digit", () => {
  expect(amountInWords("12345678901234567890.10")).toBe("$12,345,678,901,234,567,890.10");
  expect(amountInWords("-1000")).toBe("-$1,000");
});

test("a code of Grants.gov is named by its label", () => {
  expect(wordsOf(["classifications.tech_taxonomy", ["ALN:12.420"], ["ALN:12.420", "FAC:HL", "FAC:XX"]])).toEqual([
    "classification codes: Health (FAC:HL), FAC:XX added",
  ]);
});
