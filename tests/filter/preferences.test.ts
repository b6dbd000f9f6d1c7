/** What a question says besides what is sought. */
import { describe, expect, test } from "bun:test";
import { readFilter } from "../../src/filter/filter.ts";
import { readQuestion } from "../../src/filter/question.ts";

/** A Friday. */
const NOW = Date.parse("2026-11-27T18:00:00Z");
const read = (text: string) => {
  const { groups, preferences } = readQuestion(text);
  return { words: groups.map(({ asked }) => asked).join(" "), filters: preferences.map(({ filter }) => filter(NOW)) };
};

describe("a question prefers", () => {
  test.each([
    ["at least two million for battery storage", "battery storage", [{ min_amount: "2000000" }]],
    ["optics over $2.5M", "optics", [{ min_amount: "2500000" }]],
    ["optics $500k or more", "optics", [{ min_amount: "500000" }]],
    ["$50,000 arts grants", "arts", [{ min_amount: "50000" }]],
    ["arts up to half a million dollars", "arts", [{ max_amount: "500000" }]],
    ["arts between $100k and $500k", "arts", [{ min_amount: "100000", max_amount: "500000" }]],
    ["wildfire grants closing this month", "wildfire", [{ closes_after: "today", closes_before: "2026-12-01" }]],
    ["wildfire due next week", "wildfire", [{ closes_after: "2026-11-30", closes_before: "2026-12-07" }]],
    ["wildfire due in March", "wildfire", [{ closes_after: "2027-03-01", closes_before: "2027-04-01" }]],
    ["wildfire by March 15, 2028", "wildfire", [{ closes_after: "0d", closes_before: "2028-03-16" }]],
    ["wildfire before June", "wildfire", [{ closes_after: "0d", closes_before: "2027-06-01" }]],
    ["wildfire in the next 30 days", "wildfire", [{ closes_after: "0d", closes_before: "30d" }]],
    ["wildfire closing soon", "wildfire", [{ closes_after: "0d", closes_before: "30d" }]],
    ["wildfire posted in the last two weeks", "wildfire", [{ posted_after: "14d" }]],
    ["water infrastructure in Ohio", "water infrastructure Ohio", [{ place: ["OH"] }]],
    ["water infrastructure in new mexico", "water infrastructure new mexico", [{ place: ["NM"] }]],
    ["roofing in TX", "roofing", [{ place: ["TX"] }]],
    ["can a county apply for broadband money", "broadband", [{ applicant: ["county"] }]],
    ["solar that nonprofits can apply for", "solar", [{ applicant: ["nonprofit"] }]],
    ["solar for small businesses", "solar", [{ applicant: ["small-business"] }]],
    ["SDVOSB janitorial services", "janitorial services", [{ set_aside: ["SDVOSB"] }]],
    ["8(a) roofing", "roofing", [{ set_aside: ["8A"] }]],
    ["who won the dredging contract", "dredging contract", [{ status: ["awarded"] }]],
    ["quantum sensors open", "quantum sensors", [{ status: ["open", "closing_soon"] }]],
    ["which solar grants are still open?", "solar", [{ status: ["open", "closing_soon"] }]],
    ["prize for desalination", "prize desalination", [{ program_type: ["PRIZE"] }]],
    ["robots but not for the military", "robots", [{ words: "-military" }]],
    ["robots excluding toys", "robots", [{ words: "-toys" }]],
  ])("%p: finds %p, and prefers %j", (text, words, filters) => {
    expect(read(text)).toEqual({ words, filters });
    for (const filter of filters) expect(readFilter(filter, text)).toEqual(filter as never);
  });
});

test.each([
  "dredging in Ohio River basin",
  "New York City schools",
  "laser in OR optics",
  "march of dimes",
  "over 500 participants",
  "a $50 sensor",
  "housing for tribes",
  "one to two days",
  '"at least two million"',
  "+SDVOSB",
  "monthly reports",
  "open source software",
  "research software now open-source",
  "solar not open",
  "solar NOT currently open",
  "grants no longer open",
  "when does the CAREER call open",
  "forecast OR open",
  "solar about to open",
  "ARPA-E OPEN",
  "sensors not open to universities",
  "sensors not due this week",
])("%p says nothing besides what is sought", (text) => {
  expect(read(text).filters).toEqual([]);
});

test("where nothing else is left to find, what can stand in a text is found, and preferred", () => {
  expect(read("SDVOSB")).toEqual({ words: "SDVOSB", filters: [{ set_aside: ["SDVOSB"] }] });
  expect(read("in Ohio closing this month").words).toBe("Ohio");
  expect(read("open").words).toBe("open");
});

test("a month that is over is one of the next year, and this month never is", () => {
  expect(read("x due in November").filters).toEqual([{ closes_after: "2026-11-01", closes_before: "2026-12-01" }]);
  expect(read("x due by November 2").filters).toEqual([{ closes_after: "0d", closes_before: "2027-11-03" }]);
});
