/** Requests that are JSON-RPC and do not meet the protocol of MCP: what a client gets, in one process. */
import { expect, test } from "bun:test";
import { serveMcp } from "../../src/mcp/stdio.ts";
import { initialize } from "../support/mcp.ts";

/** Over data that cannot be opened. */
const data = {
  place: "nowhere",
  withCatalog: () => Promise.reject(new Error("there is none")),
  withIndex: () => Promise.reject(new Error("there is none")),
};

/** What the server sends for these messages, after `initialize`. */
async function responsesTo(...messages: unknown[]): Promise<unknown[]> {
  const written: string[] = [];
  const input = new Blob([initialize, ...messages].map((message) => `${JSON.stringify(message)}\n`)).stream();
  const write = async (text: string) => void written.push(text);
  await serveMcp({ data, now: Date.now, log: () => undefined, stop: new AbortController().signal, input, write });
  return written.map((text) => JSON.parse(text)).filter(({ id }) => id !== initialize.id);
}

test.each([
  ["tools/call", { name: "sources", arguments: [] }, "params.arguments"],
  ["tools/call", { name: "sources", arguments: "{}" }, "params.arguments"],
  ["tools/call", { name: "sources", arguments: null }, "params.arguments"],
  ["tools/call", { name: 5 }, "params.name"],
  ["tools/call", {}, "params.name"],
  ["tools/call", undefined, "params"],
  ["resources/read", {}, "params.uri"],
  ["resources/read", { uri: [] }, "params.uri"],
  ["tools/list", { cursor: 5 }, "params.cursor"],
  ["initialize", {}, "params.protocolVersion"],
])("%s with %j is refused with a sentence that names %s", async (method, params, member) => {
  expect(await responsesTo({ jsonrpc: "2.0", id: 1, method, params })).toEqual([
    { jsonrpc: "2.0", id: 1, error: { code: -32_602, message: `Cannot read the request: "${member}" is missing or has the wrong type` } },
  ]);
});

test("an unknown method is still an unknown method, and a request without arguments a call", async () => {
  const responses = await responsesTo(
    { jsonrpc: "2.0", id: 1, method: "tools/nope" },
    { jsonrpc: "2.0", id: 2, method: "ping" },
    { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "sources" } },
  );
  expect(responses).toMatchObject([{ error: { code: -32_601 } }, { result: {} }, { result: { isError: true } }]);
});

test("serveMcp() returns at once if it was stopped while the data were opened", async () => {
  const input = new ReadableStream<Uint8Array>();
  await serveMcp({ data, now: Date.now, log: () => undefined, stop: AbortSignal.abort(), input, write: async () => undefined });
});
