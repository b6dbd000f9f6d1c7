/** Clients that other tools generate from the description: their types compile in a program that uses them, which then runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { plugin } from "bun";
import createClient from "openapi-fetch";
import { openapiDocument } from "../../src/http/openapi.ts";
import { BASE_URL, type TestApi } from "../support/api.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { sixtyApi, U, X } from "../support/sixty.ts";

afterAll(dropScratch);

/** The generators need the API of TypeScript 5, which the project's TypeScript no longer has. */
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

const fetchFrom = (api: TestApi) => (request: Request) =>
  api.fetch(new Request(request.url.replace(BASE_URL, "http://localhost/v1"), request));

const directory = aDirectory();
let api: TestApi;
beforeAll(async () => {
  api = await sixtyApi();
  await provideTypeScript5();
  const { astToString, default: generateTypes } = await import("openapi-typescript");
  await Bun.write(join(directory, "api-types.ts"), astToString(await generateTypes(description())));
  await Bun.write(join(directory, "use-types.ts"), USE_TYPES);
  const { createClient: generateClient } = await import("@hey-api/openapi-ts");
  await generateClient({ input: description(), output: { path: join(directory, "client") }, logs: { level: "silent" } });
  await Bun.write(join(directory, "use-client.ts"), USE_CLIENT);
});

test("programs that use the clients compile", async () => {
  expect(await compile(directory)).toEqual({ exitCode: 0, output: "" });
});

describe("a client with openapi-fetch and the types of openapi-typescript", () => {
  test("reads lists, a record, its history, problems, sources and metadata", async () => {
    const client = createClient({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${api.key}` }, fetch: fetchFrom(api) });
    const { use } = await import(join(directory, "use-types.ts"));
    const { found, ...rest } = await use(client, U, X);
    expect(found).toHaveLength(15);
    expect(new Set(found.map(({ status }: { status: string }) => status))).toEqual(new Set(["open", "closed"]));
    expect(rest).toEqual({
      source: "SAM",
      estimate: null,
      again: 304,
      types: ["status_changed"],
      problem: "not_found",
      codes: expect.arrayContaining(["SAM"]),
      name: "fundfeed",
    });
  });
});

/** A program that uses such a client. */
const USE_TYPES = `
import type { Client } from "openapi-fetch";
import type { components, paths } from "./api-types";

type Opportunity = components["schemas"]["Opportunity"];
type OpportunityEvent = components["schemas"]["OpportunityEvent"];
type ListQuery = NonNullable<paths["/opportunities"]["get"]["parameters"]["query"]>;
type EventsQuery = NonNullable<paths["/opportunities/{id}/events"]["get"]["parameters"]["query"]>;

export async function use(client: Client<paths>, id: string, unknownId: string) {
  const found: Opportunity[] = [];
  let cursor: string | null = null;
  do {
    const query: ListQuery = { status: ["open", "closed"], limit: 5, ...(cursor !== null && { cursor }) };
    const page = await client.GET("/opportunities", { params: { query } });
    found.push(...(page.data?.data ?? []));
    cursor = page.data?.meta.next_cursor ?? null;
  } while (cursor !== null);

  const { data, response } = await client.GET("/opportunities/{id}", { params: { path: { id } } });
  const opportunity: Opportunity | undefined = data?.data;
  const estimate: unknown = opportunity?.value_estimate;
  const header = { "If-None-Match": response.headers.get("etag") ?? "" };
  const again = await client.GET("/opportunities/{id}", { params: { path: { id }, header } });

  const query: EventsQuery = { type: ["status_changed"], include_insignificant: true };
  const history = await client.GET("/opportunities/{id}/events", { params: { path: { id }, query } });
  const events: OpportunityEvent[] = history.data?.data ?? [];
  const { error } = await client.GET("/opportunities/{id}", { params: { path: { id: unknownId } } });
  const problem: components["schemas"]["ProblemDetails"] | undefined = error;

  const sources: components["schemas"]["SourceEntry"][] = (await client.GET("/sources")).data?.data ?? [];
  const metadata: components["schemas"]["ServiceMetadata"] | undefined = (await client.GET("/meta")).data?.data;
  return {
    found, estimate, source: opportunity?.source.code, again: again.response.status, types: events.map(({ type }) => type),
    problem: problem?.code, codes: sources.map(({ code }) => code), name: metadata?.name,
  };
}
`;

describe("a client generated by @hey-api/openapi-ts", () => {
  test("reads a list", async () => {
    const { listOpportunities } = await import(join(directory, "client/index.ts"));
    const query = { status: ["open", "closed"], limit: 5 };
    const { data } = await listOpportunities({ baseUrl: BASE_URL, auth: api.key, fetch: fetchFrom(api), query });
    expect(data.data).toHaveLength(5);
    expect(data.meta.has_more).toBe(true);
  });
});

/** A program that uses such a client. Its results have the types of the named schemas. */
const USE_CLIENT = `
import { getOpportunity, listOpportunities, listOpportunityEvents, type Opportunity, type OpportunityEvent } from "./client";

const list = await listOpportunities({ query: { status: ["open"], limit: 5 }, throwOnError: true });
const listed: Opportunity[] = list.data.data;
const one = await getOpportunity({ path: { id: "" }, throwOnError: true });
const opportunity: Opportunity = one.data.data;
const history = await listOpportunityEvents({ path: { id: opportunity.id }, query: { include_insignificant: true }, throwOnError: true });
const events: OpportunityEvent[] = history.data.data;
console.log(listed, events, opportunity.value_estimate);
`;

/** Compiles with the settings of a new project. */
async function compile(directory: string): Promise<{ exitCode: number; output: string }> {
  const paths = { "openapi-fetch": [Bun.resolveSync("openapi-fetch", import.meta.dir).replace(/dist.*$/, "")] };
  const settings = {
    module: "preserve",
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable"],
    types: [],
    strict: true,
    noEmit: true,
    paths,
  };
  await Bun.write(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions: settings }));
  const child = Bun.spawn([process.execPath, "x", "tsc", "--project", directory], {
    cwd: import.meta.dir,
    stdout: "pipe",
    stderr: "inherit",
  });
  return { exitCode: await child.exited, output: await child.stdout.text() };
}
