/** The tool `history`: the events of one opportunity, in words. */
import { Type } from "@sinclair/typebox";
import { PAST, SINCE } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { momentText } from "../../text/value.ts";
import { requiredText, sourceCode } from "../arguments.ts";
import { EventRow, eventRowOf, OpportunityRow, ROW, rowOf } from "../rows.ts";
import { quotedNumber, stateInWords, upstreamTexts } from "../upstream-text.ts";
import {
  AT_LEAST_DEFAULT,
  conditionsOf,
  describeEvents,
  EVENTS_DEFAULT,
  eventArguments,
  eventInWords,
  SINCE_FORMS,
} from "./event-conditions.ts";
import { ID, theOpportunity } from "./the-opportunity.ts";
import { listStatement, onlyGiven, readPaged, type Tool, type ToolContext } from "./tool.ts";

const UPSTREAM = [...upstreamTexts(OpportunityRow, "opportunity"), ...upstreamTexts(EventRow, "events[]")];

export function historyTool({ queries, tool }: ToolContext): Tool {
  return tool({
    name: "history",
    title: "History of one opportunity",
    action: "read the history",
    description:
      "Returns what changed in one opportunity, newest first: each with its severity, the values before and after, and the id of its event. Long values are cut and listed in `cut`.",
    arguments: {
      id: requiredText(ID),
      source: sourceCode,
      since: momentText(SINCE, `Detected after this: ${SINCE_FORMS}`),
      until: momentText(PAST, "Detected up to this."),
      ...eventArguments,
    },
    data: { opportunity: { ...OpportunityRow, description: ROW }, events: Type.Array(EventRow) },
    run: async ({ id = "", source, cursor, ...values }, call) => {
      const opportunity = await theOpportunity(queries, "read the history", id, source, call);
      const { limit = EVENTS_DEFAULT, since, until } = values;
      const given = { ...onlyGiven({ id, source, since, until, types: values.types }), at_least: values.at_least ?? AT_LEAST_DEFAULT };
      const paged = await readPaged({ tool: "history", ...given }, limit, cursor, call, {
        read: (limit, after, call) => queries.history({ ...conditionsOf(given, call.now), id: opportunity.id, limit, after }),
        show: (event) => eventRowOf(event),
      });
      const row = rowOf(opportunity, call.now, await queries.duplicates(opportunity.id, call));
      const statement = listStatement(paged, { ...given, limit }, describeEvents(conditionsOf(given, paged.now)), UPSTREAM);
      const lines = [
        `${quoted(row.title)}; ${quotedNumber(row.number)}; ${stateInWords(row)}; id ${row.id}`,
        ...paged.items.map((event) => `${eventInWords(event)}; event ${event.event_id}`),
      ];
      return { data: { opportunity: row, events: paged.items }, lines, statement };
    },
  });
}
