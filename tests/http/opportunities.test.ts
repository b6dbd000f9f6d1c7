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

  test.each([
    [97, "?limit=1", 1],
    [131, "?%6Cimit=1", 1],
    [132, "?status=open", 8],
    [133, "?status=open,closed", 15],
    [134, "?status=open&status=closed", 15],
    [135, "?status=open,closed&status=awarded", 22],
    [136, "?status=open%2Cclosed", 15],
    [137, "?status=open,open", 8],
    [138, "?status=open&", 8],
    [146, "?status=open,%20closed", 15],
    [153, "?program_type=SBIR,STTR", 10],
    [156, "?source=sam", 15],
    [157, "?source=SAM", 15],
    [158, "?source=OTHER", 15],
    [159, "?source=other", 15],
    [160, "?source=SAM,OTHER&limit=100", 30],
    [161, "?source=NEVER_SEEN", 0],
    [164, "?agency=nasa", 20],
    [165, "?agency=D%C3%89FENSE", 20],
    [166, "?agency=%25", 20],
    [167, "?agency=_", 20],
    [168, "?agency='%20OR%201=1--", 0],
    [169, "?agency=%5C", 0],
    [170, "?agency=nasa+%26", 0],
    [177, "?source_opportunity_id=N0&source=sam", 1],
    [178, "?source_opportunity_id=N0&source=sam,SAM", 1],
    [179, "?source_opportunity_id=N3&source=OTHER", 1],
    [179, "?source_opportunity_id=N1&source=SAM", 0],
    [180, "?updated_since=2026-01-01T00:00:00Z&limit=100", 58],
    [181, "?updated_since=2026-01-01T00:00:00.123456789Z&limit=100", 58],
    [182, "?updated_since=2026-01-01T05:00:00%2B05:00&limit=100", 58],
    [183, "?updated_since=2026-01-01T05:00:00+05:00&limit=100", 58],
    [184, "?updated_since=2026-01-01t00:00:00z&limit=100", 58],
    [185, "?updated_since=2026-01-01T00:00:00-00:00&limit=100", 58],
    [186, "?updated_since=2016-12-31T23:59:60Z&limit=100", 60],
    [187, "?updated_since=2016-12-31T18:59:60-05:00&limit=100", 60],
    [188, "?updated_since=0000-01-01T00:00:00Z&limit=100", 60],
    [189, "?updated_since=9999-12-31T23:59:59Z", 0],
    [209, "?updated_since=2026-01-01T00:29:00.000Z", 0],
    [210, "?updated_since=2026-01-01T00:28:59.999Z", 2],
    [211, "?updated_since=2026-01-01T00:28:59.9999Z", 2],
    [211, "?updated_since=2026-01-01T00:29:00.0000000000001Z", 0],
  ])("%i: %s returns %i records", async (_, query, count) => {
    const { data, meta } = await list(query);
    expect(data).toHaveLength(count);
    expect(meta.count).toBe(count);
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

  test("21: method override headers are ignored", async () => {
    expect((await api.get("/opportunities?limit=1", { headers: { "X-HTTP-Method-Override": "DELETE" } })).status).toBe(200);
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
    [99, "limit=0", ["limit"]],
    [100, "limit=101", ["limit"]],
    [101, "limit=-1", ["limit"]],
    [102, "limit=abc", ["limit"]],
    [103, "limit=5.5", ["limit"]],
    [104, "limit=", ["limit"]],
    [105, "limit=1e1", ["limit"]],
    [106, "limit=0x10", ["limit"]],
    [107, "limit=0b11", ["limit"]],
    [108, "limit=%205", ["limit"]],
    [109, "limit=5%20", ["limit"]],
    [110, "limit=5.0", ["limit"]],
    [111, "limit=+5", ["limit"]],
    [112, "limit=%2B5", ["limit"]],
    [113, "limit=05", ["limit"]],
    [114, "limit=1_0", ["limit"]],
    [115, "limit=%EF%BC%95", ["limit"]],
    [116, "limit=9007199254740993", ["limit"]],
    [117, "limit=1,2", ["limit"]],
    [118, "limit=5%00", ["limit"]],
    [119, "limit=%zz", ["limit"]],
    [120, "limit=Infinity", ["limit"]],
    [121, "limit=1&limit=2", ["limit"]],
    [122, "limit", ["limit"]],
    [123, "limit=0&status=nope&updated_since=x", ["limit", "status", "updated_since"]],
    [139, "status=foo", ["status"]],
    [140, "status=open,foo", ["status"]],
    [141, "status=OPEN", ["status"]],
    [142, "status=", ["status"]],
    [143, "status=,", ["status"]],
    [144, "status=open,,closed", ["status"]],
    [145, "status=open,", ["status"]],
    [147, "status=__proto__", ["status"]],
    [148, 'status=["open"]', ["status"]],
    [149, "status=[open,closed", ["status"]],
    [150, "status=%ff", ["status"]],
    [151, `status=${Array(60).fill("open").join()}`, ["status"]],
    [151, `status=${Array(51).fill("open").join("&status=")}`, ["status"]],
    [154, "program_type=sbir", ["program_type"]],
    [155, "program_type=FOO", ["program_type"]],
    [162, "source=", ["source"]],
    [162, "source=SAM&source=%20", ["source"]],
    [163, "source=a%00b", ["source"]],
    [163, "source=a%C2%85b", ["source"]],
    [171, "agency=", ["agency"]],
    [171, "agency=%20%20", ["agency"]],
    [172, `agency=${"x".repeat(201)}`, ["agency"]],
    [173, "agency=a&agency=b", ["agency"]],
    [174, "agency=%E0%A4", ["agency"]],
    [175, "source_opportunity_id=N1", ["source_opportunity_id"]],
    [176, "source_opportunity_id=N1&source=SAM,SBIR", ["source_opportunity_id"]],
    [176, "source_opportunity_id=N1&source=", ["source", "source_opportunity_id"]],
    [190, "updated_since=2026-02-30T00:00:00Z", ["updated_since"]],
    [191, "updated_since=2023-02-29T00:00:00Z", ["updated_since"]],
    [192, "updated_since=2026-01-01T24:00:00Z", ["updated_since"]],
    [193, "updated_since=2026-01-01T00:60:00Z", ["updated_since"]],
    [194, "updated_since=2026-06-15T12:00:60Z", ["updated_since"]],
    [195, "updated_since=2026-01-01", ["updated_since"]],
    [196, "updated_since=2026-01-01T00:00:00", ["updated_since"]],
    [197, "updated_since=2026-01-01T00:00Z", ["updated_since"]],
    [198, "updated_since=2026-01-01%2000:00:00Z", ["updated_since"]],
    [199, "updated_since=2026-01-01T00:00:00%2B0500", ["updated_since"]],
    [200, "updated_since=2026-01-01T00:00:00%2B24:00", ["updated_since"]],
    [201, "updated_since=2026-01-01T00:00:00.Z", ["updated_since"]],
    [202, "updated_since=2026-01-01T00:00:00,5Z", ["updated_since"]],
    [203, "updated_since=1767225600", ["updated_since"]],
    [204, "updated_since=%2B012026-01-01T00:00:00Z", ["updated_since"]],
    [205, "updated_since=Jan%201%202026", ["updated_since"]],
    [206, "updated_since=2026-1-1T00:00:00Z", ["updated_since"]],
    [207, "updated_since=2026-01-01T00:00:00Z%0A", ["updated_since"]],
    [208, "updated_since=", ["updated_since"]],
    [241, "limit=0&cursor=x", ["limit"]],
  ])("%i: ?%s is refused", async (_, query, fields) => {
    const response = await api.get(`/opportunities?${query}`);
    const body = await expectProblem(response, { code: "invalid_parameter", fields });
    expect(body.instance).toBe("/v1/opportunities");
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

  test("93: the problem has its own content type, whatever Accept says", async () => {
    await expectProblem(await api.get("/opportunities?limit=0", { headers: { Accept: "application/json" } }), {
      code: "invalid_parameter",
    });
  });

  test("agency may have 200 characters, also outside the BMP", async () => {
    await list(`?agency=${encodeURIComponent("𝔸".repeat(200))}`);
  });
});

describe("an unsupported parameter", () => {
  test.each([
    [124, "LIMIT=5", ["LIMIT"]],
    [125, "unknown=1&utm_source=x", ["unknown", "utm_source"]],
    [126, "__proto__=1&constructor=2&hasOwnProperty=3", ["__proto__", "constructor", "hasOwnProperty"]],
    [127, "__proto__[limit]=1", ["__proto__[limit]"]],
    [128, "limit[]=5", ["limit[]"]],
    [129, "&&&=&=x", [""]],
    [130, "%zz=1", ["%zz"]],
    [152, "status[]=open", ["status[]"]],
    [212, "q=x", ["q"]],
    [213, "q=", ["q"]],
    [214, "q", ["q"]],
    [215, "sort=updated_at", ["sort"]],
    [216, "order=asc", ["order"]],
    [217, "q=x&limit=0", ["q"]],
    [218, "Q=x", ["Q"]],
    [218, "q=x&q=y", ["q"]],
  ])("%i: ?%s is refused", async (_, query, fields) => {
    await expectProblem(await api.get(`/opportunities?${query}`), { code: "unsupported_parameter", fields });
  });

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
