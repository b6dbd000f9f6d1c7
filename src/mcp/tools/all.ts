/** The tools. None of them can write, fetch or run anything. */
import { object } from "../../text/schema.ts";
import { inputSchema, readArguments, type ToolArguments } from "../arguments.ts";
import type { ToolQueries } from "../queries.ts";
import { resultOf, statement } from "../results.ts";
import { explainTool } from "./explain.ts";
import { findTool } from "./find.ts";
import { getTool } from "./get.ts";
import { historyTool } from "./history.ts";
import { sourcesTool } from "./sources.ts";
import type { Tool, ToolContext, ToolDefinition } from "./tool.ts";
import { changesTool } from "./what-changed.ts";

/** The tools, which ask these queries. */
export function toolsOf(queries: ToolQueries): Tool[] {
  const tool = <T extends ToolArguments>({ arguments: table, data, run, ...about }: ToolDefinition<T>): Tool => ({
    ...about,
    inputSchema: inputSchema(table),
    outputSchema: object({ ...statement, ...data }),
    call: async (given, call) => {
      const answer = await run(readArguments(about.action, table, given, call.now), call);
      return resultOf(answer, await queries.freshness(call), call.now);
    },
  });
  const context: ToolContext = { queries, tool };
  return [findTool, getTool, historyTool, changesTool, explainTool, sourcesTool].map((make) => make(context));
}
