/** Which part of the program a request goes to, and which host names are refused. */
import { describe, expect, test } from "bun:test";
import { createFront } from "../../src/team/front.ts";

const failures: unknown[] = [];
const part = (name: string) => async (request: Request) => {
  if (request.headers.has("x-fail")) throw new Error(name);
  return new Response(name);
};
const parts = {
  api: part("api"),
  mcp: part("mcp"),
  status: part("status"),
  pages: part("pages"),
  hosts: ["127.0.0.1", "api.example.org"],
  onFailure: (error: unknown) => failures.push(error),
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
