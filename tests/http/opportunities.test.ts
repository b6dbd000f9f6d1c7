/** Numbers in names are rows of requests.tsv. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { TestApi } from "../support/api.ts";
import { expectCommonHeaders, expectProblem } from "../support/problem.ts";
import { FIRST, sixtyApi, U } from "../support/sixty.ts";

let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
});

const list = async (query: string) => {
  const response = await api.get(`/opportunities${query}`);
  const text = await response.text();
  expect({ query, status: response.status, text }).toEqual({ query, status: 200, text });
  expectCommonHeaders(response);
  return JSON.parse(text);
};

const minute = (n: number) => new Date(FIRST + n * 60_000).toISOString();

describe("GET /opportunities", () => {
  test("96: returns 25 complete records by default, newest first, and the cursor of the next page", async () => {
    const response = await api.get("/opportunities?");
    const body = (await response.json()) as { data: Record<string, unknown>[]; meta: { next_cursor: string } };
    expect<unknown>(body).toEqual({
      data: expect.any(Array),
      meta: { request_id: response.headers.get("x-request-id"), count: 25, has_more: true, next_cursor: expect.stringMatching(/^[\w-]+$/) },
      links: { self: "/v1/opportunities", next: `/v1/opportunities?cursor=${body.meta.next_cursor}` },
    });
    expect(body.data).toHaveLength(25);
    const updated = body.data.map((record) => String(record.updated_at));
    expect(updated).toEqual(updated.toSorted().reverse());
    const detail = (await (await api.get(`/opportunities/${body.data[0]?.id}`)).json()) as { data: unknown };
    expect(detail.data).toEqual(body.data[0]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  test("98: the last page has no cursor", async () => {
    const { data, meta, links } = await list("?limit=100");
    expect([data.length, meta.count, meta.has_more, meta.next_cursor, links]).toEqual([
      60,
      60,
      false,
      null,
      { self: "/v1/opportunities?limit=100", next: null },
    ]);
  });

  test("an exactly full page is the last one if nothing follows", async () => {
    const { meta } = await list("?limit=60");
    expect([meta.count, meta.has_more]).toEqual([60, false]);
  });

  test("filters return exactly the records with the values", async () => {
    const { data } = await list("?status=open,closed&agency=nasa&limit=100");
    expect(data.length).toBeGreaterThan(0);
    for (const { status, organization } of data) expect([["open", "closed"].includes(status), organization.agency]).toEqual([true, "NASA"]);
    const others = await list("?source=other&limit=100");
    expect(new Set(others.data.map((record: { source: { code: string } }) => record.source.code))).toEqual(new Set(["UNLISTED"]));
  });

  test("91, 85, 86: links are relative, and contain nothing from a header", async () => {
    const headers = { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "javascript", Forwarded: "host=evil.example" };
    const text = await (await api.get("/opportunities?limit=1", { headers })).text();
    expect(text).not.toContain("evil");
    expect(JSON.parse(text).links.self).toBe("/v1/opportunities?limit=1");
  });

  test("links keep the query as sent, as valid URI references", async () => {
    const { links, meta } = await list('?agency=D%c3%89f|"<&limit=1');
    expect(links).toEqual({ self: "/v1/opportunities?agency=D%c3%89f%7C%22%3C&limit=1", next: null });
    expect(meta.count).toBe(0);
    const first = await list("?status=open,%20closed&status=awarded&updated_since=2025-01-01T00:00:00%2B05:00&limit=2");
    const next = `?status=open,%20closed&status=awarded&updated_since=2025-01-01T00:00:00%2B05:00&limit=2&cursor=${first.meta.next_cursor}`;
    expect(first.links.next).toBe(`/v1/opportunities${next}`);
    expect((await list(next)).meta.count).toBe(2);
  });

  test("283: a list has no validators", async () => {
    const response = await api.get("/opportunities?limit=1", { headers: { "If-None-Match": "*" } });
    expect([response.status, response.headers.get("etag")]).toEqual([200, null]);
  });

  test("updated_since returns what changed after it, and nothing at it", async () => {
    const { data } = await list(`?updated_since=${minute(28)}&limit=100`);
    expect(data.map(({ updated_at }: { updated_at: string }) => updated_at)).toEqual([minute(29), minute(29)]);
  });
});

describe("a bad parameter value", () => {
  test.each([
    [151, `status=${Array(60).fill("open").join()}`, ["status"]],
    [151, `status=${Array(51).fill("open").join("&status=")}`, ["status"]],
    [172, `agency=${"x".repeat(201)}`, ["agency"]],
  ])("%i: ?%s is refused", async (_, query, fields) => {
    await expectProblem(await api.get(`/opportunities?${query}`), { code: "invalid_parameter", fields });
  });

  test("the reason says what the value must be", async () => {
    const body = await expectProblem(await api.get("/opportunities?limit=0&status=OPEN"), { code: "invalid_parameter" });
    expect(body.errors).toEqual([
      {
        field: "status",
        reason: "must contain only these values: forecast, pre_release, open, closing_soon, closed, awarded, cancelled, archived",
      },
      { field: "limit", reason: "must be an integer from 1 to 100" },
    ]);
  });

  test("agency may have 200 characters, also outside the BMP", async () => {
    await list(`?agency=${encodeURIComponent("𝔸".repeat(200))}`);
  });
});

describe("an unsupported parameter", () => {
  test.each([
    ["statuses=open", "status"],
    ["LIMIT=5", "limit"],
    ["limit[]=5", "limit"],
    ["update_since=x", "updated_since"],
    ["sources=x", "source"],
  ])("?%s suggests %s", async (query, suggestion) => {
    const body = await expectProblem(await api.get(`/opportunities?${query}`), { code: "unsupported_parameter" });
    expect(JSON.stringify(body.errors)).toContain(`did you mean \\"${suggestion}\\"?`);
  });

  test("is not named if it could be a key", async () => {
    expect(await (await api.get(`/opportunities?${api.key}=1`)).text()).not.toContain(api.key);
  });

  test.each(["/sources?x=1", `/opportunities/${U}?limit=1`, `/opportunities/${U}?id=${U}`])("GET %s takes no parameters", async (path) => {
    await expectProblem(await api.get(path), { code: "unsupported_parameter" });
  });
});
