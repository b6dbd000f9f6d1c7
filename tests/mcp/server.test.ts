/** `fundfeed mcp --server`: what the API serves is the same as over local data, and what it does not serve is refused. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fieldNames } from "../../src/filter/filter.ts";
import { type SourceServer, serve } from "../support/clocked-program.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { connectMcp, type McpClient, startMcp } from "../support/mcp.ts";
import { EXCERPTS } from "../support/real-data.ts";

setDefaultTimeout(300_000);

const served = ["status", "source", "program_type", "updated_after"];
let server: SourceServer;
let data: string;
let local: McpClient;
let remote: McpClient;
const clients: McpClient[] = [];

async function connected(args: readonly string[], env: Record<string, string> = {}): Promise<McpClient> {
  const client = await connectMcp(args, { env });
  clients.push(client);
  return client;
}

async function keyOf(perMinute: number): Promise<string> {
  const plan = `plan-${perMinute}`;
  await fundfeed(["plans", "set", plan, "--daily", "100000", "--per-minute", `${perMinute}`, "--data", data]);
  return (await fundfeed(["keys", "create", "--account", plan, "--plan", plan, "--data", data])).out.trim();
}

beforeAll(async () => {
  data = aDirectory();
  const challenges = ["20210607", "20210106T154854Z", "20210323", "20210714T202743Z"].flatMap((day) => [
    ...new Bun.Glob(`challenges-${day}*.json`).scanSync(join(EXCERPTS, "challenge-gov")),
  ]);
  for (const name of challenges.sort())
    await fundfeed(["import", "challenge-gov", join(EXCERPTS, "challenge-gov", name), "--snapshot", "--allow-removals", "--data", data]);
  await fundfeed(["import", "sbir-gov", join(EXCERPTS, "sbir-gov/sbir-topics-20260617.csv.gz"), "--data", data]);
  const key = await keyOf(100_000);
  server = await serve(["--data", data]);
  [local, remote] = await Promise.all([connected(["--data", data]), connected(["--server", server.base], { FUNDFEED_KEY: key })]);
});
afterAll(async () => {
  await Promise.all(clients.map(({ close }) => close()));
  await server?.stop("SIGTERM");
  dropScratch();
});

type Found = { results: { id: string; source: string }[]; total: number | null; next_cursor: string | null; complete: boolean };

test("offers the tools and filters that the API serves", async () => {
  const { tools } = await remote.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["find", "get", "history", "sources"]);
  const [find] = tools;
  expect(Object.keys(find?.inputSchema.properties ?? {}).sort()).toEqual([...served, "cursor", "limit", "sort"].sort());
  expect(find?.description).toContain("Over a server, the total is not known");
  expect(remote.client.getInstructions()).toContain("Not available over the API of a server: what_changed, explain");
});

describe("find", () => {
  test.each<Record<string, unknown>>([
    {},
    { status: ["closed", "archived"] },
    { source: ["sbir_gov"] },
    { program_type: ["PRIZE"] },
    { updated_after: "-1d" },
  ])("by %j finds the same as over local data", async (filter) => {
    const allOf = async ({ call }: McpClient) => {
      const ids: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { data, text, isError } = await call<Found>("find", { ...filter, sort: "updated", limit: 20, ...(cursor && { cursor }) });
        if (isError) throw new Error(text);
        ids.push(...data.results.map(({ id }) => id));
        expect(data.complete).toBe(data.next_cursor === null);
        cursor = data.next_cursor;
      }
      return ids;
    };
    const ids = await allOf(remote);
    expect(ids.toSorted()).toEqual((await allOf(local)).toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(20);
  });

  test.each(fieldNames.filter((name) => !served.includes(name)))("refuses the filter %s, and says where it works", async (name) => {
    const { isError, text } = await remote.call("find", { [name]: "x" });
    expect([isError, text]).toEqual([
      true,
      expect.stringContaining(`Cannot find: the API of a server has no filter "${name}". Over a server there are status, `),
    ]);
  });

  test("says that the total is not known, and what the age of a source is taken from", async () => {
    const { data } = await remote.call<Found & { freshness: { source: string; basis: string; age_seconds: number }[] }>("find", {
      limit: 1,
    });
    expect(data.total).toBeNull();
    expect(data.freshness.map(({ source, basis }) => [source, basis])).toEqual([
      ["CHALLENGE_GOV", "newest_change"],
      ["SBIR_GOV", "newest_change"],
    ]);
    for (const { age_seconds } of data.freshness) expect(age_seconds).toBeGreaterThanOrEqual(0);
  });
});

test.each(["what_changed", "explain"])("%s is refused with the reason", async (name) => {
  await expect(remote.call(name, {})).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining(`The tool ${name} is not available over a server: its API does not serve it.`),
  });
});

describe("get and history", () => {
  test("take an id, or an upstream id with its source", async () => {
    const [{ id = "" } = {}] = (await local.call<Found>("find", { source: ["SBIR_GOV"], limit: 1 })).data.results;
    type Got = { opportunity: { source: { opportunity_id: string; code: string } } };
    const { data } = await local.call<Got>("get", { id });
    expect((await remote.call<Got>("get", { id })).data.opportunity).toEqual(data.opportunity);
    const { opportunity_id, code } = data.opportunity.source;
    expect((await remote.call<Got>("get", { id: opportunity_id, source: code.toLowerCase() })).data.opportunity).toEqual(data.opportunity);
    expect((await remote.call("get", { id: opportunity_id })).text).toContain(
      "the API finds an upstream id only within one source; give the source too",
    );
    expect((await remote.call("get", { id: "00000000-0000-5000-8000-000000000000" })).text).toStartWith(
      "Cannot get: no opportunity has the id or number",
    );
  });

  test.each([
    {},
    { at_least: "noise" },
    { at_least: "material" },
    { types: ["date_changed", "opportunity_added"] },
    { since: "1d" },
    { until: "1d" },
  ])("history with %j is the same as over local data, page by page", async (conditions) => {
    const ids = (await local.call<Found>("find", { source: ["CHALLENGE_GOV"], limit: 5, sort: "updated" })).data.results.map(
      ({ id }) => id,
    );
    for (const id of ids) {
      const whole = await local.call<{ events: unknown[] }>("history", { id, ...conditions, limit: 100 });
      const events: unknown[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { data } = await remote.call<{ events: unknown[]; next_cursor: string | null }>("history", {
          id,
          ...conditions,
          limit: 2,
          ...(cursor && { cursor }),
        });
        events.push(...data.events);
        cursor = data.next_cursor;
      }
      expect(events).toEqual(whole.data.events);
    }
  });
});

test("sources are those that the server names", async () => {
  const { data } = await remote.call<{ sources: { code: string; records: null }[] }>("sources");
  const names = (await local.call<{ sources: { code: string }[] }>("sources")).data.sources.map(({ code }) => code);
  expect(data.sources.map(({ code, records }) => [code, records])).toEqual(names.map((code) => [code, null]));
});

test("a used-up quota, a wrong key and a server that is gone are reported without the key", async () => {
  const key = await keyOf(2);
  const file = aFile(key, "key.txt");
  const poor = await connected(["--server", server.base, "--key-file", file]);
  const { data, text } = await poor.call<{ returned: number; freshness: null }>("find", { limit: 1 }); // One request, and one for the sources.
  expect([data.returned, data.freshness, text]).toEqual([1, null, expect.stringContaining("\nHow old the data are could not be read.")]);
  const used = await poor.call("find", {});
  expect([used.isError, used.text]).toEqual([
    true,
    expect.stringMatching(/^Cannot find opportunities over http:.*: it returned 429 rate_limit_exceeded: .*; try again in \d+ seconds$/),
  ]);
  const wrong = await connected(["--server", server.base], { FUNDFEED_KEY: `${key}x` });
  expect((await wrong.call("find", {})).text).toMatch(/^Cannot find opportunities over .*: it returned 401 authentication_required: /);
  const gone = await connected(["--server", "http://127.0.0.1:1/v1"], { FUNDFEED_KEY: key });
  expect((await gone.call("find", {})).text).toMatch(
    /^Cannot find opportunities over .*: the connection was refused; try again in \d seconds$/,
  );
  for (const client of [poor, wrong, gone]) expect((await client.call("find", {})).text).not.toContain(key.slice(-20));
});

test.each([
  [["--server", "https://example.org/v1"], 1, "Cannot read from the server: put the API key into FUNDFEED_KEY\n"],
  [
    ["--server", "https://example.org/v1", "--data", "x"],
    2,
    "error: --server excludes --data, --database and --search-data\n(see --help)\n",
  ],
  [
    ["--server", "http://example.org/v1"],
    2,
    "error: http://example.org/v1 is not https; use --allow-http to send the key without TLS\n(see --help)\n",
  ],
])("fundfeed mcp %j fails at its start", async (args, code, message) => {
  const child = startMcp(args);
  expect([await child.exited, await child.stdout.text(), await child.stderr.text()]).toEqual([code, "", message]);
});
