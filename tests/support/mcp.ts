/** `fundfeed mcp` in a process of its own, run from its source: with the official client, or with raw lines. */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { EpochMs } from "../../src/text/instant.ts";
import { inScratch } from "./imports.ts";

const root = join(import.meta.dir, "../..");

type StartOptions = { now?: EpochMs; env?: Record<string, string> };

function commandLine(args: readonly string[], { now, env = {} }: StartOptions) {
  const clock = now === undefined ? [] : ["--preload", join(import.meta.dir, "fixed-clock.ts")];
  return {
    command: process.execPath,
    args: [...clock, join(root, "src/main.ts"), "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", TMPDIR: inScratch(), ...(now !== undefined && { FUNDFEED_TEST_CLOCK: `${now}` }), ...env },
  };
}

/** A result with `structuredContent` of the shape that the test expects. */
export type ToolResult<T> = { text: string; isError: boolean; data: T };

export type McpClient = {
  client: Client;
  /** Calls a tool. The client checks the result against the tool's output schema. */
  call: <T = Record<string, unknown>>(name: string, args?: Record<string, unknown>) => Promise<ToolResult<T>>;
  close: () => Promise<void>;
};

/** Starts the command and connects the official client to it over its standard input and output. */
export async function connectMcp(args: readonly string[], options: StartOptions = {}): Promise<McpClient> {
  const transport = new StdioClientTransport({ ...commandLine(args, options), stderr: "ignore" });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  await client.listTools(); // From here on, the client checks results against the schemas.
  return {
    client,
    call: async <T>(name: string, args: Record<string, unknown> = {}) => {
      const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
      const [content] = result.content;
      return { text: content?.type === "text" ? content.text : "", isError: result.isError === true, data: result.structuredContent as T };
    },
    close: () => client.close(),
  };
}

/** Starts the command with pipes. */
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

/** A message that calls a tool. */
export function toolCall(id: number | string, name: string, args: Record<string, unknown> = {}) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}
