/** Queries that Elysia's parser reads differently: brackets, empty pairs, undecodable bytes, names of the prototype. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApi, testApi } from "../support/api.ts";
import { expectProblem } from "../support/problem.ts";
import { type RawServer, rawServer, sendRaw } from "../support/raw.ts";
import { anOpportunity } from "../support/records.ts";

const record = (code: string, agency: string) => anOpportunity({ source: { code, opportunity_id: agency }, organization: { agency } });

let api: TestApi;
let server: RawServer;
beforeAll(async () => {
  api = await testApi({ records: [record("[A", "Office [NASA]"), record("B]", "Offices [A,b]"), record("SAM", "100%FF")] });
  server = await rawServer(api);
});
afterAll(() => server.stop());

const get = async (path: string): Promise<Response> => {
  const key = `Authorization: Bearer ${api.key}`;
  const response = await sendRaw(server.port, [`GET /v1${path} HTTP/1.1`, "Host: localhost", "Connection: close", key]);
  if (response === undefined) throw new Error(`No response to ${path}`);
  return response;
};

describe("a query is read as text", () => {
  test.each([
    ["?agency=[NASA]", ["Office [NASA]"]],
    ["?agency=[", ["Offices [A,b]", "Office [NASA]"]],
    ["?agency=[a,b]", ["Offices [A,b]"]],
    ["?agency=%25ff", ["100%FF"]],
    ["?source=[A,B]", ["Offices [A,b]", "Office [NASA]"]],
    ["?=", ["100%FF", "Offices [A,b]", "Office [NASA]"]],
    ["?&&", ["100%FF", "Offices [A,b]", "Office [NASA]"]],
  ])("GET /opportunities%s", async (query, agencies) => {
    const response = await get(`/opportunities${query}`);
    expect(response.status).toBe(200);
    const { data } = (await response.json()) as { data: { organization: { agency: string } }[] };
    expect(data.map(({ organization }) => organization.agency)).toEqual(agencies);
  });
});

const FILTERS = "must be one of status, source, agency, program_type, source_opportunity_id, updated_since, limit, cursor";
const NOT_TEXT = "must be percent-encoded UTF-8 without control characters";
const LIMIT = "must be an integer from 1 to 100";

describe("a bad parameter is refused by name", () => {
  test.each([
    ["?=x", "unsupported_parameter", [["", FILTERS]]],
    ["?%ff=1", "unsupported_parameter", [["%ff", FILTERS]]],
    ["?__proto__=1", "unsupported_parameter", [["__proto__", FILTERS]]],
    ["?constructor=1&limit=0", "unsupported_parameter", [["constructor", FILTERS]]],
    ["?agency=%ff", "invalid_parameter", [["agency", NOT_TEXT]]],
    ["?limit=0&cursor=zz", "invalid_parameter", [["limit", LIMIT]]],
  ] as const)("GET /opportunities%s", async (query, code, errors) => {
    const problem = await expectProblem(await get(`/opportunities${query}`), { code });
    expect(problem.errors).toEqual(errors.map(([field, reason]) => ({ field, reason })));
  });

  test("a bracketed list is not a list of statuses", async () => {
    const problem = await expectProblem(await get("/opportunities?status=[open]"), { code: "invalid_parameter", fields: ["status"] });
    expect(problem.detail).toStartWith('"status" must contain only these values: forecast, pre_release,');
  });

  test("an id in the path is checked with the parameters, after unsupported ones", async () => {
    await expectProblem(await get("/opportunities/zz?q=1"), { code: "unsupported_parameter", fields: ["q"] });
    await expectProblem(await get("/opportunities/zz/events?limit=0"), { code: "invalid_parameter", fields: ["id", "limit"] });
  });
});
