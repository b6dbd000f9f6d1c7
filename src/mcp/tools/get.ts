import { Type } from "@sinclair/typebox";
import { Opportunity } from "../../opportunities/opportunity.ts";
import { cursor, requiredText, sourceCode } from "../arguments.ts";
import { cutTo } from "../cut.ts";
import { CutMember, LongText } from "../long-text.ts";
import { DATA_BYTES_MAX } from "../results.ts";
import { rowOf } from "../rows.ts";
import { nullable } from "../schema.ts";
import { quoted, stateInWords, upstreamTexts } from "../upstream-text.ts";
import { longResult, versionOf } from "./long-result.ts";
import { ID, theOpportunity } from "./the-opportunity.ts";
import type { Context, Tool } from "./tool.ts";

export function getTool({ reader, tool }: Context): Tool {
  return tool({
    name: "get",
    title: "Get one opportunity",
    description:
      "Returns one opportunity with all its fields. What is too long for one result is cut and listed in `cut`; each of these has a cursor that returns the whole text in `piece`.",
    arguments: { id: requiredText(ID), source: sourceCode, cursor },
    data: { opportunity: nullable(Opportunity), cut: Type.Array(CutMember), piece: nullable(LongText) },
    run: async ({ id = "", source, cursor }, call) => {
      const opportunity = await theOpportunity(reader, "get", id, source, call);
      const request = { tool: "get", id, source };
      const filters = { id, ...(source !== undefined && { source }) };
      const document = { opportunity };
      return longResult({ reader, call, request, filters, document, version: versionOf(opportunity.updated_at), cursor }, () => {
        const { value, cuts } = cutTo(document, DATA_BYTES_MAX);
        const row = rowOf(opportunity);
        const lines = [
          `${quoted(opportunity.title)}; number ${quoted(row.number)}; ${stateInWords(row, call.now)}; id ${opportunity.id}`,
          ...(opportunity.summary === null ? [] : [`Summary: ${quoted(opportunity.summary)}`]),
        ];
        return { data: value, cuts, lines, upstream: upstreamTexts(Opportunity, "opportunity"), empty: { opportunity: null } };
      });
    },
  });
}
