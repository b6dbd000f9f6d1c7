/** `export --format commongrants` against the protocol's official description. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Ajv, { type ValidateFunction } from "ajv/dist/2019";
import addFormats from "ajv-formats";
import { openCatalog } from "../../db/sqlite/open.ts";
import { readHistory } from "../../src/events/history.ts";
import { applicantTypes } from "../../src/export/common-grants.ts";
import { applicantCodes as grantsGovTypes } from "../../src/import/formats/grants-gov/codes.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";
import { realFile, testReal } from "../support/real-data.ts";

afterAll(dropScratch);

type Schema = { example?: unknown; type?: string; properties?: object; unevaluatedProperties?: boolean };
type Description = { components: { schemas: Record<string, Schema> } };
type CustomField = { name: string; fieldType: string; value: unknown };
type Exported = { id: string; status: { value: string; customValue?: string }; customFields: Record<string, CustomField> } & Record<
  string,
  unknown
>;

const PREFIX = "CommonGrants.";
/** It is a part of other schemas, which have further members. */
const PART = `${PREFIX}Fields.EventBase`;

/** Compiles the schema of one name. Members that the description does not declare are faults: it allows them, but a typo is none of it. */
function validator(): (name: string) => ValidateFunction {
  const { components } = Bun.YAML.parse(realFile("commongrants/openapi.0.4.0.yaml").toString()) as Description;
  for (const [name, schema] of Object.entries(components.schemas)) {
    delete schema.example; // Examples of forms contain JSON Schemas, with an "$id" that occurs twice.
    if (/^CommonGrants\.(Models\.Opp|Fields\.)/.test(name) && schema.properties && name !== PART) schema.unevaluatedProperties = false;
  }
  const ajv = addFormats(new Ajv({ strict: false, validateSchema: false, allErrors: true }));
  ajv.addFormat("time", /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/); // The description's isoTime has no time zone, JSON Schema's format has one.
  ajv.addSchema({ components }, "protocol");
  return (name) => ajv.compile({ $ref: `protocol#/components/schemas/${PREFIX}${name}` });
}

const compile = validator();
const isOpportunity = compile("Models.OpportunityBase");

function expectValid(records: readonly Exported[]): void {
  for (const record of records) {
    if (!isOpportunity(record)) throw new Error(`${JSON.stringify(isOpportunity.errors)} in ${JSON.stringify(record).slice(0, 2000)}`);
    for (const [key, { name, fieldType, value }] of Object.entries(record.customFields)) {
      const type = Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : typeof value;
      if (name !== key || fieldType !== type) throw new Error(`${record.id} has the custom field ${key} with ${name}, ${fieldType}`);
    }
  }
}

function customValue<T>({ customFields }: Exported, name: string): T {
  return customFields[name]?.value as T;
}

async function exported(data: string, ...args: string[]): Promise<Exported[]> {
  const { code, out, err } = await fundfeed(["export", "--format", "commongrants", ...args, "--data", data], {}, () => NOON);
  expect([code, err]).toEqual([0, ""]);
  return out === ""
    ? []
    : out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
}

describe("export --format commongrants", () => {
  test("has attachments with the protocol's name for their address", async () => {
    const data = aDirectory();
    const attachments = [
      { name: "Call", url: "https://sam.gov/1" },
      { name: null, url: "https://sam.gov/2" },
    ];
    const given = { source: { code: "OWN", opportunity_id: "1" }, title: "T", attachments };
    await fundfeed(["import", "records", aFile([given]), "--data", data]);
    const records = await exported(data);
    expectValid(records);
    expect(records.map((each) => customValue<object[]>(each, "attachments"))).toEqual([
      [{ name: "Call", downloadUrl: "https://sam.gov/1" }, { downloadUrl: "https://sam.gov/2" }],
    ]);
  });

  test("has who may apply by code, whatever the text says, and not if a code is unknown", async () => {
    const data = aDirectory();
    const given = [["06", "08"], ["06", "other"], []].map((applicant_types, n) => ({
      source: { code: "OWN", opportunity_id: String(n) },
      title: "T",
      eligibility: { requirements: "Unrestricted" },
      applicant_types,
    }));
    await fundfeed(["import", "records", aFile(given), "--data", data]);
    const records = await exported(data);
    expectValid(records);
    const idOf = (record: Exported) => customValue<{ opportunityId: string }>(record, "upstream").opportunityId;
    expect(Object.fromEntries(records.map((record) => [idOf(record), record.acceptedApplicantTypes]))).toEqual({
      0: [{ value: "higher_education_public" }, { value: "custom", customValue: "Public housing authorities/Indian housing authorities" }],
      1: undefined,
      2: undefined,
    });
  });

  let data: string;
  let all: Opportunity[];
  let records: Exported[];

  beforeAll(async () => {
    ({ data, all } = await aDirectoryOfAll());
    records = await exported(data);
  });

  test("prints every real record as the official description has it, in the order of export", () => {
    expectValid(records);
    expect(records.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(records.filter((record) => "history" in record.customFields)).toEqual([]);
  });

  test("makes a response of the protocol from the lines", () => {
    const isPage = compile("Responses.Paginated");
    const page = { status: 200, message: "OK", items: records, paginationInfo: { page: 1, pageSize: records.length } };
    expect([isPage(page), isPage.errors]).toEqual([true, null]);
  });

  test("loses no status, and has the words of the protocol where it has one", () => {
    const pairs = records.map(({ status, customFields }) =>
      `${customFields.status?.value} → ${status.value} ${status.customValue ?? ""}`.trim(),
    );
    expect(records.map(({ customFields }) => customFields.status?.value)).toEqual(all.map(({ status }) => status));
    expect([...new Set(pairs)].sort()).toMatchSnapshot();
  });

  test("has who may apply in the protocol's words for records of Grants.gov", () => {
    const listed = records.filter((record) => "acceptedApplicantTypes" in record);
    expect(listed.length).toBeGreaterThan(100);
    const sources = new Set(listed.map((record) => customValue<{ code: string }>(record, "upstream").code));
    expect([...sources].sort()).toEqual(["GRANTS_GOV", "SIMPLER_GRANTS_GOV"]);
    expect([...applicantTypes.keys()].sort()).toEqual(Object.keys(grantsGovTypes).sort());
    const options = compile("Models.ApplicantTypeOptions");
    for (const value of applicantTypes.values()) expect([value, options(value)]).toEqual([value, true]);
  });

  test("takes the filters of export", async () => {
    const args = ["--source", "SAM_GOV", "--status", "awarded"];
    const expected = all.filter(({ source, status }) => source.code === "SAM_GOV" && status === "awarded").map(({ id }) => id);
    expect(expected.length).toBeGreaterThan(0);
    expect((await exported(data, ...args)).map(({ id }) => id)).toEqual(expected);
    expect((await exported(data, ...args, "--events")).map(({ id }) => id)).toEqual(expected);
  });

  test("has with --events the whole history of each record, as the API returns it", async () => {
    const histories = await exported(data, "--events");
    expectValid(histories);
    expect(histories.map(({ customFields: { history: _, ...rest }, ...record }) => ({ ...record, customFields: rest }))).toEqual(records);
    const catalog = openCatalog(data, NOON);
    const changed = histories.filter((record) => customValue<unknown[]>(record, "history").length > 1);
    expect(changed.length).toBeGreaterThan(100);
    for (const { id, customFields } of [...histories.slice(0, 20), ...changed.slice(0, 20)]) {
      expect(customFields.history?.value).toEqual(await readHistory(catalog, id));
    }
    await catalog.close();
  });

  test("refuses --events with another format", async () => {
    const { code, err } = await fundfeed(["export", "--events", "--data", data]);
    expect([code, err]).toEqual([2, expect.stringContaining("error: --events needs --format commongrants")]);
  });
});

test("a record without any optional value, and one with odd ones, are valid", async () => {
  const data = aDirectory();
  const source = { code: "OWN", opportunity_id: "1" };
  const odd = {
    source: { code: "OWN", opportunity_id: "2", url: "https://example.gov/a b/[x]|{y}?q=%zz&é#one#two" },
    title: "\u001b[31m\u202e",
    status: "constructor",
    funding: { amount_min: "-1.50", display: "" },
    dates: { posted_at: "1999-12-31t18:59:60-05:00", closes_at: "2026-12-31T23:59:59.123456+14:00" },
    eligibility: { requirements: "constructor\nIndividuals" },
    contacts: [{}, { name: "A" }, { email: "b@example.gov" }],
    classifications: { tech_taxonomy: ["ALN:93.242", "PSC:AC12"] },
  };
  const opaque = { source: { code: "OWN", opportunity_id: "3", url: "javascript:alert(1)" }, title: "t" };
  const { code } = await fundfeed(["import", "records", aFile([{ source, title: "Bare" }, odd, opaque]), "--data", data]);
  expect(code).toBe(0);
  const records = await exported(data, "--events");
  expectValid(records);
  const byId = new Map(records.map((record) => [customValue<{ opportunityId: string }>(record, "upstream").opportunityId, record]));
  expect(Object.keys(byId.get("1") ?? {})).toEqual(["id", "title", "status", "description", "customFields", "createdAt", "lastModifiedAt"]);
  expect(byId.get("2")).toMatchObject({
    status: { value: "custom", customValue: "constructor" },
    source: "https://example.gov/a%20b/%5Bx%5D%7C%7By%7D?q=%25zz&%C3%A9#one%23two",
    funding: { details: "", minAwardAmount: { amount: "-1.50", currency: "USD" } },
    keyDates: {
      postDate: { date: "1999-12-31", time: "18:59:59", description: "The time is in UTC-05:00." },
      closeDate: { date: "2026-12-31", time: "23:59:59", description: "The time is in UTC+14:00." },
    },
    customFields: {
      assistanceListings: { value: [{ identifier: "93.242" }] },
      otherContacts: { value: [{ name: "A" }, { email: "b@example.gov" }] },
    },
  });
  expect(byId.get("2")).not.toHaveProperty("acceptedApplicantTypes");
  expect(byId.get("3")).not.toHaveProperty("source");
});

testReal("every record of the full files is valid", async (directory) => {
  const { data, all } = await aDirectoryOfAll(directory);
  const records = await exported(data, "--events");
  expectValid(records);
  expect(records.length).toBe(all.length);
  expect(all.length).toBeGreaterThan(10_000);
});
