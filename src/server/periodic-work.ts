/** The periodic work of a running server. */

import type { CatalogDb } from "../../db/engine.ts";
import { codeOf } from "../../db/reason.ts";
import { saveUse } from "../accounts/access.ts";
import { BackfillUnfinished } from "../changes/backfill.ts";
import { noTurns, turnStatuses } from "../changes/status-turns.ts";
import type { Log } from "../monitoring/log.ts";
import { countStatusTurns, type Metrics } from "../monitoring/metrics.ts";
import { updateModel } from "../opportunities/read-model.ts";
import type { Machine } from "../runtime/machine.ts";
import { runEvery, sleep } from "../runtime/run-every.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Stores } from "./stores.ts";

/** How often use is written to state.db (D-25). */
const SAVE_USE_MS = 500;
/** How often statuses turn whose date has passed (D-37: at most a minute late). */
const TURN_STATUSES_MS = 15_000;
/** How often a status turn tries to get in between an import's transactions, before it leaves the rest to the next period. */
const TURN_ATTEMPTS = 400;
const TURN_RETRY_MS = 5;
const CHECK_MS = 1000;

type Environment = {
  machine: Machine;
  log: Log;
  metrics: Metrics;
  onReplaced: () => void;
};

/** Starts all of it at once. The result stops it, waits for what is under way, and saves the use counted since. */
export function startPeriodicWork(stores: Stores, { machine, log, metrics, onReplaced }: Environment): () => Promise<void> {
  const { model, access, statusDb } = stores;
  const { now } = machine;
  const stopping = new AbortController();
  const onFailure = (error: unknown) => (stores.areIntact() ? log.recurring(now(), error, null) : onReplaced());
  const every = (periodMs: number, work: () => Promise<void>) =>
    runEvery(periodMs, { now, wait: sleep, stop: stopping.signal }, () => work().catch(onFailure));
  let noticed = "";
  const noticeBackfill = ({ message }: BackfillUnfinished) => {
    if (message !== noticed) log.notice(now(), message); // Once for each backfill, not every fifteen seconds.
    noticed = message;
  };
  const running = [
    every(SAVE_USE_MS, () => saveUse(access)),
    every(TURN_STATUSES_MS, () => turnDueStatuses(statusDb, now(), metrics, noticeBackfill)),
    every(CHECK_MS, async () => {
      if (!stores.areIntact()) onReplaced();
    }),
    every(CHECK_MS, async () => updateModel(model)), // So that no request has to wait for the records of a whole import.
  ];
  return async () => {
    stopping.abort();
    await Promise.all(running);
    // Not into a file that was replaced: what the last half second used is forgotten then, as after a crash (D-25).
    if (access.db.checkFile() === "intact") await saveUse(access).catch((error: unknown) => log.failure(now(), error, null));
  };
}

/** An import may lock the file for half a second. Makes short attempts instead of one long wait, because requests would wait as well. */
async function turnDueStatuses(
  db: CatalogDb,
  now: EpochMs,
  metrics: Metrics,
  onBackfill: (reason: BackfillUnfinished) => void,
): Promise<void> {
  const turned = noTurns(); // An attempt that fails may have committed some.
  for (let attempt = 1; attempt <= TURN_ATTEMPTS; attempt++) {
    try {
      await turnStatuses(db, now, turned);
      break;
    } catch (error) {
      if (error instanceof BackfillUnfinished) return onBackfill(error);
      if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
      await Bun.sleep(TURN_RETRY_MS);
    }
  }
  countStatusTurns(metrics, turned);
}
