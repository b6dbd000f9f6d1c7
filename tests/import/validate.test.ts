import { describe, expect, test } from "bun:test";
import { Rejection, readNaturalKey, validateRecord } from "../../src/import/validate.ts";
import { noSidecar, Opportunity } from "../../src/opportunities/opportunity.ts";

const names = new Map([["SAM", "SAM.gov"]]);
const judge = (record: unknown) => validateRecord(record, names);
const source = { code: "SAM", opportunity_id: "N0" };
const with_ = (fields: object) => ({ source, title: "A title", ...fields });
const coded = (code: string) => with_({ source: { code, opportunity_id: "1" } });

/** Everything there is, in the resource's order. */
const whole = {
  source: { code: "SAM", name: "Sam", opportunity_id: "N0", url: "https://sam.gov/N0" },
  title: "A title",
  summary: "Short",
  description: "<p>Long</p>",
  status: "Paused",
  status_display: "On hold",
  organization: { agency: "NASA", sub_agency: "GSFC", issuing_office: "Code 210" },
  program: { type: "BAA", solicitation_id: "S-1", solicitation_title: "Call", contract_class: "Notice" },
  funding: { currency: "USD", amount_min: "0.50", amount_max: "-12345678901234567890.1234567890", display: "about" },
  dates: {
    posted_at: "2026-01-01T00:00:00-05:00",
    opens_at: "2026-01-02t00:00:00z",
    closes_at: "2016-12-31T23:59:60Z",
    response_at: "2026-01-01T00:00:00.123456789+14:00",
  },
  classifications: {
    keywords: ["a"],
    technology_areas: ["b"],
    tech_taxonomy: ["PSC:AC12"],
    naics_codes: ["541715"],
    set_aside_types: ["SBA"],
  },
  eligibility: { requirements: "Small", geographic_scope: "Ohio" },
  contacts: [{ name: "Ann", email: "ann@example.gov", phone: "1", role: "Officer" }],
  value_estimate: null,
  relationships: { parent_id: "0190c4a0-0000-7000-8000-000000000001", canonical_id: "0190c4a0-0000-7000-8000-000000000002" },
  attachments: [{ name: "spec.pdf", url: "https://sam.gov/spec.pdf", kind: "Solicitation", size: 1200 }],
  questions: [{ question: "Why?", answer: "Because." }],
  questions_read: true,
  agency_codes: ["HHS-NIH11"],
  due_dates: [{ at: "2026-03-31T17:00:00-04:00", words: "March 31, 2026" }],
  expires_at: "2026-04-30T17:00:00-04:00",
  deadline_note: "By 5 pm",
  applicant_types: ["06", "99"],
  place: { city: "Akron", state: "OH", country: "USA" },
  award: { number: "A-1", date: "2026-02-01", amount: "5.00", awardee: "Acme" },
};

describe("validateRecord()", () => {
  test("fills absent fields with null and [], the source's name from the catalog, the lineage from the upstream id", () => {
    expect(judge(with_({}))).toEqual({
      lineage: "N0",
      earlier_ids: [],
      status_basis: "dates",
      content: {
        source: { code: "SAM", name: "SAM.gov", opportunity_id: "N0", url: null },
        title: "A title",
        summary: null,
        description: null,
        status: "",
        status_display: null,
        organization: { agency: null, sub_agency: null, issuing_office: null },
        program: { type: null, solicitation_id: null, solicitation_title: null, contract_class: null },
        funding: null,
        dates: { posted_at: null, opens_at: null, closes_at: null, response_at: null },
        classifications: { keywords: [], technology_areas: [], tech_taxonomy: [], naics_codes: [], set_aside_types: [] },
        eligibility: { requirements: null, geographic_scope: null },
        contacts: [],
        value_estimate: null,
        relationships: { parent_id: null, canonical_id: null },
        ...noSidecar,
      },
    });
  });

  test("keeps the ids of other records in lower case", () => {
    const relationships = { parent_id: "0190C4A0-0000-7000-8000-00000000000A", canonical_id: null };
    const stored = { parent_id: "0190c4a0-0000-7000-8000-00000000000a", canonical_id: null };
    expect(judge(with_({ relationships })).content.relationships).toEqual(stored);
  });

  test("keeps a complete record unchanged, with its keys in the resource's order", () => {
    const { content } = judge({ ...whole, lineage: "L", earlier_ids: ["M"], id: "ignored" });
    expect(JSON.stringify(content)).toBe(JSON.stringify(whole));
    expect(Object.keys(content)).toEqual([
      ...Object.keys(Opportunity.properties).filter((name) => !["id", "created_at", "updated_at"].includes(name)),
      ...Object.keys(noSidecar),
    ]);
  });

  test("puts the keys of a record in the resource's order, however they come", () => {
    const reversed = Object.fromEntries(
      Object.entries({ ...whole, contacts: [{ role: "Officer", phone: "1", email: "e", name: "Ann" }] }).reverse(),
    );
    const { content } = judge(reversed);
    expect(Object.keys(content)).toEqual(Object.keys(whole));
    expect(Object.keys(content.contacts[0] ?? {})).toEqual(["name", "email", "phone", "role"]);
  });

  test("upper-cases the source code and names a source that the catalog does not know by its code", () => {
    expect(judge(with_({ source: { code: "sam", opportunity_id: "1" } })).content.source).toMatchObject({ code: "SAM", name: "SAM.gov" });
    expect(judge(with_({ source: { code: "mine", opportunity_id: "1" } })).content.source).toMatchObject({ code: "MINE", name: "MINE" });
    expect(judge(with_({ source: { code: "sam", opportunity_id: "1", name: "Own" } })).content.source.name).toBe("Own");
  });

  test.each([
    [{}, "dates", ""],
    [{ status: null }, "dates", ""],
    [{ status: "open" }, "stated", "open"],
    [{ status: "open", status_basis: null }, "stated", "open"],
    [{ status: "open", status_basis: "stated" }, "stated", "open"],
    [{ status: "open", status_basis: "dates" }, "dates", "open"],
    [{ status_basis: "dates" }, "dates", ""],
  ])("reads the status basis of %j as %s", (fields, basis, status) => {
    const judged = judge(with_(fields));
    expect([judged.status_basis, judged.content.status]).toEqual([basis, status]);
  });

  test("accepts funding with only a currency, and fills in a missing currency", () => {
    expect(judge(with_({ funding: { amount_min: "1" } })).content.funding).toEqual({
      currency: "USD",
      amount_min: "1",
      amount_max: null,
      display: null,
    });
  });

  test("accepts null where a field may be absent", () => {
    const nothing = Object.fromEntries(Object.keys(whole).map((name) => [name, null]));
    expect(judge({ ...nothing, ...with_({}), lineage: null, earlier_ids: null, created_at: null })).toEqual(judge(with_({})));
  });

  test("leaves out the kind and the size of an attachment that are not given", () => {
    const attachments = [{ name: "A" }, { url: "https://sam.gov/1", kind: null, size: null }, { name: "B", kind: "Call", size: 0 }];
    expect(judge(with_({ attachments })).content.attachments).toStrictEqual([
      { name: "A", url: null },
      { name: null, url: "https://sam.gov/1" },
      { name: "B", url: null, kind: "Call", size: 0 },
    ]);
  });

  test("keeps created_at and updated_at only if both are given and in order", () => {
    const [created_at, updated_at] = ["2026-01-01T00:00:00.123Z", "2026-01-02T00:00:00Z"];
    const restored = { created_at: Date.parse(created_at), updated_at: Date.parse(updated_at) };
    expect(judge(with_({ created_at, updated_at })).restored).toEqual(restored);
    expect(judge(with_({ created_at })).restored).toBeUndefined();
    expect(judge(with_({ updated_at })).restored).toBeUndefined();
    expect(judge(with_({ created_at: updated_at, updated_at: created_at })).restored).toBeUndefined();
    expect(judge(with_({ created_at, updated_at: "9999-12-31T23:59:59-05:00" })).restored).toBeUndefined(); // No text could say it in UTC.
  });
});

describe("validateRecord() rejects", () => {
  const timestamp = "must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00-05:00, not";
  const amount = 'must be a decimal string such as "2500.00", not';
  test.each<[string, unknown, string]>([
    ["no source", { title: "T" }, "source.code is required"],
    ["a size as text", with_({ attachments: [{ size: "5 MB" }] }), 'attachments[0].size must be a whole number, not "5 MB"'],
    ["a part of a byte", with_({ attachments: [{ size: 1.5 }] }), 'attachments[0].size must be a whole number, not "1.5"'],
    ["no source code", with_({ source: { opportunity_id: "1" } }), "source.code is required"],
    ["an empty source code", coded(""), "source.code must not be blank"],
    ["a blank within the source code", coded("a b"), "source.code must not contain blanks or commas"],
    ["a comma within the source code", coded("a,b"), "source.code must not contain blanks or commas"],
    ["a source code that would become another one", coded("ß"), "source.code must have only ASCII characters"],
    [
      "a parent that is no id",
      with_({ relationships: { parent_id: "p" } }),
      'relationships.parent_id must be the id of an opportunity, a UUID, not "p"',
    ],
    [
      "a canonical record that is no id",
      with_({ relationships: { canonical_id: "" } }),
      'relationships.canonical_id must be the id of an opportunity, a UUID, not ""',
    ],
    ["no upstream id", with_({ source: { code: "A" } }), "source.opportunity_id is required"],
    ["a blank upstream id", with_({ source: { code: "A", opportunity_id: " " } }), "source.opportunity_id must not be blank"],
    ["an upstream id that is a number", with_({ source: { code: "A", opportunity_id: 5 } }), "source.opportunity_id must be a string"],
    ["no title", { source }, "title is required"],
    ["a title that is null", with_({ title: null }), "title is required"],
    ["a blank title", with_({ title: " \u00a0" }), "title must not be blank"],
    ["a blank status", with_({ status: "" }), "status must not be blank"],
    ["a blank lineage", with_({ lineage: "" }), "lineage must not be blank"],
    ["a status basis without its status", with_({ status_basis: "stated" }), 'status is required where status_basis is "stated"'],
    ["another status basis", with_({ status_basis: "guessed" }), 'status_basis must be "stated" or "dates"'],
    ["a source that is text", with_({ source: "SAM" }), "source must be an object"],
    ["an organization that is a list", with_({ organization: [] }), "organization must be an object"],
    ["an unknown field", with_({ color: "red" }), 'unknown field "color"'],
    ["an unknown field that is null", with_({ color: null }), 'unknown field "color"'],
    ["an unknown inner field", with_({ dates: { closed_at: null } }), 'unknown field "dates.closed_at" (did you mean "dates.closes_at"?)'],
    ["an unknown field of an item", with_({ contacts: [{}, { fax: "1" }] }), 'unknown field "contacts[1].fax"'],
    [
      "a field with an odd name",
      JSON.parse('{"source":{"code":"A","opportunity_id":"1"},"title":"T","__proto__":{}}'),
      'unknown field "__proto__"',
    ],
    ["a field of every object", with_({ toString: null }), 'unknown field "toString"'],
    [
      "a number as amount",
      with_({ funding: { amount_max: 2500 } }),
      'funding.amount_max must be a decimal string such as "2500.00", not a number',
    ],
    ["an amount with an exponent", with_({ funding: { amount_max: "1e6" } }), `funding.amount_max ${amount} "1e6"`],
    ["an amount with a comma", with_({ funding: { amount_min: "1,000" } }), `funding.amount_min ${amount} "1,000"`],
    ["an amount with a sign of its currency", with_({ funding: { amount_min: "$1" } }), `funding.amount_min ${amount} "$1"`],
    ["an amount that is empty", with_({ funding: { amount_min: "" } }), `funding.amount_min ${amount} ""`],
    ["an amount with a line break", with_({ funding: { amount_min: "1\n" } }), `funding.amount_min ${amount} "1\\n"`],
    ["another currency", with_({ funding: { currency: "EUR" } }), 'funding.currency must be "USD"'],
    ["funding that is text", with_({ funding: "much" }), "funding must be an object"],
    ["a value estimate", with_({ value_estimate: "1" }), "value_estimate must be null"],
    ["a bare date", with_({ dates: { closes_at: "2026-01-31" } }), `dates.closes_at ${timestamp} "2026-01-31"`],
    ["a date without offset", with_({ dates: { closes_at: "2026-01-31T17:00:00" } }), `dates.closes_at ${timestamp} "2026-01-31T17:00:00"`],
    ["an impossible date", with_({ dates: { opens_at: "2026-02-29T00:00:00Z" } }), `dates.opens_at ${timestamp} "2026-02-29T00:00:00Z"`],
    ["a date that is a number", with_({ dates: { opens_at: 1 } }), "dates.opens_at must be a string"],
    ["a bare created_at", with_({ created_at: "2026-01-31" }), `created_at ${timestamp} "2026-01-31"`],
    ["a long wrong date, cut", with_({ dates: { opens_at: "9".repeat(80) } }), `dates.opens_at ${timestamp} "${"9".repeat(60)}…"`],
    ["NUL", with_({ summary: "a\0" }), "summary must not contain NUL"],
    ["NUL in an item", with_({ classifications: { keywords: ["ok", "\0"] } }), "classifications.keywords[1] must not contain NUL"],
    ["a lone surrogate", with_({ title: "a\ud800" }), "title must be well-formed Unicode: it has a lone surrogate"],
    ["a lone surrogate in the code", coded("\udc00"), "source.code must be well-formed Unicode: it has a lone surrogate"],
    ["a text that is a number", with_({ summary: 5 }), "summary must be a string"],
    ["a text that is true", with_({ status: true }), "status must be a string"],
    ["keywords that are text", with_({ classifications: { keywords: "a,b" } }), "classifications.keywords must be an array"],
    ["a keyword that is null", with_({ classifications: { keywords: [null] } }), "classifications.keywords[0] must not be null"],
    ["a contact that is null", with_({ contacts: [null] }), "contacts[0] must not be null"],
    ["a contact that is text", with_({ contacts: ["Ann"] }), "contacts[0] must be an object"],
    ["a question that is a list", with_({ questions: [[]] }), "questions[0] must be an object"],
    ["too many items", with_({ earlier_ids: Array(10_001).fill("x") }), "earlier_ids must have at most 10000 items"],
    ["too long a text", with_({ description: "x".repeat(2_000_001) }), "description must have at most 2000000 characters"],
    ["a list", [], "a record must be an object"],
    ["a text", "{}", "a record must be an object"],
  ])("%s", (_, record, message) => {
    expect(() => judge(record)).toThrow(new Rejection(message));
  });
});

describe("readNaturalKey()", () => {
  test.each<[unknown, ReturnType<typeof readNaturalKey>]>([
    [{ source: { code: "sam", opportunity_id: "1" } }, { source: "SAM", lineage: undefined, upstreamId: "1" }],
    [
      { source: { code: "sam", opportunity_id: 1 }, lineage: "L" },
      { source: "SAM", lineage: "L", upstreamId: undefined },
    ],
    [{ source: { opportunity_id: "1" } }, undefined],
    [{ source: { code: "ß", opportunity_id: "1" } }, undefined],
    [{ source: null }, undefined],
    [[], undefined],
    ["text", undefined],
  ])("of %j is %j", (record, key) => {
    expect(readNaturalKey(record)).toEqual(key);
  });
});
