import { beforeAll, describe, expect, test } from "bun:test";
import type { TestApi } from "../support/api.ts";
import { expectCommonHeaders, expectProblem } from "../support/problem.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { FIRST, sixtyApi, U, WITHOUT_EVENTS, X } from "../support/sixty.ts";

const ETAG = `W/"${U}.${FIRST}"`;
const OPAQUE = `"${U}.${FIRST}"`;
const LAST_MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT";

let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
});

describe("GET /opportunities/{id}", () => {
  test("returns the record with its validators", async () => {
    const response = await api.get(`/opportunities/${U}`);
    expect(response.status).toBe(200);
    expectCommonHeaders(response);
    expect(response.headers.get("etag")).toBe(ETAG);
    expect(response.headers.get("last-modified")).toBe(LAST_MODIFIED);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(await response.json()).toEqual({
      data: {
        id: U,
        source: { code: "SAM", name: "SAM", opportunity_id: "N0", url: null },
        title: "Title 0",
        summary: null,
        description: null,
        status: "forecast",
        status_display: null,
        organization: { agency: "Department of Défense", sub_agency: null, issuing_office: null },
        program: { type: "SBIR", solicitation_id: null, solicitation_title: null, contract_class: null },
        funding: null,
        dates: { posted_at: null, opens_at: null, closes_at: null, response_at: null },
        classifications: { keywords: [], technology_areas: [], tech_taxonomy: [], naics_codes: [], set_aside_types: [] },
        eligibility: { requirements: null, geographic_scope: null },
        contacts: [],
        value_estimate: null,
        relationships: { parent_id: null, canonical_id: null },
        created_at: "2026-01-01T00:00:00.000Z",
        updated_at: "2026-01-01T00:00:00.000Z",
      },
      meta: { request_id: response.headers.get("x-request-id") },
    });
  });

  test.each([[U.toUpperCase()], [`%${U.charCodeAt(0).toString(16)}${U.slice(1)}`]])("%s returns the same record", async (id) => {
    const response = await api.get(`/opportunities/${id}`);
    const { data } = (await response.json()) as { data: { id: string } };
    expect([response.status, data.id]).toEqual([200, U]);
  });

  test.each([[X], ["00000000-0000-0000-0000-000000000000"], ["ffffffff-ffff-ffff-ffff-ffffffffffff"]])("%s returns 404", async (id) => {
    await expectProblem(await api.get(`/opportunities/${id}`), { code: "not_found" });
  });

  test.each([
    ["not-a-uuid"],
    ["123"],
    ["0190c4a0000070008000000000000000"],
    [`%7B${U}%7D`],
    [`urn:uuid:${U}`],
    [`${U}%20`],
    [`%20${U}`],
    [`${U}0`],
    ["0190c4a0-0000-7000-8000-00000000000g"],
    [`${U}%00`],
    ["%zz"],
    ["%2e%2e%2fmeta"],
    ["SELECT%201"],
    ["%D9%A0%D9%A0%D9%A0%D9%A0%D9%A0%D9%A0%D9%A0%D9%A0-0000-0000-0000-000000000000"],
  ])("%s is not a UUID", async (id) => {
    await expectProblem(await api.get(`/opportunities/${id}`), { code: "invalid_parameter", fields: ["id"] });
  });

  test("takes no parameters", async () => {
    await expectProblem(await api.get(`/opportunities/${U}?limit=0&q=x`), { code: "unsupported_parameter", fields: ["limit", "q"] });
  });

  test("a change of the record changes its validators, and moves it to the top of the list", async () => {
    const changing = await sixtyApi();

    const at = FIRST + 86_400_000;
    await storeRecords(changing.model.db, [anOpportunity({ title: "Another" })], at);
    const response = await changing.get(`/opportunities/${U}`, { headers: { "If-None-Match": ETAG } });
    expect([response.status, response.headers.get("etag")]).toEqual([200, `W/"${U}.${at}"`]);
    const { data } = (await (await changing.get("/opportunities?limit=1")).json()) as { data: { id: string; title: string }[] };
    expect(data).toMatchObject([{ id: U, title: "Another" }]);
  });
});

describe("a conditional request for a record", () => {
  const conditional = (headers: Record<string, string>, id = U) => api.get(`/opportunities/${id}`, { headers });

  test.each([
    [{ "If-None-Match": ETAG }],
    [{ "If-None-Match": OPAQUE }],
    [{ "If-None-Match": "*" }],
    [{ "If-None-Match": `"a", W/"b",${ETAG}` }],
    [{ "If-None-Match": `"a,b", ${ETAG}` }],
    [{ "If-None-Match": `"a", ${ETAG}` }],
    [{ "If-None-Match": `, ,${ETAG} ,` }],
    [{ "If-Modified-Since": LAST_MODIFIED }],
    [{ "If-Modified-Since": "Thursday, 01-Jan-26 00:00:00 GMT" }],
    [{ "If-Modified-Since": "Thu Jan  1 00:00:00 2026" }],
  ])("%j is 304 without a body", async (headers) => {
    const response = await conditional(headers as Record<string, string>);
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expectCommonHeaders(response);
    expect(response.headers.get("etag")).toBe(ETAG);
    expect(response.headers.get("last-modified")).toBe(LAST_MODIFIED);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(response.headers.get("ratelimit-remaining")).toMatch(/^\d+$/);
  });

  test.each([
    [{ "If-None-Match": '"nope"' }],
    [{ "If-None-Match": OPAQUE.slice(1, -1) }],
    [{ "If-None-Match": ETAG.replace("W/", "w/") }],
    [{ "If-None-Match": "" }],
    [{ "If-None-Match": '"*"' }],
    [{ "If-None-Match": `W/"${WITHOUT_EVENTS}.${FIRST}"` }],
    [{ "If-None-Match": `${ETAG} "a"` }],
    [{ "If-None-Match": `${ETAG}, a` }],
    [{ "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" }],
    [{ "If-Modified-Since": "yesterday" }],
    [{ "If-Modified-Since": "2027-01-01T00:00:00Z" }],
    [{ "If-Modified-Since": "Fri, 31 Feb 2027 00:00:00 GMT" }],
    [{ "If-None-Match": '"nope"', "If-Modified-Since": LAST_MODIFIED }],
  ])("%j is 200", async (headers) => {
    expect((await conditional(headers as Record<string, string>)).status).toBe(200);
  });

  test("is ignored if the response is a problem", async () => {
    await expectProblem(await conditional({ "If-None-Match": "*" }, X), { code: "not_found" });
    await expectProblem(await conditional({ "If-None-Match": "*" }, "zz"), { code: "invalid_parameter" });
    const noKey = await api.get(`/opportunities/${U}`, { key: null, headers: { "If-None-Match": ETAG } });
    await expectProblem(noKey, { code: "authentication_required" });
  });
});
