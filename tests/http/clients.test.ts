/** Clients that others' tools make of the description. `WRITE=1 bun test clients` writes the types anew; the type check compiles them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { plugin } from "bun";
import createClient, { type Client } from "openapi-fetch";
import { openapiDocument } from "../../src/http/openapi.ts";
import { BASE_URL, type TestApi } from "../support/api.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { sixtyApi, U, X } from "../support/sixty.ts";
import type { components, paths } from "./api-types.ts";

type Opportunity = components["schemas"]["Opportunity"];
type OpportunityEvent = components["schemas"]["OpportunityEvent"];
type ListQuery = NonNullable<paths["/opportunities"]["get"]["parameters"]["query"]>;
type EventsQuery = NonNullable<paths["/opportunities/{id}/events"]["get"]["parameters"]["query"]>;

const FILE = new URL("./api-types.ts", import.meta.url).pathname;
const HEAD = "// biome-ignore-all lint: written by openapi-typescript.\n// biome-ignore-all format: the same.\n";

test("openapi-typescript makes the types that the client below is compiled with", async () => {
  const types = HEAD + (await generatedTypes());
  if (process.env.WRITE === "1") await Bun.write(FILE, types);
  else expect(types).toBe(await Bun.file(FILE).text());
}, 300_000);

async function generatedTypes(): Promise<string> {
  await provideTypeScript5();
  const { astToString, default: generate } = await import("openapi-typescript");
  return astToString(await generate(description()));
}

/** The generators ask for TypeScript 5's own interface, which the project's TypeScript no longer has. */
async function provideTypeScript5(): Promise<void> {
  const typescript = await import("typescript-5");
  plugin({
    name: "typescript 5",
    setup: (build) => void build.module("typescript", () => ({ exports: { ...typescript }, loader: "object" })),
  });
}

function description() {
  return JSON.parse(JSON.stringify(openapiDocument(BASE_URL)));
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
    const found: Opportunity[] = [];
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
    const opportunity: Opportunity | undefined = data?.data;
    expect(opportunity?.source.code).toBe("SAM");
    const estimate: unknown = opportunity?.value_estimate;
    expect(estimate).toBeNull();
    const held = response.headers.get("etag") ?? "";
    const again = await client.GET("/opportunities/{id}", { params: { path: { id: U }, header: { "If-None-Match": held } } });
    expect(again.response.status).toBe(304);
  });

  test("reads a history and gets problems as such", async () => {
    const query: EventsQuery = { type: ["status_changed"], include_insignificant: true };
    const { data } = await client.GET("/opportunities/{id}/events", { params: { path: { id: U }, query } });
    const events: OpportunityEvent[] = data?.data ?? [];
    expect(events.map(({ type }) => type)).toEqual(["status_changed"]);
    const { error } = await client.GET("/opportunities/{id}", { params: { path: { id: X } } });
    const problem: components["schemas"]["ProblemDetails"] | undefined = error;
    expect(problem?.code).toBe("not_found");
  });

  test("reads the sources and the service's metadata", async () => {
    const sources: components["schemas"]["SourceEntry"][] = (await client.GET("/sources")).data?.data ?? [];
    expect(sources.map(({ code }) => code)).toContain("SAM");
    const metadata: components["schemas"]["ServiceMetadata"] | undefined = (await client.GET("/meta")).data?.data;
    expect(metadata?.name).toBe("fundfeed");
  });
});

describe("a client that @hey-api/openapi-ts writes", () => {
  const directory = aDirectory();
  afterAll(dropScratch);

  test("compiles, and reads a list", async () => {
    await provideTypeScript5();
    const { createClient: generate } = await import("@hey-api/openapi-ts");
    await generate({ input: description(), output: { path: join(directory, "client") }, logs: { level: "silent" } });

    await Bun.write(join(directory, "use.ts"), USE);
    expect(await compile(directory)).toEqual({ exitCode: 0, output: "" });

    const api = await sixtyApi();
    const { listOpportunities } = await import(join(directory, "client/index.ts"));
    const fetch = (request: Request) => api.fetch(new Request(request.url.replace(BASE_URL, "http://localhost/v1"), request));
    const query = { status: ["open", "closed"], limit: 5 };
    const { data } = await listOpportunities({ baseUrl: BASE_URL, auth: api.key, fetch, query });
    expect(data.data).toHaveLength(5);
    expect(data.meta.has_more).toBe(true);
  }, 300_000);
});

/** What a program does with such a client: its results are what the named schemas say. */
const USE = `
import { getOpportunity, listOpportunities, listOpportunityEvents, type Opportunity, type OpportunityEvent } from "./client";

const list = await listOpportunities({ query: { status: ["open"], limit: 5 }, throwOnError: true });
const listed: Opportunity[] = list.data.data;
const one = await getOpportunity({ path: { id: "" }, throwOnError: true });
const opportunity: Opportunity = one.data.data;
const history = await listOpportunityEvents({ path: { id: opportunity.id }, query: { include_insignificant: true }, throwOnError: true });
const events: OpportunityEvent[] = history.data.data;
console.log(listed, events, opportunity.value_estimate);
`;

/** With the settings of a project that has just been begun. */
async function compile(directory: string): Promise<{ exitCode: number; output: string }> {
  const settings = { module: "preserve", target: "esnext", lib: ["esnext", "dom", "dom.iterable"], types: [], strict: true, noEmit: true };
  await Bun.write(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions: settings }));
  const child = Bun.spawn([process.execPath, "x", "tsc", "--project", directory], {
    cwd: import.meta.dir,
    stdout: "pipe",
    stderr: "inherit",
  });
  return { exitCode: await child.exited, output: await child.stdout.text() };
}
