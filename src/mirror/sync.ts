/** Syncs a copy: walks the list from the mark, page by page, and moves the mark when the walk is complete. */

import { type ApiClient, type ApiPage, PermanentError, readPage } from "../client/client.ts";
import { pageOf } from "../client/expected.ts";
import { OpportunityEvent } from "../events/event.ts";
import { Opportunity } from "../opportunities/opportunity.ts";
import type { MirrorDocument, MirrorEntry, Store, Walk } from "./store.ts";

type Sync = ApiClient & {
  store: Store;
  /** Copy these sources only; an empty list means all. */
  source?: readonly string[];
  /** Also copy the whole history of each changed record. */
  events?: boolean;
  progress?: (summary: SyncSummary) => void;
};

/** The number of new or changed records and of the events in their histories, and the mark. */
export type SyncSummary = { records: number; events: number; mark: string | null };

const opportunityPage = pageOf(Opportunity);
const eventPage = pageOf(OpportunityEvent);

/** After more walks whose cursors the server rejects, the sync fails. */
const RESTARTS_MAX = 3;

/** Updates the copy. After an interruption, the next call continues from what the store has saved. Throws if the server or the store fails. */
export async function syncOnce({ store, source = [], events = false, progress, ...client }: Sync): Promise<SyncSummary> {
  const summary = { records: 0, events: 0 };
  let walk = await store.begin(false);
  for (let restarts = 0; ; ) {
    try {
      const filters = { source: source.join(",") || null, updated_since: walk.since };
      const page = await readPage(client, "/opportunities", opportunityPage, filters, walk.cursor);
      const entries: MirrorEntry[] = [];
      for (const item of page.items) entries.push(await entryOf(client, item, events));
      walk = after(walk, page, entries);
      await store.save(entries, walk);
      summary.records += entries.length;
      summary.events += entries.reduce((sum, { history }) => sum + history.length, 0);
      progress?.({ ...summary, mark: walk.since });
      if (walk.cursor === null) return { ...summary, mark: walk.since };
    } catch (error) {
      // The server has a new cursor secret, for example after a restore.
      if (!(error instanceof PermanentError && error.code === "invalid_cursor") || ++restarts > RESTARTS_MAX) throw error;
      walk = await store.begin(true);
    }
  }
}

/** The first record of the first page is the newest, and gives the mark. Records that change during the walk move before it, into the next walk. */
function after({ since, newest }: Walk, { next }: ApiPage<unknown>, [first]: readonly MirrorEntry[]): Walk {
  const mark = newest ?? first?.at ?? since;
  return next === null ? { since: mark, newest: null, cursor: null } : { since, newest: mark, cursor: next };
}

async function entryOf(client: ApiClient, item: Opportunity, events: boolean): Promise<MirrorEntry> {
  const document = documentOf(item, item.updated_at);
  return { ...document, history: events ? await historyOf(client, document.id) : [] };
}

/** Reads the whole history each time: events can be imported long after they were detected, and most histories fit on one page. */
async function historyOf(client: ApiClient, id: string): Promise<MirrorDocument[]> {
  const history: MirrorDocument[] = [];
  let cursor: string | null = null;
  do {
    const path = `/opportunities/${id}/events`;
    const page: ApiPage<OpportunityEvent> = await readPage(client, path, eventPage, { include_insignificant: "true" }, cursor);
    for (const item of page.items) history.push(documentOf(item, item.detected_at));
    cursor = page.next;
  } while (cursor !== null);
  return history;
}

/** The server renders documents with JSON.stringify, so this gives the same text. */
function documentOf(item: { id: string }, at: string): MirrorDocument {
  return { id: item.id, at, text: JSON.stringify(item) };
}
