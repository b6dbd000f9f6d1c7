/** Metrics of the watches, from watch.db. */
import type { WatchDb } from "../../db/engine.ts";
import { hasWatches, openWatchFile } from "../../db/sqlite/open.ts";
import type { EpochMs } from "../text/instant.ts";
import { statusOf } from "../watch/pending.ts";
import { listWatches } from "../watch/watches.ts";
import { type Family, familiesText } from "./families.ts";

/** How long a response waits for a restore. Meanwhile the server answers nobody. */
const WAIT_MS = 50;

/** The metrics of the watches in a directory. None if there is no watch.db, or if it cannot be read. */
export async function watchFamiliesIn(directory: string, now: EpochMs): Promise<Family[]> {
  let db: WatchDb | undefined;
  try {
    if (!hasWatches(directory)) return [];
    db = openWatchFile(directory, now, { mode: "read", waitMs: WAIT_MS });
    return await watchFamilies(db, now);
  } catch {
    return [];
  } finally {
    await db?.close().catch(() => undefined);
  }
}

/** The text for the textfile collector of Prometheus's node exporter, after a run. */
export async function watchMetricsText(db: WatchDb, now: EpochMs): Promise<string> {
  const run: Family = {
    name: "fundfeed_watch_run_timestamp_seconds",
    type: "gauge",
    help: "When the watches were last run, as a Unix timestamp.",
    samples: [{ value: now / 1000 }],
  };
  return familiesText([run, ...(await watchFamilies(db, now))]);
}

async function watchFamilies(db: WatchDb, now: EpochMs): Promise<Family[]> {
  const stored = await listWatches(db);
  const watches = await Promise.all(stored.map(async (watch) => ({ labels: { watch: watch.name }, ...(await statusOf(db, watch)) })));
  const family = (type: "gauge" | "counter", name: string, help: string, read: (watch: (typeof watches)[number]) => number): Family => ({
    name: `fundfeed_watch_${name}`,
    type,
    help,
    samples: watches.map((watch) => ({ labels: watch.labels, value: read(watch) })),
  });
  const secondsSince = (at: EpochMs) => Math.max(0, (now - at) / 1000);
  return [
    family("gauge", "oldest_undelivered_seconds", "Age of the oldest change that a receiver has not accepted; 0 without one.", (watch) =>
      watch.pending === null ? 0 : secondsSince(watch.pending.oldest_at),
    ),
    family("gauge", "behind_seconds", "Time since the receiver had everything.", ({ checked_at }) => secondsSince(checked_at)),
    family("gauge", "paused", "1 while the watch is paused.", ({ paused }) => (paused === null ? 0 : 1)),
    family("counter", "messages_total", "Messages that the receiver accepted.", ({ delivered_total }) => delivered_total),
    family("counter", "failures_total", "Attempts that failed.", ({ failed_total }) => failed_total),
  ];
}
