/** Reads through the API of a server: what it does not serve is refused, never ignored. */

import { Value } from "@sinclair/typebox/value";
import { Failure } from "../../db/reason.ts";
import { type ApiClient as Feed, PermanentError, readPage, readResource, readSources } from "../client/client.ts";
import { pageOf, resourceOf } from "../client/expected.ts";
import { OpportunityEvent } from "../events/event.ts";
import { meets } from "../events/feed.ts";
import type { Filter } from "../filter/filter.ts";
import { instantOf } from "../filter/kinds.ts";
import { noSidecar, Opportunity, type WholeOpportunity } from "../opportunities/opportunity.ts";
import type { CursorKey } from "../search/cursor.ts";
import { type EpochMs, formatInstant, parseStoredMs } from "../text/instant.ts";
import type { FindRequest, FoundMatches, HistoryRequest, ToolCall, ToolFreshness, ToolPage, ToolReader } from "./reader.ts";

/** Requests that one call may send for events which are then left out: the API cannot filter by severity. */
const HISTORY_REQUESTS_MAX = 5;
/** How long it is not asked again how fresh each source is, even after a failure: that takes a request for each. */
const FRESH_FOR_MS = 10 * 60_000;
/** A longer wait is reported instead: a client waits for the result meanwhile. */
const WAIT_MAX_MS = 3000;

const opportunityPage = pageOf(Opportunity);
const eventPage = pageOf(OpportunityEvent);
const oneOpportunity = resourceOf(Opportunity);

type Server = Omit<Feed, "stop" | "onWait">;

export function remoteReader(server: Server): ToolReader {
  const feedOf = ({ signal }: ToolCall): Feed => ({ ...server, stop: signal, onWait: refuseLongWait });
  return {
    place: server.baseUrl,
    filters: ["status", "source", "program_type", "updated_after"],
    sorts: ["updated"],
    findNote: " Over a server, the total is not known, and every record is listed, also several of one opportunity.",
    find: (request, call) => named(server, "find opportunities", () => findPage(feedOf(call), request, call.now)),
    get: (id, source, call) => named(server, `get ${id}`, () => opportunitiesOf(feedOf(call), id, source)),
    twins: null,
    history: (request, call) => named(server, "read the history", () => historyPage(feedOf(call), request)),
    changes: null,
    explain: null,
    sources: (call) =>
      named(server, "read the sources", async () => {
        const unknown = { records: null, open: null, not_archived: null, newest_posted_on: null };
        return (await readSources(feedOf(call))).map((source) => ({ ...source, ...unknown }));
      }),
    freshness: keptFreshness((call) => newestChanges(feedOf(call))),
    close: async () => undefined,
  };
}

async function named<T>({ baseUrl }: Server, action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Failure(`Cannot ${action} over ${baseUrl}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function refuseLongWait(ms: number, reason: string): void {
  if (ms > WAIT_MAX_MS) throw new Error(`${reason}; try again in ${Math.ceil(ms / 1000)} seconds`);
}

async function findPage(feed: Feed, { filter, limit, after }: FindRequest, now: EpochMs): Promise<FoundMatches> {
  const { items, next } = await readPage(feed, "/opportunities", opportunityPage, parametersOf(filter, now), cursorIn(after), limit);
  return {
    items: items.map((item) => ({ opportunity: opportunityOf(item), match: null, missing: [], alsoAt: [] })),
    total: null,
    next: keysOf(next),
    understood: null,
    counts: null,
    drop: [],
  };
}

/** A cursor of the server, as the one key of a place. */
function keysOf(cursor: string | null): string[] | null {
  return cursor === null ? null : [cursor];
}

function cursorIn([cursor]: readonly CursorKey[]): string | null {
  return typeof cursor === "string" ? cursor : null;
}

function parametersOf({ status, source, program_type, updated_after }: Filter, now: EpochMs): Record<string, string | null> {
  return {
    status: status?.join(",") ?? null,
    source: source?.join(",") ?? null,
    program_type: program_type?.join(",") ?? null,
    updated_since: updated_after === undefined ? null : formatInstant(instantOf(updated_after, now)),
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function opportunitiesOf(feed: Feed, id: string, source: string | undefined): Promise<WholeOpportunity[]> {
  if (UUID.test(id)) {
    const found = await readResource(feed, `/opportunities/${id.toLowerCase()}`, oneOpportunity).catch((error) => {
      if (error instanceof PermanentError && error.code === "not_found") return undefined;
      throw error;
    });
    return found === undefined ? [] : [opportunityOf(found)].filter((each) => source === undefined || each.source.code === source);
  }
  if (source === undefined)
    throw new Error("the API finds an upstream id only within one source; give the source too, or the id of the opportunity");
  const { items } = await readPage(feed, "/opportunities", opportunityPage, { source, source_opportunity_id: id }, null);
  return items.map(opportunityOf);
}

async function historyPage(feed: Feed, { id, limit, after, ...conditions }: HistoryRequest): Promise<ToolPage<OpportunityEvent>> {
  const { types, atLeast, since } = conditions;
  const parameters = {
    type: types?.join(",") ?? null,
    since: since === undefined ? null : formatInstant(since),
    include_insignificant: String(atLeast === "noise" || atLeast === "cosmetic"),
  };
  const items: OpportunityEvent[] = [];
  let next = cursorIn(after);
  for (let requests = 0; requests < HISTORY_REQUESTS_MAX && items.length < limit; requests++) {
    const page = await readPage(feed, `/opportunities/${id}/events`, eventPage, parameters, next, limit - items.length);
    items.push(...page.items.map(eventOf).filter((event) => meets(event, conditions)));
    next = page.next;
    if (next === null) break;
  }
  return { items, total: null, next: keysOf(next) };
}

/** Asks once for all calls. A failure takes no result away: what was known before is returned, or null. */
function keptFreshness(ask: (call: ToolCall) => Promise<ToolFreshness[]>): ToolReader["freshness"] {
  let last: { at: EpochMs; freshness: Promise<ToolFreshness[] | null> } | undefined;
  return async (call) => {
    if (last === undefined || call.now >= last.at + FRESH_FOR_MS) {
      const before = last;
      const freshness = ask(call).catch(() => {
        if (call.signal.aborted) last = before; // The client cancelled the call, so the next call asks again.
        return before?.freshness ?? null;
      });
      last = { at: call.now, freshness };
    }
    const freshness = await last.freshness;
    return freshness?.map((each) => ({ ...each, age_seconds: ageOf(each.as_of, call.now) })) ?? null;
  };
}

/** When a record of each source last changed: what the API says of its age. */
async function newestChanges(feed: Feed): Promise<ToolFreshness[]> {
  const freshness: ToolFreshness[] = [];
  for (const { code } of await readSources(feed)) {
    const { items } = await readPage(feed, "/opportunities", opportunityPage, { source: code }, null, 1);
    const [newest] = items;
    if (newest !== undefined) freshness.push({ source: code, as_of: newest.updated_at, age_seconds: null, basis: "newest_change" });
  }
  return freshness;
}

function ageOf(instant: string | null, now: EpochMs): number | null {
  const at = parseStoredMs(instant ?? "");
  return at === undefined ? null : Math.max(0, Math.floor((now - at) / 1000));
}

/** Without members that this version does not know, because clients check results against the schema. The API serves no sidecar. */
function opportunityOf(item: Opportunity): WholeOpportunity {
  return { ...(Value.Clean(Opportunity, item) as Opportunity), sidecar: noSidecar };
}

function eventOf(item: OpportunityEvent): OpportunityEvent {
  return Value.Clean(OpportunityEvent, item) as OpportunityEvent;
}
