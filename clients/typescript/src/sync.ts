/** Keeps a copy in sync: walks the list from the newest `updated_at` of the last complete walk, and misses no change (docs/guides/sync.md). */
import type { ApiClient } from "./client.ts";
import { ProblemError, ResponseError } from "./errors.ts";
import { pages } from "./pages.ts";
import type { ListOpportunitiesQuery, Opportunity, OpportunityEvent } from "./schemas.ts";

/**
 * How far a copy has come, as JSON: `since` is the newest `updated_at` of the last complete walk (`null`: there was none). While a walk is
 * under way, `newest` is the newest `updated_at` of this walk and `cursor` that of the next page; else both are null. `events` is the cursor
 * after which events are read that were stored without a change of their record (`null`: none yet).
 */
export type SyncState = { since: string | null; newest: string | null; cursor: string | null; events: string | null };

/** A new or changed record, with all its events if they are asked for, the newest first. */
export type SyncedRecord = { opportunity: Opportunity; events: OpportunityEvent[] };

/**
 * A page of a walk, and the state to save with it. `added` are events that were stored since the walk before: save those of records that the
 * copy has, and leave out the others, whose records come later with all their events.
 */
export type SyncedPage = { records: SyncedRecord[]; added: OpportunityEvent[]; state: SyncState };

/** Which records to copy, and from where. A state is valid for the same filters only. */
export type SyncOptions = Pick<ListOpportunitiesQuery, "source" | "agency" | "program_type"> & {
  /** The state that was saved with the last page; without one, everything is read. */
  from?: SyncState | undefined;
  /**
   * Whether to read the whole history of each record: with one more request for each page of records where the server has `/events.json`, else
   * with one more for each record.
   */
  events?: boolean;
  /** Called when the server no longer takes its cursor, and the walk starts again. Returns the state to start from; that of the last complete walk unless given. */
  onRestart?: () => SyncState | Promise<SyncState>;
  /** The clock, in milliseconds since 1970; this machine's unless given. */
  now?: () => number;
};

const PAGE_SIZE = 100;
const EVENTS_SIZE = 1000;
/** After more walks whose cursors the server rejects, the sync fails. */
const RESTARTS_MAX = 3;
/** How far a server's clock may be ahead of `now`. */
const AHEAD_MAX_MS = 60_000;
const START: SyncState = { since: null, newest: null, cursor: null, events: null };

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
  let state = { ...START, ...from };
  const histories = new Histories(client);
  // What is stored from now on may belong to records that were read already. A copy that has no position reads all events once.
  if (events && JSON.stringify(state) === JSON.stringify(START)) state = { ...state, events: await histories.latest() };
  for (let restarts = 0; ; ) {
    try {
      const { since } = state;
      const list = (cursor?: string) =>
        client.listOpportunities({ ...filter, updated_since: since ?? undefined, limit: PAGE_SIZE, cursor });
      for await (const { data, meta } of pages(list, state.cursor ?? undefined)) {
        const of = events && data.length > 0 ? await histories.of(data.map(({ id }) => id)) : new Map<string, OpportunityEvent[]>();
        const records = data.map((opportunity) => ({ opportunity, events: of.get(opportunity.id) ?? [] }));
        refuseFuture(records, [], now() + AHEAD_MAX_MS);
        state = after(state, data, meta.has_more ? meta.next_cursor : null);
        yield { records, added: [], state };
      }
      break;
    } catch (error) {
      // The server has a new cursor secret, for example after a restore.
      if (!(error instanceof ProblemError && error.code === "invalid_cursor") || ++restarts > RESTARTS_MAX) throw error;
      state = (await onRestart?.()) ?? { ...START, since: state.since, events: state.events };
    }
  }
  if (!events) return;
  for await (const { data, next } of histories.storedAfter(state.events)) {
    if (next === state.events) return;
    refuseFuture([], data, now() + AHEAD_MAX_MS);
    state = { ...state, events: next };
    yield { records: [], added: data, state };
  }
}

/** The first record of the first page is the newest. Records that change during the walk move before it, into the next walk. */
function after({ since, newest, events }: SyncState, [first]: readonly Opportunity[], cursor: string | null): SyncState {
  const mark = newest ?? first?.updated_at ?? since;
  return cursor === null ? { since: mark, newest: null, cursor, events } : { since, newest: mark, cursor, events };
}

/** Refuses what changed after `latest`: as the mark of a copy, it would hide every later change. */
function refuseFuture(records: readonly SyncedRecord[], added: readonly OpportunityEvent[], latest: number): void {
  const changes = [
    ...records.map(({ opportunity: { id, updated_at } }) => ({ id, at: updated_at })),
    ...[...records.flatMap(({ events }) => events), ...added].map(({ id, detected_at }) => ({ id, at: detected_at })),
  ];
  const change = changes.find(({ at }) => !(Date.parse(at) <= latest));
  if (change !== undefined)
    throw new ResponseError(
      `the server says that ${change.id} changed in the future, at ${change.at}; check the clocks of both machines`,
      true,
    );
}

/** Reads histories for many records at once, or for each on its own if the server has no `/events.json`. */
class Histories {
  readonly #client: ApiClient;
  #isBulk = true;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** The whole histories of these records, not only what is new: erasing contacts changes earlier events. */
  async of(ids: readonly string[]): Promise<Map<string, OpportunityEvent[]>> {
    const histories = new Map(ids.map((id): [string, OpportunityEvent[]] => [id, []]));
    const isRead = await this.#inBulk(async () => {
      const list = (after?: string) => this.#client.listEvents({ opportunity: ids, after, limit: EVENTS_SIZE });
      for await (const { data } of pages(list)) for (const event of data) histories.get(event.opportunity_id)?.push(event);
      return true;
    });
    if (isRead !== true) for (const id of ids) histories.set(id, await historyOf(this.#client, id));
    return histories;
  }

  /** The cursor of what is stored from now on; `null` if the server has none. */
  async latest(): Promise<string | null> {
    return (await this.#inBulk(() => this.#client.listEvents({ after: "latest" })))?.meta.next_cursor ?? null;
  }

  /** Pages of what was stored after a cursor, and the cursor after each. Nothing if the server has none. */
  async *storedAfter(cursor: string | null): AsyncGenerator<{ data: OpportunityEvent[]; next: string | null }, void, void> {
    const list = (after: string | null) => this.#client.listEvents({ after: after ?? undefined, limit: EVENTS_SIZE });
    const fromBeginning = (error: unknown) => {
      if (!(error instanceof ProblemError && error.status === 400)) throw error;
      return list(null); // The server was restored, and no longer has the event at the cursor.
    };
    for (let after = cursor; ; ) {
      const page = await this.#inBulk(() => (after === null ? list(after) : list(after).catch(fromBeginning)));
      if (page === undefined) return;
      const { has_more, next_cursor } = page.meta;
      if (has_more && (page.data.length === 0 || next_cursor === null)) throw new ResponseError("the pages do not advance", false);
      after = next_cursor;
      yield { data: page.data, next: after };
      if (!has_more) return;
    }
  }

  /** What `ask` returns; `undefined` if the server has no `/events.json`: `serve` alone has not, and a proxy may lead to `/v1` only. */
  async #inBulk<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isBulk) return undefined;
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ResponseError || (error instanceof ProblemError && !error.isTemporary))) throw error;
      this.#isBulk = false;
      return undefined;
    }
  }
}

/** The whole history of one record. */
async function historyOf(client: ApiClient, id: string): Promise<OpportunityEvent[]> {
  const history: OpportunityEvent[] = [];
  const list = (cursor?: string) => client.listOpportunityEvents(id, { include_insignificant: true, limit: PAGE_SIZE, cursor });
  for await (const { data } of pages(list)) history.push(...data);
  return history;
}
