/** The sync client: walks the list from the mark, page by page, and moves the mark when a walk is complete. */
import type { JsonObject } from "../text/json-value.ts";
import { type Feed, memberOf, type Page, Refused, readPage } from "./feed.ts";
import type { Document, Entry, Store, Walk } from "./store.ts";

export type Sync = Feed & {
  store: Store;
  /** Only these sources; none means all. */
  source?: readonly string[];
  /** Copy the whole history of each changed record, too. */
  events?: boolean;
  progress?: (summary: Summary) => void;
};

/** What came: new or changed records, the events of their histories, and the mark. */
export type Summary = { records: number; events: number; mark: string | null };

/** Walks whose cursors the server no longer takes, before it counts as broken. */
const RESTARTS_MAX = 3;

/** Brings the copy in step. Whatever ends it before its time, the next call goes on from what the store has kept. */
export async function syncOnce({ store, source = [], events = false, progress, ...feed }: Sync): Promise<Summary> {
  const summary = { records: 0, events: 0 };
  let walk = await store.begin(false);
  for (let restarts = 0; ; ) {
    try {
      const page = await readPage(feed, "/opportunities", { source: source.join(",") || null, updated_since: walk.since }, walk.cursor);
      const entries: Entry[] = [];
      for (const item of page.items) entries.push(await entryOf(feed, item, events));
      walk = after(walk, page, entries);
      await store.keep(entries, walk);
      summary.records += entries.length;
      summary.events += entries.reduce((sum, { history }) => sum + history.length, 0);
      progress?.({ ...summary, mark: walk.since });
      if (walk.cursor === null) return { ...summary, mark: walk.since };
    } catch (error) {
      // The secret that signs cursors is another one now.
      if (!(error instanceof Refused && error.code === "invalid_cursor") || ++restarts > RESTARTS_MAX) throw error;
      walk = await store.begin(true);
    }
  }
}

/** The first record of the first page is the newest: what changes while we walk moves before it, and is for the next walk. */
function after({ since, newest }: Walk, { next }: Page, [first]: readonly Entry[]): Walk {
  const mark = newest ?? first?.at ?? since;
  return next === null ? { since: mark, newest: null, cursor: null } : { since, newest: mark, cursor: next };
}

async function entryOf(feed: Feed, item: JsonObject, events: boolean): Promise<Entry> {
  const document = documentOf(item, "updated_at");
  return { ...document, history: events ? await historyOf(feed, document.id) : [] };
}

/** All of it, each time: events can be brought from elsewhere later than they were detected, and a record seldom has more than a page. */
async function historyOf(feed: Feed, id: string): Promise<Document[]> {
  const history: Document[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await readPage(feed, `/opportunities/${encodeURIComponent(id)}/events`, { include_insignificant: "true" }, cursor);
    for (const item of page.items) history.push(documentOf(item, "detected_at"));
    cursor = page.next;
  } while (cursor !== null);
  return history;
}

/** What was served with `JSON.stringify` is the same text again. */
function documentOf(item: JsonObject, at: string): Document {
  return { id: memberOf(item, "id"), at: memberOf(item, at), text: JSON.stringify(item) };
}
