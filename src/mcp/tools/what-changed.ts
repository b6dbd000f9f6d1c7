/** The tool `what_changed`: the events of a period, in words. */
import { type Static, Type } from "@sinclair/typebox";
import { describeFilter } from "../../filter/filter.ts";
import type { EpochMs } from "../../text/instant.ts";
import { quoted } from "../../text/quoted.ts";
import { object } from "../../text/schema.ts";
import { filterAmong, filterArguments, past } from "../arguments.ts";
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
} from "./event-conditions.ts";
import { listStatement, onlyGiven, readPaged, type Tool, type ToolContext } from "./tool.ts";

const ChangeRow = Type.Composite([EventRow, object({ opportunity: OpportunityRow })], { additionalProperties: false });
const SINCE_DEFAULT = "-7d";

export function changesTool({ reader, tool }: ToolContext): Tool | undefined {
  const { changes } = reader;
  if (changes === null) return undefined;
  return tool({
    name: "what_changed",
    title: "What changed",
    action: "read what changed",
    description:
      "Returns what changed in all opportunities that meet the filters now, newest first: new opportunities, moved deadlines, cancellations and so on. " +
      '`at_least: "material"` leaves out new opportunities and small changes.',
    arguments: {
      since: past("Only events detected after this. Without it: 7d"),
      until: past("Only events detected up to this. Without it: now"),
      ...eventArguments,
      ...filterArguments(reader.filters),
    },
    data: { events: Type.Array(ChangeRow) },
    run: async (values, call) => {
      const filter = filterAmong("read what changed", values, call.now);
      const { limit = EVENTS_DEFAULT, since = SINCE_DEFAULT, until, types } = values;
      const given = { ...filter, since, ...onlyGiven({ until, types }), at_least: values.at_least ?? AT_LEAST_DEFAULT };
      const paged = await readPaged({ tool: "what_changed", ...given }, limit, values.cursor, call, {
        read: (limit, after, call) => changes({ ...windowOf(given, call.now), filter, limit, after }, call),
        show: ({ event, opportunity }) => ({ ...eventRowOf(event), opportunity: rowOf(opportunity) }),
      });
      const words = [...describeFilter(filter, paged.now), ...describeEvents(windowOf(given, paged.now))];
      const said = listStatement(paged, { ...given, limit }, words, upstreamTexts(ChangeRow, "events[]"));
      return { data: { events: paged.items }, lines: paged.items.map(lineOf), said };
    },
  });
}

/** The conditions with a begin and an end. */
function windowOf(given: GivenConditions, now: EpochMs) {
  const { since = now, until = now, ...conditions } = conditionsOf(given, now);
  return { ...conditions, since, until };
}

function lineOf({ opportunity, ...event }: Static<typeof ChangeRow>): string {
  const { id, title, number } = opportunity;
  return `${eventInWords(event)} in ${quoted(title)}, ${quotedNumber(number)}; id ${id}; event ${event.event_id}`;
}
