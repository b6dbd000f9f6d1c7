/** Saves each page of the client's walk, and moves the mark at its end. A change of the future fails: as mark it would hide later ones. */
import { sync } from "../../clients/typescript/src/fundfeed.ts";
import type { EpochMs } from "../text/instant.ts";
import { clientOf, type ServerOptions } from "./client.ts";
import type { MirrorDocument, Store } from "./store.ts";

type Sync = ServerOptions & {
  store: Store;
  now: () => EpochMs;
  source?: readonly string[];
  events?: boolean;
  progress?: (summary: SyncSummary) => void;
};

/** The number of new or changed records, that of the events in their histories and of added ones, and the mark. */
export type SyncSummary = { records: number; events: number; mark: string | null };

/** Updates the copy. After an interruption, the next call continues from what the store has saved. Throws if the server or the store fails. */
export async function syncOnce({ store, now, source = [], events = false, progress, ...server }: Sync): Promise<SyncSummary> {
  const from = await store.begin(false);
  const summary: SyncSummary = { records: 0, events: 0, mark: from.since };
  const onRestart = () => store.begin(true);
  for await (const { records, added, state } of sync(clientOf(server), { from, source, events, onRestart, now })) {
    const entries = records.map(({ opportunity, events: history }) => ({
      ...documentOf(opportunity, opportunity.updated_at),
      history: history.map((event) => documentOf(event, event.detected_at)),
    }));
    const news = await store.save(
      { entries, added: added.map((event) => ({ ...documentOf(event, event.detected_at), of: event.opportunity_id })) },
      state,
    );
    summary.records += entries.length;
    summary.events += entries.reduce((sum, { history }) => sum + history.length, news);
    summary.mark = state.since;
    progress?.({ ...summary });
  }
  return summary;
}

/** The server renders documents with JSON.stringify, so this gives the same text. */
function documentOf(item: { id: string }, at: string): MirrorDocument {
  return { id: item.id, at, text: JSON.stringify(item) };
}
