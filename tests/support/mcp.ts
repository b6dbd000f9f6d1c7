/** `fundfeed mcp` in a process of its own: with the official client, or with raw lines. */
import { expect } from "bun:test";
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { tools } from "../../src/mcp/tools/all.ts";
import type { EpochMs } from "../../src/text/instant.ts";
import { program } from "./binary.ts";
import { inScratch } from "./imports.ts";
import { preloading } from "./preload.ts";

type StartOptions = { now?: EpochMs; env?: Record<string, string> };
type ConnectOptions = StartOptions & { revision?: Revision };

/** The revisions of the protocol that the tests speak. */
export type Revision = "2025-11-25" | "2026-07-28";

function commandLine(args: readonly string[], { now, env = {} }: StartOptions) {
  const clock = now !== undefined && { BUN_OPTIONS: preloading("fixed-clock.ts"), FUNDFEED_TEST_CLOCK: `${now}` };
  return { command: program, args: ["mcp", ...args], env: { PATH: process.env.PATH ?? "", TMPDIR: inScratch(), ...clock, ...env } };
}

/** A result with `structuredContent` of the shape that the test expects. */
export type ToolResult<T> = { text: string; isError: boolean; data: T };

export type McpClient = {
  client: Client;
  /** Calls a tool, and checks the result against the schema that the tool has, of which the client is told the outline. */
  call: <T = Record<string, unknown>>(name: string, args?: Record<string, unknown>) => Promise<ToolResult<T>>;
  close: () => Promise<void>;
};

/** The client asks for revisions in the process that it uses. For its own class it would start another one. */
class OneProcess extends StdioClientTransport {}

/** Starts the command and connects the official client to it over its standard input and output. */
export async function connectMcp(args: readonly string[], { revision, ...options }: ConnectOptions = {}): Promise<McpClient> {
  return clientOver(new OneProcess({ ...commandLine(args, options), stderr: "ignore" }), revision);
}

export async function clientOver(transport: Transport, revision: Revision = "2026-07-28"): Promise<McpClient> {
  const mode = revision === "2026-07-28" ? { pin: revision } : "legacy"; // That offers 2025-11-25.
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  await client.listTools(); // From here on, the client checks results against the outlines.
  return {
    client,
    call: async <T>(name: string, args: Record<string, unknown> = {}) => {
      const result = await client.callTool({ name, arguments: args });
      if (result.structuredContent !== undefined) expect(faultsOf(name, result.structuredContent)).toEqual([]);
      const [content] = result.content;
      return { text: content?.type === "text" ? content.text : "", isError: result.isError === true, data: result.structuredContent as T };
    },
    close: () => client.close(),
  };
}

const ajv = addFormats(new Ajv({ allErrors: true, strict: false }));
const checks = new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema)]));

/** Where a result does not meet the schema of its tool. */
function faultsOf(name: string, result: unknown): unknown[] {
  const check = checks.get(name);
  return check?.(result) ? [] : (check?.errors ?? ["no such tool"]);
}

export function startMcp(args: readonly string[], options: StartOptions = {}): Bun.Subprocess<"pipe", "pipe", "pipe"> {
  const { command, args: words, env } = commandLine(args, options);
  return Bun.spawn([command, ...words], { env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
}

/** The first message of a session. */
export const initialize = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

export function toolCall(id: number | string, name: string, args: Record<string, unknown> = {}) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}
