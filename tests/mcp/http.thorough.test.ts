/** `/mcp` of `up`: the official client over HTTP in both revisions, the same key and quota as the API, and the same results as `fundfeed mcp`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpResponder } from "../../src/mcp/http.ts";
import type { ToolData } from "../../src/mcp/tools/tool.ts";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { dropScratch } from "../support/imports.ts";
import { clientOver, connectMcp, type McpClient, type Revision } from "../support/mcp.ts";

setDefaultTimeout(300_000);

let home: Home;
let server: Server;
let key: string;
const clients: McpClient[] = [];

beforeAll(async () => {
  home = aHome();
  const records = ["Solar sail", "Quantum sensing"].map((title, n) => ({ source: { code: "OWN", opportunity_id: `N-${n}` }, title }));
  await home.run(["import", "records", "-"], { stdin: records.map((record) => `${JSON.stringify(record)}\n`).join("") });
  server = await home.serve(["up", "--port", "0", "--pull", "none"]);
  key = await home.key();
});
afterAll(async () => {
  await Promise.all(clients.map(({ close }) => close()));
  expect(await server.stop()).toBe(0);
  await dropHomes();
  dropScratch();
});

async function connected(revision: Revision): Promise<McpClient> {
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.port}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  const client = await clientOver(transport, revision);
  clients.push(client);
  return client;
}

describe.each(["2025-11-25", "2026-07-28"] as const)("in revision %s", (revision) => {
  let http: McpClient;
  beforeAll(async () => {
    http = await connected(revision);
  });

  test("has the tools of fundfeed mcp, and the same results", async () => {
    const stdio = await connectMcp(["--data", home.at("fundfeed-data")], { revision });
    clients.push(stdio);
    expect((await http.client.listTools()).tools).toEqual((await stdio.client.listTools()).tools);
    const [one, other] = await Promise.all(
      [http, stdio].map(({ call }) => call<{ results: { id: string }[] }>("find", { words: "quantum" })),
    );
    expect(one?.data.results).toHaveLength(1);
    expect(one?.data.results).toEqual(other?.data.results ?? []);
    const uri = `fundfeed://opportunities/${one?.data.results[0]?.id}`;
    expect((await http.client.readResource({ uri })).contents).toHaveLength(1);
  });

  test("names no directory of the server", async () => {
    expect(http.client.getInstructions()).toContain("These tools read the data of a server; they cannot write");
  });

  test("returns a failure as a result, and refuses what is no request", async () => {
    const { isError, text } = await http.call("get", { id: "nothing" });
    expect([isError, text]).toEqual([true, 'Cannot get: no opportunity has the id or number "nothing". Look for it with find']);
    await expect(http.client.callTool({ name: "get", arguments: [] as never })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Cannot read the request: "params.arguments" is missing or has the wrong type'),
    });
    await expect(http.call("delete")).rejects.toMatchObject({ code: -32602 });
  });
});

test("counts for the quota of the key, together with the API", async () => {
  const remaining = async () => Number((await server.get("/sources", key)).headers.get("ratelimit-remaining"));
  const { call } = await connected("2026-07-28");
  const before = await remaining();
  await call("sources");
  await call("sources");
  expect(before - (await remaining())).toBe(3);
});

test("neither a wrong argument nor an unknown tool is a failure of the server", () => {
  expect(server.log()).not.toContain('"level":"error"');
});

describe.each(["2025-11-25", "2026-07-28"] as const)("a call that takes long, in revision %s,", (revision) => {
  /** Reports progress, and waits until it is cut off. */
  const cutOff = Promise.withResolvers<unknown>();
  const data: ToolData = {
    place: "a test",
    withCatalog: (work) => work({} as never),
    withIndex: async (_, { signal, progress }) => {
      progress(1, 2, "indexing");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      cutOff.resolve(signal.reason);
      throw signal.reason;
    },
  };
  const failures: unknown[] = [];
  const slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: createMcpResponder({ data, now: Date.now, onFailure: (error) => failures.push(error) }),
  });
  afterAll(() => slow.stop(true));

  test("reports its progress, and is cut off when its client goes away", async () => {
    const { client } = await clientOver(new StreamableHTTPClientTransport(new URL(slow.url)), revision);
    const reported = Promise.withResolvers<unknown>();
    const going = new AbortController();
    const call = client.callTool({ name: "find", arguments: { words: "sail" } }, { onprogress: reported.resolve, signal: going.signal });
    expect(await reported.promise).toEqual({ progress: 1, total: 2, message: "indexing" });
    going.abort();
    await expect(call).rejects.toThrow();
    await client.close();
    await cutOff.promise;
    expect(failures).toEqual([]);
  });
});
