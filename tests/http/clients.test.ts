/** Clients that others' tools make of the description. `WRITE=1 bun test clients` writes the types anew; the type check compiles them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { plugin } from "bun";
import createClient, { type Client } from "openapi-fetch";
import { openapiDocument } from "../../src/http/openapi.ts";
import { BASE_URL, type TestApi } from "../support/api.ts";
import { sixtyApi, U, X } from "../support/sixty.ts";
import type { paths } from "./api-types.ts";

type ListQuery = NonNullable<paths["/opportunities"]["get"]["parameters"]["query"]>;

const FILE = new URL("./api-types.ts", import.meta.url).pathname;
const HEAD = "// biome-ignore-all lint: written by openapi-typescript.\n// biome-ignore-all format: the same.\n";

test("openapi-typescript makes the types that the client below is compiled with", async () => {
  const types = HEAD + (await generatedTypes());
  if (process.env.WRITE === "1") await Bun.write(FILE, types);
  else expect(types).toBe(await Bun.file(FILE).text());
}, 60_000);

/** The generator asks for TypeScript 5's own interface, which the project's TypeScript no longer has. */
async function generatedTypes(): Promise<string> {
  const typescript = await import("typescript-5");
  plugin({
    name: "typescript 5",
    setup: (build) => void build.module("typescript", () => ({ exports: { ...typescript }, loader: "object" })),
  });
  const { astToString, default: generate } = await import("openapi-typescript");
  return astToString(await generate(JSON.parse(JSON.stringify(openapiDocument(BASE_URL)))));
}

describe("a client of openapi-fetch", () => {
  let api: TestApi;
  let client: Client<paths>;

  beforeAll(async () => {
    api = await sixtyApi();
    const fetch = (request: Request) => api.fetch(new Request(request.url.replace(BASE_URL, "http://localhost/v1"), request));
    client = createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${api.key}` }, fetch });
  });

  test("reads all pages of a filtered list", async () => {
    const found: { id: string; status: string }[] = [];
    let cursor: string | null = null;
    do {
      const query: ListQuery = { status: ["open", "closed"], limit: 5, ...(cursor !== null && { cursor }) };
      const { data } = await client.GET("/opportunities", { params: { query } });
      found.push(...(data?.data ?? []));
      cursor = data?.meta.next_cursor ?? null;
    } while (cursor !== null);
    expect(found).toHaveLength(15);
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set(["open", "closed"]));
  });

  test("reads one record again only if it changed", async () => {
    const { data, response } = await client.GET("/opportunities/{id}", { params: { path: { id: U } } });
    expect(data?.data.source.code).toBe("SAM");
    const held = response.headers.get("etag") ?? "";
    const again = await client.GET("/opportunities/{id}", { params: { path: { id: U }, header: { "If-None-Match": held } } });
    expect(again.response.status).toBe(304);
  });

  test("reads a history and gets problems as such", async () => {
    const query = { type: ["status_changed" as const], include_insignificant: "true" as const };
    const { data } = await client.GET("/opportunities/{id}/events", { params: { path: { id: U }, query } });
    expect(data?.data.map(({ type }) => type)).toEqual(["status_changed"]);
    const { error } = await client.GET("/opportunities/{id}", { params: { path: { id: X } } });
    expect(error?.code).toBe("not_found");
  });
});
