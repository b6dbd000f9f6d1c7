/** The tool `sources`: the sources, and how fresh each is. */
import { Type } from "@sinclair/typebox";
import { withCommas } from "../../text/counted.ts";
import { SourceFacts } from "../queries.ts";
import { codeInWords } from "../upstream-text.ts";
import { listStatement, type Tool, type ToolContext } from "./tool.ts";

export function sourcesTool({ queries, tool }: ToolContext): Tool {
  return tool({
    name: "sources",
    title: "Sources",
    action: "list the sources",
    description: "Lists the sources: how many opportunities each has, and in `freshness` how old its data are.",
    arguments: {},
    data: { sources: Type.Array(SourceFacts) },
    run: async (_, call) => {
      const sources = await queries.sources(call);
      const statement = listStatement({ items: sources, total: sources.length, next: null }, {}, [], ["sources[].name"]);
      const lines = sources.map((source) => `${codeInWords(source.code)}${factsInWords(source)}`);
      return { data: { sources }, lines, statement };
    },
  });
}

function factsInWords({ records, open, newest_posted_on }: SourceFacts): string {
  if (records === 0) return ": no opportunities yet";
  return `: ${withCommas(records)} opportunities, ${withCommas(open)} open; newest posted ${newest_posted_on ?? "at an unknown date"}`;
}
