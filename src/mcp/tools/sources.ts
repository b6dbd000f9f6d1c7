/** The tool `sources`: the sources, and how fresh each is. */
import { type Static, Type } from "@sinclair/typebox";
import { sourceStatusesAt } from "../../opportunities/source-counts.ts";
import { listSources, newestPostedDates } from "../../sources/source.ts";
import { withCommas } from "../../text/in-words.ts";
import { dateAt } from "../../text/instant.ts";
import { nullable, object } from "../../text/schema.ts";
import { codeInWords } from "../upstream-text.ts";
import { listStatement, type ToolCall, tool } from "./tool.ts";

const SourceFacts = object({
  code: Type.String(),
  name: nullable(Type.String()),
  records: Type.Integer(),
  open: Type.Integer(),
  not_archived: Type.Integer(),
  newest_posted_on: nullable(Type.String()),
});

export const sourcesTool = tool({
  name: "sources",
  title: "Sources",
  action: "list the sources",
  description: "Lists the sources: how many opportunities each has, and in `freshness` how old its data are.",
  arguments: {},
  data: { sources: Type.Array(SourceFacts) },
  run: async (_, call) => {
    const sources = await sourceFacts(call);
    const statement = listStatement({ items: sources, total: sources.length, next: null }, {}, [], ["sources[].name"]);
    const lines = sources.map(({ code, records, open, newest_posted_on }) => {
      const newest = `newest posted ${newest_posted_on ?? "at an unknown date"}`;
      const facts = records === 0 ? "no opportunities yet" : `${withCommas(records)} opportunities, ${withCommas(open)} open; ${newest}`;
      return `${codeInWords(code)}: ${facts}`;
    });
    return { data: { sources }, lines, statement };
  },
});

async function sourceFacts({ catalog, now }: ToolCall): Promise<Static<typeof SourceFacts>[]> {
  const [named, statuses] = [await listSources(catalog), await sourceStatusesAt(catalog, now)];
  const newest = await newestPostedDates(catalog, dateAt(now));
  const codes = new Set([...named.map(({ code }) => code), ...statuses.map(({ source }) => source)]);
  return [...codes].sort().map((code) => {
    const { records = 0, open = 0, live = 0 } = statuses.find(({ source }) => source === code) ?? {};
    const name = named.find((each) => each.code === code)?.name ?? null;
    return { code, name, records, open, not_archived: live, newest_posted_on: newest.get(code) ?? null };
  });
}
