/** The tools. None of them can write, fetch or run anything. */
import { object } from "../../text/schema.ts";
import { inputSchema, readArguments, type ToolArguments } from "../arguments.ts";
import type { ToolReader } from "../reader.ts";
import { resultOf, statement } from "../results.ts";
import { explainTool } from "./explain.ts";
import { findTool } from "./find.ts";
import { getTool } from "./get.ts";
import { historyTool } from "./history.ts";
import { sourcesTool } from "./sources.ts";
import type { Tool, ToolContext, ToolDefinition } from "./tool.ts";
import { changesTool } from "./what-changed.ts";

/** The tools over a reader. */
export function toolsOf(reader: ToolReader): Tool[] {
  const tool = <T extends ToolArguments>({ arguments: table, data, run, ...about }: ToolDefinition<T>): Tool => ({
    ...about,
    inputSchema: inputSchema(table),
    outputSchema: object({ ...statement, ...data }),
    call: async (given, call) => {
      const answer = await run(readArguments(about.action, table, given), call);
      return resultOf(answer, await reader.freshness(call), call.now);
    },
  });
  const context: ToolContext = { reader, tool };
  return [findTool, getTool, historyTool, changesTool, explainTool, sourcesTool].map((make) => make(context));
}
