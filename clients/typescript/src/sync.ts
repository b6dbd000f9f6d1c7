/** Keeps a copy in sync: walks the list from the newest `updated_at` of the last complete walk, and misses no change (docs/sync.md). */
import type { ApiClient } from "./client.ts";
import { ProblemError, ResponseError } from "./errors.ts";
import { pages } from "./pages.ts";
import type { ListOpportunitiesQuery, Opportunity, OpportunityEvent } from "./schemas.ts";

/**
 * How far a copy has come, as JSON: `since` is the newest `updated_at` of the last complete walk (`null`: there was none). While a walk is
 * under way, `newest` is the newest `updated_at` of this walk and `cursor` that of the next page; else both are null.
 */
export type SyncState = { since: string | null; newest: string | null; cursor: string | null };

/** A new or changed record, with all its events if they are asked for, the newest first. */
export type SyncedRecord = { opportunity: Opportunity; events: OpportunityEvent[] };

/** A page of a walk, and the state to save with it. */
export type SyncedPage = { records: SyncedRecord[]; state: SyncState };

/** Which records to copy, and from where. A state is valid for the same filters only. */
export type SyncOptions = Pick<ListOpportunitiesQuery, "source" | "agency" | "program_type"> & {
  /** The state that was saved with the last page; without one, everything is read. */
  from?: SyncState | undefined;
  /** Whether to read the whole history of each record, with one more request for each. */
  events?: boolean;
  /** Called when the server no longer takes its cursor, and the walk starts again. Returns the state to start from; that of the last complete walk unless given. */
  onRestart?: () => SyncState | Promise<SyncState>;
  /** The clock, in milliseconds since 1970; this machine's unless given. */
  now?: () => number;
};

const PAGE_SIZE = 100;
/** After more walks whose cursors the server rejects, the sync fails. */
const RESTARTS_MAX = 3;
/** How far a server's clock may be ahead of `now`. */
const AHEAD_MAX_MS = 60_000;
const START: SyncState = { since: null, newest: null, cursor: null };

/**
 * Reads what is new or changed since `from`, and ends when that is complete. Save the records of each page under their ids, in place of
 * earlier versions, and then its `state`, at best both in one transaction. After a failure, start with the state that was saved last: a
 * record may come twice, and none is missed. If you save all pages at once, save only the last state. Throws what the client throws, and a
 * ResponseError if something changed in the future: no later change would be newer.
 */
export async function* sync(
  client: ApiClient,
  { from = START, events = false, onRestart, now = Date.now, ...filter }: SyncOptions = {},
): AsyncGenerator<SyncedPage, void, void> {
  let state = from;
  for (let restarts = 0; ; ) {
    try {
      const { since } = state;
      const list = (cursor?: string) =>
        client.listOpportunities({ ...filter, updated_since: since ?? undefined, limit: PAGE_SIZE, cursor });
      for await (const { data, meta } of pages(list, state.cursor ?? undefined)) {
        const records: SyncedRecord[] = [];
        for (const opportunity of data) records.push({ opportunity, events: events ? await historyOf(client, opportunity.id) : [] });
        refuseFuture(records, now() + AHEAD_MAX_MS);
        state = after(state, data, meta.has_more ? meta.next_cursor : null);
        yield { records, state };
      }
      return;
    } catch (error) {
      // The server has a new cursor secret, for example after a restore.
      if (!(error instanceof ProblemError && error.code === "invalid_cursor") || ++restarts > RESTARTS_MAX) throw error;
      state = (await onRestart?.()) ?? { ...START, since: state.since };
    }
  }
}

/** The first record of the first page is the newest. Records that change during the walk move before it, into the next walk. */
function after({ since, newest }: SyncState, [first]: readonly Opportunity[], cursor: string | null): SyncState {
  const mark = newest ?? first?.updated_at ?? since;
  return cursor === null ? { since: mark, newest: null, cursor } : { since, newest: mark, cursor };
}

/** Refuses what changed after `latest`: as the mark of a copy, it would hide every later change. */
function refuseFuture(records: readonly SyncedRecord[], latest: number): void {
  const changes = records.flatMap(({ opportunity, events }) => [
    { id: opportunity.id, at: opportunity.updated_at },
    ...events.map(({ id, detected_at }) => ({ id, at: detected_at })),
  ]);
  const change = changes.find(({ at }) => !(Date.parse(at) <= latest));
  if (change !== undefined)
    throw new ResponseError(
      `the server says that ${change.id} changed in the future, at ${change.at}; check the clocks of both machines`,
      true,
    );
}

/** The whole history each time: events can be imported long after they were detected, and most histories fit on one page. */
async function historyOf(client: ApiClient, id: string): Promise<OpportunityEvent[]> {
  const history: OpportunityEvent[] = [];
  const list = (cursor?: string) => client.listOpportunityEvents(id, { include_insignificant: true, limit: PAGE_SIZE, cursor });
  for await (const { data } of pages(list)) history.push(...data);
  return history;
}
