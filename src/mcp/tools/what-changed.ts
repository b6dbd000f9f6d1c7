/** The tool `what_changed`: the events of a period, in words. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { type FeedEntry, type FeedFilter, readWindow, type WindowPosition } from "../../events/feed.ts";
import { describeFilter } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { AlsoAt, alsoAt } from "../../opportunities/related.ts";
import type { CursorKey } from "../../search/cursor.ts";
import type { EpochMs } from "../../text/instant.ts";
import { PAST, SINCE } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { nullable, object } from "../../text/schema.ts";
import { momentText } from "../../text/value.ts";
import { allSourcesArgument, filterAmong, filterArguments, inShort } from "../arguments.ts";
import type { ToolPage } from "../results.ts";
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
import { DUPLICATES, duplicateLines, listStatement, onlyGiven, readPaged, type ToolCall, tool } from "./tool.ts";

/** `at` is the source at which it changed, if that is not the source of `opportunity`. */
const ChangeRow = Type.Composite(
  [EventRow, object({ opportunity: OpportunityRow, at: nullable(Type.String()), also_at: Type.Array(AlsoAt) })],
  { additionalProperties: false },
);
const SINCE_DEFAULT = "7d";

export const changesTool = tool({
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
    const resolved = await resolveFilter(call.catalog, filter, "read changes of");
    const paged = await readPaged({ tool: "what_changed", ...given }, limit, values.cursor, call, {
      read: (limit, after, call) =>
        readChanges({ ...windowOf(given, call.now), filter: resolved, allSources: all_sources ?? false }, limit, after, call),
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

/** `until` is fixed by the caller, so events that are detected meanwhile do not move the pages. */
async function readChanges(
  filter: FeedFilter,
  limit: number,
  [detected_at, seq]: readonly CursorKey[],
  call: ToolCall,
): Promise<ToolPage<FeedEntry>> {
  const items: FeedEntry[] = [];
  let duplicates = 0;
  const start: WindowPosition = seq === undefined ? null : { detected_at: Number(detected_at), seq: Number(seq) };
  let [position, isLast] = [start, false];
  while (!isLast && items.length < limit) {
    const page = await readNext(filter, position, limit - items.length, call);
    items.push(...page.entries);
    duplicates += page.repeats;
    [position, isLast] = [page.position, page.atEnd];
  }
  const total = start === null && isLast ? items.length : await count(filter, call);
  return { items, total, duplicates, next: isLast || position === null ? null : [position.detected_at, position.seq] };
}

const COUNTING_READS_MAX = 20;

async function count(filter: FeedFilter, call: ToolCall): Promise<number | null> {
  let [total, position]: [number, WindowPosition] = [0, null];
  for (let reads = 0; reads < COUNTING_READS_MAX; reads++) {
    const page = await readNext(filter, position, Number.MAX_SAFE_INTEGER, call);
    total += page.entries.length;
    if (page.atEnd) return total;
    position = page.position;
  }
  return null;
}

async function readNext(filter: FeedFilter, position: WindowPosition, limit: number, { catalog, now, signal }: ToolCall) {
  await nextTurn(); // Reads of SQLite give no turn to other work, such as a message that cancels this.
  signal.throwIfAborted();
  return readWindow(catalog, position, filter, now, limit, "newest");
}

function windowOf(given: GivenConditions, now: EpochMs) {
  const { until = now, ...conditions } = conditionsOf(given, now);
  return { ...conditions, until };
}

function lineOf({ opportunity, at, also_at, ...event }: Static<typeof ChangeRow>): string {
  const { id, title, number } = opportunity;
  return `${eventInWords(event)}${at === null ? "" : ` at ${quoted(at)}`} in ${quoted(title)}, ${quotedNumber(number)}; id ${id}; event ${event.event_id}`;
}
