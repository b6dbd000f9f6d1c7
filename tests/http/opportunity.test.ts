/** Numbers in names are rows of requests.tsv. */
import { beforeAll, describe, expect, test } from "bun:test";
import { type TestApi, testApi } from "../support/api.ts";
import { expectCommonHeaders, expectProblem } from "../support/problem.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { FIRST, sixtyApi, U, WITHOUT_EVENTS, X } from "../support/sixty.ts";
import { rawSql } from "../support/sql.ts";

const ETAG = `W/"${U}.${FIRST}"`;
const OPAQUE = `"${U}.${FIRST}"`;
const LAST_MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT";

let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
});

describe("GET /opportunities/{id}", () => {
  test("243: returns the record with its validators", async () => {
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

  test.each([
    [244, U.toUpperCase()],
    [245, `%${U.charCodeAt(0).toString(16)}${U.slice(1)}`],
  ])("%i: %s returns the same record", async (_, id) => {
    const response = await api.get(`/opportunities/${id}`);
    const { data } = (await response.json()) as { data: { id: string } };
    expect([response.status, data.id]).toEqual([200, U]);
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
    [263, { "If-None-Match": ETAG }],
    [264, { "If-None-Match": OPAQUE }],
    [265, { "If-None-Match": "*" }],
    [266, { "If-None-Match": `"a", W/"b",${ETAG}` }],
    [267, { "If-None-Match": `"a,b", ${ETAG}` }],
    [268, { "If-None-Match": `"a", ${ETAG}` }],
    [269, { "If-None-Match": `, ,${ETAG} ,` }],
    [279, { "If-Modified-Since": LAST_MODIFIED }],
    [279, { "If-Modified-Since": "Thursday, 01-Jan-26 00:00:00 GMT" }],
    [279, { "If-Modified-Since": "Thu Jan  1 00:00:00 2026" }],
  ])("%i: %j is 304 without a body", async (_, headers) => {
    const response = await conditional(headers as Record<string, string>);
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expectCommonHeaders(response);
    expect(response.headers.get("etag")).toBe(ETAG);
    expect(response.headers.get("last-modified")).toBe(LAST_MODIFIED);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    expect(response.headers.get("ratelimit-remaining")).toMatch(/^\d+$/);
  });

  test.each([
    [270, { "If-None-Match": '"nope"' }],
    [271, { "If-None-Match": OPAQUE.slice(1, -1) }],
    [272, { "If-None-Match": ETAG.replace("W/", "w/") }],
    [273, { "If-None-Match": "" }],
    [274, { "If-None-Match": '"*"' }],
    [275, { "If-None-Match": `W/"${WITHOUT_EVENTS}.${FIRST}"` }],
    [275, { "If-None-Match": `${ETAG} "a"` }],
    [275, { "If-None-Match": `${ETAG}, a` }],
    [280, { "If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" }],
    [281, { "If-Modified-Since": "yesterday" }],
    [281, { "If-Modified-Since": "2027-01-01T00:00:00Z" }],
    [281, { "If-Modified-Since": "Fri, 31 Feb 2027 00:00:00 GMT" }],
    [282, { "If-None-Match": '"nope"', "If-Modified-Since": LAST_MODIFIED }],
  ])("%i: %j is 200", async (_, headers) => {
    expect((await conditional(headers as Record<string, string>)).status).toBe(200);
  });

  test.each([
    ["at once", 900],
    ["after a second", 2_000],
    ["as soon as the second is settled", 61_000],
  ])("318: a Last-Modified that was read %s hides no change within the second of the last one", async (_, readAt) => {
    const record = (title: string) => anOpportunity({ source: { code: "SAM", opportunity_id: "same-second" }, title });
    const changing = await testApi({ records: [record("First")], now: FIRST + 300 });
    const { id } = (await changing.model.db.get(rawSql<{ id: string }>("select id from opportunities"))) ?? { id: "" };
    const ask = (headers = {}) => changing.get(`/opportunities/${id}`, { headers });
    changing.clock.now = FIRST + readAt;
    const first = (await ask()).headers.get("last-modified") ?? "";
    expect(Date.parse(first)).toBeLessThanOrEqual(changing.clock.now); // RFC 9110 §8.8.2.1.
    const isSettled = readAt > 60_000;
    expect((await ask({ "If-Modified-Since": first })).status).toBe(isSettled ? 304 : 200);

    await storeRecords(changing.model.db, [record("Second")], FIRST + (isSettled ? readAt : 700));
    for (const later of [readAt, 2_000, 61_000, 200_000]) {
      changing.clock.now = FIRST + later;
      expect((await ask({ "If-Modified-Since": first })).status).toBe(200);
    }
  });

  test("276, 277, 278: is ignored if the response is a problem", async () => {
    await expectProblem(await conditional({ "If-None-Match": "*" }, X), { code: "not_found" });
    await expectProblem(await conditional({ "If-None-Match": "*" }, "zz"), { code: "invalid_parameter" });
    const noKey = await api.get(`/opportunities/${U}`, { key: null, headers: { "If-None-Match": ETAG } });
    await expectProblem(noKey, { code: "authentication_required" });
  });
});
