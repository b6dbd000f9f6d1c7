/** The tools. None of them can write, fetch or run anything. */
import { explainTool } from "./explain.ts";
import { findTool } from "./find.ts";
import { getTool } from "./get.ts";
import { historyTool } from "./history.ts";
import { sourcesTool } from "./sources.ts";
import type { Tool } from "./tool.ts";
import { changesTool } from "./what-changed.ts";

export const tools: readonly Tool[] = [findTool, getTool, historyTool, changesTool, explainTool, sourcesTool];
