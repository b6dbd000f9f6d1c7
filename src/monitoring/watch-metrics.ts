/** Metrics of the watches, from watch.db. */
import type { WatchDb } from "../../db/engine.ts";
import { hasWatches, openWatchFile } from "../../db/sqlite/open.ts";
import type { EpochMs } from "../text/instant.ts";
import { watchStatusOf } from "../watch/pending.ts";
import { behindSince } from "../watch/schedule.ts";
import { listWatches } from "../watch/watches.ts";
import { counter, type Family, familiesText, gauge } from "./families.ts";

/** The watches of members together, in place of a name: there may be thousands, and no watch has this name. */
const OF_MEMBERS = "(members)";

/** How long a response waits for a restore. Meanwhile the server answers nobody. */
const WAIT_MS = 50;

/** The metrics of the watches in a directory. None if there is no watch.db, or if it cannot be read. */
export async function watchFamiliesIn(directory: string, now: EpochMs): Promise<Family[]> {
  try {
    if (!hasWatches(directory)) return [];
    await using db = openWatchFile(directory, now, { mode: "read", waitMs: WAIT_MS });
    return await watchFamilies(db, now);
  } catch {
    return [];
  }
}

/** The text for the textfile collector of Prometheus's node exporter, after a run. */
export async function watchMetricsText(db: WatchDb, now: EpochMs): Promise<string> {
  const run = gauge("fundfeed_watch_run_timestamp_seconds", "When the watches were last run, as a Unix timestamp.", now / 1000);
  return familiesText([run, ...(await watchFamilies(db, now))]);
}

async function watchFamilies(db: WatchDb, now: EpochMs): Promise<Family[]> {
  const stored = await listWatches(db);
  const receivers = await Promise.all(stored.map(async (watch) => ({ ...watch, ...(await watchStatusOf(db, watch)) })));
  const watches = Map.groupBy(receivers, ({ name, owner }) => (owner === null ? name : OF_MEMBERS));
  const family = (make: typeof gauge, name: string, help: string, read: (receiver: (typeof receivers)[number]) => number) => {
    const samples = [...watches].map(([watch, each]) => {
      const values = each.map(read);
      return { labels: { watch }, value: make === counter ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values) };
    });
    return make(`fundfeed_watch_${name}`, help, samples);
  };
  const secondsSince = (at: EpochMs) => Math.max(0, (now - at) / 1000);
  return [
    family(
      gauge,
      "oldest_undelivered_seconds",
      "Age of the oldest change that a receiver has not accepted; 0 without one.",
      ({ pending }) => (pending === null ? 0 : secondsSince(pending.oldest_at)),
    ),
    family(gauge, "behind_seconds", "Time since the receiver had everything.", ({ definition, checked_at }) =>
      secondsSince(behindSince(definition, checked_at, now)),
    ),
    family(gauge, "paused", "1 while a receiver of the watch is paused.", ({ paused }) => (paused === null ? 0 : 1)),
    family(counter, "messages_total", "Messages that the receiver accepted.", ({ delivered_total }) => delivered_total),
    family(counter, "failures_total", "Attempts that failed.", ({ failed_total }) => failed_total),
  ];
}
