/** The tool `what_changed`: the events of a period, in words. */
import { type Static, Type } from "@sinclair/typebox";
import { describeFilter } from "../../filter/filter.ts";
import { AlsoAt, alsoAt } from "../../opportunities/related.ts";
import type { EpochMs } from "../../text/instant.ts";
import { PAST, SINCE } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { momentText } from "../../text/value.ts";
import { allSourcesArgument, filterAmong, filterArguments, inShort } from "../arguments.ts";
import { EventRow, eventRowOf, OpportunityRow, rowOf } from "../rows.ts";
import { quotedNumber, upstreamTexts } from "../upstream-text.ts";
import {
  AT_LEAST_DEFAULT,
  conditionsOf,
  describeEvents,
  EVENTS_DEFAULT,
  eventArguments,
  eventInWords,
  type GivenConditions,
  SINCE_FORMS,
} from "./event-conditions.ts";
import { DUPLICATES, duplicateLines, listStatement, onlyGiven, readPaged, type Tool, type ToolContext } from "./tool.ts";

/** `at` is the source at which it changed, if that is not the source of `opportunity`. */
const ChangeRow = Type.Composite(
  [EventRow, object({ opportunity: OpportunityRow, at: nullable(Type.String()), also_at: Type.Array(AlsoAt) })],
  { additionalProperties: false },
);
const SINCE_DEFAULT = "7d";

export function changesTool({ queries, tool }: ToolContext): Tool {
  return tool({
    name: "what_changed",
    title: "What changed",
    action: "read what changed",
    description:
      "Returns what changed in all opportunities that meet the filters now, newest first. Filters and `all_sources` are those of `find`. " +
      '`at_least: "material"` leaves out new opportunities and small changes.',
    arguments: {
      since: momentText(SINCE, `Detected after this, 7d unless given: ${SINCE_FORMS}`),
      until: momentText(PAST, "Detected up to this."),
      ...eventArguments,
      ...inShort({ ...filterArguments, all_sources: allSourcesArgument }),
    },
    data: { events: Type.Array(ChangeRow), duplicates: Type.Integer({ description: DUPLICATES }) },
    run: async (values, call) => {
      const filter = filterAmong("read what changed", values, call.now);
      const { limit = EVENTS_DEFAULT, since = SINCE_DEFAULT, until, types, all_sources } = values;
      const given = { ...filter, since, ...onlyGiven({ until, types, all_sources }), at_least: values.at_least ?? AT_LEAST_DEFAULT };
      const paged = await readPaged({ tool: "what_changed", ...given }, limit, values.cursor, call, {
        read: (limit, after, call) =>
          queries.changes({ ...windowOf(given, call.now), filter, allSources: all_sources ?? false, limit, after }, call),
        show: ({ event, opportunity, at, duplicates }) => {
          return { ...eventRowOf(event), opportunity: rowOf(opportunity, call.now, duplicates), at, also_at: alsoAt(duplicates) };
        },
      });
      const words = [...describeFilter(filter, paged.now), ...describeEvents(windowOf(given, paged.now))];
      const statement = listStatement(paged, { ...given, limit }, words, upstreamTexts(ChangeRow, "events[]"));
      const { items, duplicates = 0 } = paged;
      return { data: { events: items, duplicates }, lines: [...items.map(lineOf), ...duplicateLines(duplicates, "change")], statement };
    },
  });
}

/** The conditions with an end. */
function windowOf(given: GivenConditions, now: EpochMs) {
  const { until = now, ...conditions } = conditionsOf(given, now);
  return { ...conditions, until };
}

function lineOf({ opportunity, at, also_at, ...event }: Static<typeof ChangeRow>): string {
  const { id, title, number } = opportunity;
  return `${eventInWords(event)}${at === null ? "" : ` at ${quoted(at)}`} in ${quoted(title)}, ${quotedNumber(number)}; id ${id}; event ${event.event_id}`;
}
