/** The tool `history`: the events of one opportunity, in words. */
import { Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import { meets } from "../../events/feed.ts";
import { historyPage, readHistory } from "../../events/history.ts";
import { readDuplicates } from "../../opportunities/related.ts";
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
import { listStatement, onlyGiven, readPaged, tool } from "./tool.ts";

const UPSTREAM = [...upstreamTexts(OpportunityRow, "opportunity"), ...upstreamTexts(EventRow, "events[]")];

export const historyTool = tool({
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
    const opportunity = await theOpportunity("read the history", id, source, call);
    const { limit = EVENTS_DEFAULT, since, until } = values;
    const given = { ...onlyGiven({ id, source, since, until, types: values.types }), at_least: values.at_least ?? AT_LEAST_DEFAULT };
    const history = await readHistory(call.catalog, opportunity.id);
    const paged = await readPaged({ tool: "history", ...given }, limit, cursor, call, {
      read: async (limit, [after], { now }) => {
        const meeting = history.filter((event) => meets(event, conditionsOf(given, now)));
        const page = historyPage(meeting, after?.toString(), limit);
        if (page === undefined) throw new Failure("Cannot continue: the event at the cursor is gone. Start again without it");
        return { items: page.events, total: page.total, next: page.next === undefined ? null : [page.next] };
      },
      show: (event) => eventRowOf(event),
    });
    const duplicates = await readDuplicates(call.catalog, [opportunity.id], call.now);
    const row = rowOf(opportunity, call.now, duplicates.get(opportunity.id) ?? []);
    const statement = listStatement(paged, { ...given, limit }, describeEvents(conditionsOf(given, paged.now)), UPSTREAM);
    const lines = [
      `${quoted(row.title)}; ${quotedNumber(row.number)}; ${stateInWords(row)}; id ${row.id}`,
      ...paged.items.map((event) => `${eventInWords(event)}; event ${event.event_id}`),
    ];
    return { data: { opportunity: row, events: paged.items }, lines, statement };
  },
});
