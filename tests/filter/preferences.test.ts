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
    ["solar no more than $750,000", "solar", [{ max_amount: "750000" }]],
    ["solar not to exceed $50,000", "solar", [{ max_amount: "50000" }]],
    ["solar <= $50k", "solar", [{ max_amount: "50000" }]],
    ["solar no less than $50k", "solar", [{ min_amount: "50000" }]],
    ["solar minimum award 1 million", "solar", [{ min_amount: "1000000" }]],
    ["solar contracts below the $250,000 threshold", "solar contracts threshold", [{ max_amount: "250000" }]],
    ["solar half million dollars", "solar", [{ min_amount: "500000" }]],
    ["solar $1-5 million", "solar", [{ min_amount: "1000000", max_amount: "5000000" }]],
    ["more than one million in Ohio", "Ohio", [{ min_amount: "1000000" }, { place: ["OH"] }]],
    ["wildfire grants closing this month", "wildfire", [{ closes_after: "today", closes_before: "2026-12-01" }]],
    ["wildfire due next week", "wildfire", [{ closes_after: "2026-11-30", closes_before: "2026-12-07" }]],
    ["wildfire due in March", "wildfire", [{ closes_after: "2027-03-01", closes_before: "2027-04-01" }]],
    ["wildfire by March 15, 2028", "wildfire", [{ closes_after: "0d", closes_before: "2028-03-16" }]],
    ["wildfire before June", "wildfire", [{ closes_after: "0d", closes_before: "2027-06-01" }]],
    ["wildfire in the next 30 days", "wildfire", [{ closes_after: "0d", closes_before: "30d" }]],
    ["wildfire closing soon", "wildfire", [{ closes_after: "0d", closes_before: "30d" }]],
    ["wildfire posted in the last two weeks", "wildfire", [{ posted_after: "14d" }]],
    ["wildfire due 1/15/2027", "wildfire", [{ closes_after: "2027-01-15", closes_before: "2027-01-16" }]],
    ["wildfire due by 2027-01-15", "wildfire", [{ closes_after: "0d", closes_before: "2027-01-16" }]],
    ["wildfire due on 15 January", "wildfire", [{ closes_after: "2027-01-15", closes_before: "2027-01-16" }]],
    ["wildfire deadline is Sept. 3", "wildfire", [{ closes_after: "2027-09-03", closes_before: "2027-09-04" }]],
    ["wildfire no later than March 1", "wildfire", [{ closes_after: "0d", closes_before: "2027-03-02" }]],
    ["wildfire by the end of the year", "wildfire", [{ closes_after: "0d", closes_before: "2027-01-01" }]],
    ["wildfire due by August 2026", "wildfire", [{ closes_before: "2026-09-01" }]],
    ["wildfire due between January and March", "wildfire", [{ closes_after: "2027-01-01", closes_before: "2027-04-01" }]],
    ["wildfire due in less than 30 days", "wildfire", [{ closes_after: "0d", closes_before: "30d" }]],
    ["wildfire posted in October", "wildfire", [{ posted_after: "2026-10-01", posted_before: "2026-11-01" }]],
    ["wildfire published after October 15", "wildfire", [{ posted_after: "2026-10-16" }]],
    ["wildfire posted since December 1", "wildfire", [{ posted_after: "2025-12-01" }]],
    ["wildfire recently posted", "wildfire", [{ posted_after: "30d" }]],
    ["water infrastructure in Ohio", "water infrastructure Ohio", [{ place: ["OH"] }]],
    ["water infrastructure in new mexico", "water infrastructure new mexico", [{ place: ["NM"] }]],
    ["roofing in TX", "roofing", [{ place: ["TX"] }]],
    ["roofing in Washington, D.C.", "roofing Washington, d c", [{ place: ["DC"] }]],
    ["roofing in Washington DC", "roofing Washington DC", [{ place: ["DC"] }]],
    ["roofing in Ohio technology parks", "roofing Ohio technology parks", [{ place: ["OH"] }]],
    ["roofing in Texas or Oklahoma", "roofing Texas OR Oklahoma", [{ place: ["TX", "OK"] }]],
    ["roofing in New Mexico, Utah or AZ", "roofing New Mexico OR Utah", [{ place: ["NM", "UT", "AZ"] }]],
    ["roofing in San Diego, CA", "roofing San Diego,", [{ place: ["CA"] }]],
    ["roofing at Fort Hood, Texas", "roofing Fort Hood, Texas", [{ place: ["TX"] }]],
    ["can a county apply for broadband money", "broadband", [{ applicant: ["county"] }]],
    ["solar that nonprofits can apply for", "solar", [{ applicant: ["nonprofit"] }]],
    ["solar for small businesses", "solar", [{ applicant: ["small-business"] }]],
    ["solar for a 501(c)(3)", "solar", [{ applicant: ["nonprofit"] }]],
    ["solar, eligible applicants: tribes", "solar,", [{ applicant: ["tribe"] }]],
    ["as a nonprofit, solar", "solar", [{ applicant: ["nonprofit"] }]],
    ["roofing set aside for small businesses", "roofing", [{ set_aside: ["SBA"] }]],
    ["roofing reserved for HUB Zone firms", "roofing firms", [{ set_aside: ["HUBZONE"] }]],
    ["SDVOSB janitorial services", "janitorial services", [{ set_aside: ["SDVOSB"] }]],
    ["8(a) roofing", "roofing", [{ set_aside: ["8A"] }]],
    ["who won the dredging contract", "dredging contract", [{ status: ["awarded"] }]],
    ["quantum sensors open", "quantum sensors", [{ status: ["open", "closing_soon"] }]],
    ["which solar grants are still open?", "solar", [{ status: ["open", "closing_soon"] }]],
    ["what is currently open in solar", "solar", [{ status: ["open", "closing_soon"] }]],
    ["solar still accepting applications", "solar", [{ status: ["open", "closing_soon"] }]],
    ["prize for desalination", "prize desalination", [{ program_type: ["PRIZE"] }]],
    ["robots but not for the military", "robots", [{ words: "-military" }]],
    ["robots excluding toys", "robots", [{ words: "-toys" }]],
    ["robots except toys and drones", "robots", [{ words: "-toys -drones" }]],
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
  "over 2 million people",
  "at least 10 thousand tons",
  "1 to 2 million gallons per day",
  "cover 3 million acres or more",
  "at least 5 mm",
  "over 10 m depth",
  "below 4 K",
  "over 4K video",
  "grants that may help in fiscal 2027",
  "up to 100 pages",
  "football in Ohio State",
  "made in Virginia Tech",
  "study at Texas A&M",
  "research in the VA",
  "PTSD in VA hospitals",
  "research in AI",
  "except in Alaska",
  "before the war after May",
  "by March of Dimes",
  "effects by may beetles",
  "project ending in June",
  "due 15/01/2027",
  "prize-winning research",
  "not for profit hospitals",
  "not set aside for small business",
  "other than full and open competition",
  "currently open source software",
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
