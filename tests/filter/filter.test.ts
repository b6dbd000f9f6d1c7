import { describe, expect, test } from "bun:test";
import { describeFilter, type Filter, matches, readFilter } from "../../src/filter/filter.ts";
import { readQuestion } from "../../src/filter/question.ts";
import { noSidecar, type Sidecar, type WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { NOON } from "../support/imports.ts";

/** An opportunity with every field that a filter looks at. */
const opportunity: WholeOpportunity = {
  id: "0b0a7f5e-0000-5000-8000-000000000000",
  source: { code: "SAM_GOV", name: "SAM.gov", opportunity_id: "N1", url: null },
  title: "Title",
  summary: null,
  description: null,
  status: "open",
  status_display: null,
  organization: { agency: "DEPT OF DÉFENSE", sub_agency: "DEPT OF THE NAVY", issuing_office: null },
  program: { type: "RFP", solicitation_id: "S-1", solicitation_title: null, contract_class: null },
  funding: { currency: "USD", amount_min: "1000.50", amount_max: "9007199254740993.01", display: null },
  dates: {
    posted_at: "2026-02-01T00:00:00-05:00",
    opens_at: null,
    closes_at: "2026-03-31T23:59:59-04:00",
    response_at: null,
  },
  classifications: {
    keywords: [],
    technology_areas: [],
    tech_taxonomy: ["PSC:AC12", "ALN:93.242"],
    naics_codes: ["541715"],
    set_aside_types: ["8A"],
  },
  eligibility: { requirements: "Small businesses", geographic_scope: null },
  contacts: [],
  value_estimate: null,
  relationships: { parent_id: null, canonical_id: null },
  created_at: "2026-02-01T12:00:00.000Z",
  updated_at: "2026-02-02T12:00:00.000Z",
  sidecar: { ...noSidecar, applicant_types: ["06", "20"], place: { city: "Akron", state: "OH", country: "USA" } },
};

const isMatch = (json: unknown) => matches(readFilter(json, "the filter"), opportunity, NOON);

describe("matches()", () => {
  test.each([
    {},
    { id: "0B0A7F5E-0000-5000-8000-000000000000,0b0a7f5e-0000-5000-8000-000000000001" },
    { status: ["open", "closed"] },
    { status: "OPEN,closed" },
    { source: ["sam_gov"] },
    { agency: "défense" },
    { agency: "navy" },
    { agency: ["DOD"] },
    { agency: "EPA,USN" },
    { agency: "DEPT OF DÉF" },
    { program_type: "rfp" },
    { naics: ["5417"] },
    { psc: ["ac"] },
    { listing: ["93.242"] },
    { listing: ["93"] },
    { set_aside: ["8(a)"] },
    { set_aside: ["8A"] },
    { applicant: "university" },
    { applicant: ["tribe", "UNIVERSITY"] },
    { applicant: ["06"] },
    { place: "Ohio" },
    { place: ["TX", "oh"] },
    { place: "United States" },
    { words: "ohio" },
    { eligibility: "SMALL" },
    { posted_after: "2026-02-01" },
    { posted_before: "2026-02-02" },
    { posted_after: "-30d" },
    { closes_before: "31d" },
    { closes_before: "2026-04-01" },
    { closes_after: "2026-03-31T23:59:59-04:00" },
    { min_amount: "$9,007,199,254,740,993.01" },
    { max_amount: "1000.5" },
    { min_amount: "9007199254.74099301m", max_amount: "1.0005k" },
    { posted_before: "Yesterday", updated_after: "2026-02-01", closes_after: "tomorrow" },
    { updated_after: "2026-02-02T11:59:59.999Z" },
    { status: ["open"], agency: "navy", naics: ["11", "541715"] },
  ])("finds it by %j", (json) => {
    expect(isMatch(json)).toBe(true);
  });

  test.each([
    { id: ["0b0a7f5e-0000-5000-8000-000000000001"] },
    { status: ["closed"] },
    { source: ["SAM"] },
    { agency: "army" },
    { agency: "fense" },
    { agency: ["NIH", "of navy"] },
    { program_type: ["GRANT"] },
    { naics: ["417"] },
    { psc: ["93"] },
    { listing: ["93.24"] },
    { listing: ["24"] },
    { set_aside: ["8AN"] },
    { applicant: ["tribe", "small-business"] },
    { applicant: ["unrestricted"] },
    { place: ["IA", "Germany"] },
    { eligibility: "large" },
    { posted_before: "2026-02-01" },
    { opens_after: "2000-01-01" },
    { opens_before: "2100-01-01" },
    { closes_before: "30d" },
    { closes_before: "2026-03-31" },
    { closes_before: "2026-03-31T23:59:59-04:00" },
    { min_amount: "9007199254740993.02" },
    { max_amount: "1000.49" },
    { min_amount: "9007199254.74099302M" },
    { max_amount: "1k" },
    { closes_before: "today" },
    { updated_after: "2026-02-02T12:00:00Z" },
    { status: ["open"], agency: "army" },
  ])("does not find it by %j", (json) => {
    expect(isMatch(json)).toBe(false);
  });
});

const given = (code: string, sidecar: Partial<Sidecar>, set_aside_types: string[] = []) => ({
  ...opportunity,
  source: { ...opportunity.source, code },
  classifications: { ...opportunity.classifications, set_aside_types },
  sidecar: { ...noSidecar, ...sidecar },
});

test.each<[string, Partial<Sidecar>, unknown, boolean]>([
  ["GRANTS_GOV", { applicant_types: ["99"] }, "tribe", true],
  ["GRANTS_GOV", { applicant_types: ["99"] }, "unrestricted", true],
  ["GRANTS_GOV", { applicant_types: ["25"] }, "tribe", false],
  ["GRANTS_GOV", {}, "small-business", false],
  ["SBIR_GOV", {}, "small-business", true],
  ["DSIP", {}, "small-business", true],
  ["DSIP", {}, "university", false],
])("a record of %s with %j is met by the applicant %j: %p", (code, sidecar, applicant, expected) => {
  expect(matches(readFilter({ applicant }, "the filter"), given(code, sidecar), NOON)).toBe(expected);
});

test.each<[Sidecar["place"], string, boolean]>([
  [{ city: null, state: "TX", country: null }, "Texas", true],
  [{ city: null, state: "TX", country: null }, "USA", true],
  [{ city: null, state: "DE-RP", country: "DEU" }, "Delaware", false],
  [{ city: null, state: "MN-1", country: "MNG" }, "MN", false],
  [{ city: null, state: null, country: "DEU" }, "germany", true],
  [{ city: null, state: null, country: "DEU" }, "DE", false],
  [{ city: null, state: "CA", country: "CANADA" }, "CA", false],
  [{ city: null, state: null, country: "PRI" }, "PR", true],
  [{ city: null, state: "PR", country: "USA" }, "Puerto Rico", true],
  [{ city: null, state: null, country: "GEO" }, "Georgia", false],
  [{ city: null, state: null, country: "JPN" }, "jp", true],
  [{ city: "Paris", state: "N/A", country: "AX1" }, "AX", false],
])("the place %j is met by %j: %p", (place, sought, expected) => {
  expect(matches(readFilter({ place: sought }, "the filter"), given("SAM_GOV", { place }), NOON)).toBe(expected);
});

test.each([
  ["8a", ["8A", "8AN"]],
  ["8AN", ["8AN"]],
  ["SDVOSB", ["SDVOSBC", "SDVOSBS"]],
  ["SDVOSBC", ["SDVOSBC"]],
  ["HUBZone", ["HZC", "HZS"]],
  ["HZS", ["HZS"]],
  ["WOSB", ["WOSB", "WOSBSS"]],
  ["EDWOSB", ["EDWOSB", "EDWOSBSS"]],
  ["sba", ["SBA", "SBP"]],
  ["SBP", ["SBP"]],
  ["IEE", ["IEE"]],
  ["RSB", []],
])("the set-aside %s finds %p", (set_aside, expected) => {
  const codes = ["8A", "8AN", "SDVOSBC", "SDVOSBS", "HZC", "HZS", "WOSB", "WOSBSS", "EDWOSB", "EDWOSBSS", "SBA", "SBP", "IEE"];
  const filter = readFilter({ set_aside: [set_aside] }, "the filter");
  expect(codes.filter((code) => matches(filter, given("SAM_GOV", {}, [code]), NOON))).toEqual(expected);
});

describe("readFilter() refuses", () => {
  test.each<[unknown, string]>([
    [[], 'it must be a JSON object of filters, such as {"status": ["open"]}'],
    [{ closes_befor: "30d" }, 'there is no filter "closes_befor" (did you mean "closes_before"?)'],
    [{ "set-aside": "SBA" }, 'there is no filter "set-aside" (did you mean "set_aside"?)'],
    [{ toString: "x" }, 'there is no filter "toString"'],
    [{ status: ["opne"] }, '(did you mean "open"?)'],
    [{ set_aside: ["HUBZNE"] }, 'must be a set-aside code such as SBA or 8A; not "HUBZNE" (did you mean "HUBZONE"?)'],
    [{ status: [] }, '"status" must not be empty or contain an empty value'],
    [{ source: ["A", " "] }, '"source" must not be empty or contain an empty value'],
    [{ source: Array(51).fill("A") }, '"source" must have at most 50 values'],
    [{ naics: [5417] }, '"naics" must be a list of texts'],
    [{ naics: "54-17" }, '"naics" must be 2 to 6 digits; not "54-17"'],
    [{ agency: " " }, '"agency" must be a text that is not blank'],
    [{ agency: "NIH,," }, '"agency" must be a text that is not blank'],
    [{ id: ["0b0a7f5e"] }, '"id" must be ids of opportunities; not "0b0a7f5e"'],
    [{ id: Array.from({ length: 201 }, (_, n) => `0b0a7f5e-0000-5000-8000-000000000${n + 100}`) }, '"id" must have at most 200 values'],
    [{ agency: [] }, '"agency" must be a list of agencies'],
    [{ agency: ["--"] }, '"agency" must have letters or digits; not "--"'],
    [{ agency: Array(51).fill("A") }, '"agency" must have at most 50 values'],
    [{ agency: "défense\ndept" }, '"agency" must not contain control characters'],
    [{ agency: "x".repeat(201) }, '"agency" must have at most 200 characters'],
    [{ applicant: ["univeristy"] }, 'or a code such as 06; not "univeristy" (did you mean "university"?)'],
    [{ applicant: ["6"] }, '"applicant" must be of university, small-business, for-profit, nonprofit,'],
    [{ place: "Texs" }, 'such as TX, Texas, DEU or Germany; not "Texs" (did you mean "Texas"?)'],
    [{ closes_before: "2026-02-30" }, '"closes_before" must be a time from now such as 30d or -7d, yesterday'],
    [{ closes_before: "30" }, '"closes_before" must be a time from now'],
    [{ closes_before: 30 }, '"closes_before" must be a time from now'],
    [{ min_amount: 250000 }, '"min_amount" must be an amount in dollars as text, such as "250000"'],
    [{ min_amount: "5 million" }, '"min_amount" must be an amount in dollars, such as "250000"'],
    [{ closes_before: "someday" }, "yesterday, today, tomorrow, a weekday such as monday, a date such as 2026-12-31"],
    [{ min_amount: "1e6" }, '"min_amount" must be an amount in dollars, such as "250000"'],
  ])("%j", (json, reason) => {
    expect(() => readFilter(json, "filter.json")).toThrow("Cannot read filter.json: ");
    expect(() => readFilter(json, "filter.json")).toThrow(reason);
  });
});

test("describeFilter() says every condition in words", () => {
  const filter: Filter = readFilter(
    {
      status: ["open", "closing_soon"],
      agency: "NIH,Energ",
      naics: ["5417"],
      closes_before: "30d",
      posted_after: "2026-01-01",
      min_amount: "1250000.5",
      max_amount: "$2.5m",
      opens_after: "tomorrow",
    },
    "the filter",
  );
  expect(describeFilter(filter, NOON)).toEqual([
    "status open or closing_soon",
    'agency: National Institutes of Health (NIH) and its institutes or a name with "Energ"',
    "NAICS 5417",
    "posted after 2026-01-01",
    "opens after Mar 2, 2026, 5:00 AM UTC (tomorrow)",
    "closes before Mar 31, 2026, 12:00 PM UTC (30d)",
    "awards of $1,250,000.5 or more",
    "awards of $2,500,000 or less",
  ]);
});

test("no words reach the tags of the index", () => {
  const { groups, excluded } = readQuestion("\ue000accepting -\ue001nsf");
  expect([...groups, ...excluded].map(({ asked }) => asked)).toEqual(["accepting", "nsf"]);
});
