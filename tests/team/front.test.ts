/** Which part of the program a request goes to, and which host names are refused. */
import { describe, expect, test } from "bun:test";
import type { RequestEntry } from "../../src/monitoring/log.ts";
import type { Arrival } from "../../src/team/admission.ts";
import { createFront } from "../../src/team/front.ts";

const failures: unknown[] = [];
const logged: RequestEntry[] = [];
const part =
  (name: string) =>
  async ({ request }: Arrival) => {
    if (request.headers.has("x-fail")) throw new Error(name);
    return new Response(name);
  };
const NOON = Date.UTC(2026, 6, 1, 12);
const parts = {
  api: async () => new Response("api"),
  mcp: part("mcp"),
  status: part("status"),
  pages: part("pages"),
  hosts: ["127.0.0.1", "api.example.org"],
  now: () => NOON,
  randomBytes: (count: number) => new Uint8Array(count),
  log: {
    request: (entry: RequestEntry) => void logged.push(entry),
    failure: (_: number, error: unknown) => void failures.push(error),
  },
};
const front = createFront(parts);
const get = (path: string, headers: Record<string, string> = {}) =>
  front(new Request(`http://127.0.0.1:8080${path}`, { headers: { host: "127.0.0.1:8080", ...headers } }));
const bodyOf = async (path: string, headers?: Record<string, string>) => (await get(path, headers)).text();

describe("a request goes", () => {
  test.each([
    ["/v1", "api"],
    ["/v1/opportunities?limit=1", "api"],
    ["/v1?a=b", "api"],
    ["/a/../v1/meta", "api"],
    ["/v1x", "pages"],
    ["/v10/meta", "pages"],
    ["/?words=/v1/meta", "pages"],
    ["/status?a=b", "status"],
    ["/status/", "pages"],
    ["/mcp?a=b", "mcp"],
    ["/mcp/", "pages"],
    ["/anything", "pages"],
  ])("%s to %s", async (path, name) => {
    expect(await bodyOf(path)).toBe(name);
  });

  test.each([
    ["/v1/meta", "api"],
    ["/mcp", "mcp"],
    ["/status", "api"],
    ["/", "api"],
  ])("%s to %s if there are no pages", async (path, name) => {
    const without = createFront({ ...parts, pages: undefined });
    expect(await (await without(new Request(`http://127.0.0.1:8080${path}`, { headers: { host: "localhost" } }))).text()).toBe(name);
  });
});

describe("the host", () => {
  test.each([
    ["localhost:8080", 200],
    ["[::1]", 200],
    ["api.example.org", 200],
    ["evil.example", 421],
    ["api.example.org.evil.example", 421],
    ["", 421],
    ["a, b", 421],
  ])("%s gets %i from all parts but the API", async (host, status) => {
    for (const path of ["/", "/status", "/mcp"]) expect((await get(path, { host })).status).toBe(status);
    expect(await bodyOf("/v1/meta", { host })).toBe("api");
  });
});

test("responses of all parts but the API keep other sites out", async () => {
  const policyOf = async (path: string, host = "localhost") => (await get(path, { host })).headers.get("content-security-policy");
  for (const path of ["/", "/status", "/mcp"]) expect(await policyOf(path)).toStartWith("default-src 'none'");
  expect(await policyOf("/", "evil.example")).toStartWith("default-src 'none'");
  expect(await policyOf("/v1/meta")).toBeNull();
});

test("a part that fails is logged, and its reason is not shown", async () => {
  const response = await get("/status", { "x-fail": "1" });
  expect([response.status, await response.text()]).toEqual([500, "The server failed. Its log says why.\n"]);
  expect(failures.splice(0)).toEqual([new Error("status")]);
});

test("each request beside the API has one line in the log, with its route and without its address or body", async () => {
  const linesOf = async (path: string, init: RequestInit = {}) => {
    logged.length = 0;
    await front(new Request(`http://127.0.0.1:8080${path}`, { ...init, headers: { host: "127.0.0.1:8080" } }));
    return logged.map(({ method, route, status, duration_ms, key_id }) => [method, route, status, duration_ms, key_id]);
  };
  expect(await linesOf("/v1/meta")).toEqual([]); // The API has its own.
  expect(await linesOf("/?words=secret")).toEqual([["GET", "pages:/", 200, 0, null]]);
  expect(await linesOf("/opportunities/8f?as_of=2026-01-01")).toEqual([["GET", "pages:/opportunities/{id}", 200, 0, null]]);
  expect(await linesOf("/feeds/secret.secret.ics", { method: "HEAD" })).toEqual([["HEAD", "pages:/feeds/{token}.ics", 200, 0, null]]);
  expect(await linesOf("/sign-in", { method: "POST", body: "key=secret" })).toEqual([["POST", "pages:/sign-in", 200, 0, null]]);
  expect(await linesOf("/mcp", { method: "POST", body: "{}" })).toEqual([["POST", "/mcp", 200, 0, null]]);
  expect(await linesOf("/secret/../other")).toEqual([["GET", null, 200, 0, null]]);
  expect(await linesOf("/events.json?after=secret")).toEqual([["GET", "pages:/events.json", 200, 0, null]]);
  expect(JSON.stringify(logged)).not.toContain("secret");
});

test("HEAD has the head of GET, with Content-Length and Date", async () => {
  for (const path of ["/", "/status", "/mcp", "/none"]) {
    const ask = (method: string) => front(new Request(`http://127.0.0.1:8080${path}`, { method, headers: { host: "localhost" } }));
    const [get, head] = [await ask("GET"), await ask("HEAD")];
    expect(await head.text()).toBe("");
    const { date, "content-length": length, ...others } = Object.fromEntries(head.headers);
    expect([date, length]).toEqual([new Date(NOON).toUTCString(), `${(await get.clone().text()).length}`]);
    expect(others).toEqual(Object.fromEntries(get.headers));
  }
});

test("an address that is too long for the reader gets 414", async () => {
  expect((await get(`/?words=${"a".repeat(14_000)}`)).status).toBe(414);
  expect((await get(`/?words=${"a".repeat(13_000)}`)).status).toBe(200);
});
