/** The periodic work of a running server. */
import type { CatalogDb } from "../../db/engine.ts";
import type { Mode } from "../../db/opening.ts";
import { codeOf } from "../../db/reason.ts";
import { type Access, saveUse } from "../accounts/access.ts";
import { turnStatuses } from "../changes/status-turns.ts";
import type { Log } from "../monitoring/log.ts";
import { countStatusTurns, type Metrics } from "../monitoring/metrics.ts";
import { keepSnapshot } from "../opportunities/index-snapshot.ts";
import { refresh } from "../opportunities/read-model.ts";
import type { Machine } from "../runtime/machine.ts";
import type { EpochMs } from "../text/instant.ts";
import { startPeriodic } from "./periodic.ts";
import type { Stores } from "./stores.ts";

/** How often use is written to state.db (D-25). */
const SAVE_USE_MS = 500;
/** How often statuses turn whose date has passed (D-37: at most a minute late). */
const TURN_STATUSES_MS = 15_000;
/** How often a status turn tries to get in between an import's transactions, before it leaves the rest to the next period. */
const TURN_ATTEMPTS = 400;
const TURN_RETRY_MS = 5;
/** How often the server looks for new commits and for replaced files. */
const CHECK_MS = 1000;
/** How often the server checks whether the index snapshot is too old. */
const SNAPSHOT_MS = 60_000;
/** How long replaced files stay open: requests that started with them may be waiting for their quota. */
const LINGER_MS = 500;

/** The stores that requests are served from. Another object takes their place when the files are replaced. */
export type Served = { stores: Stores };

type Environment = {
  machine: Machine;
  /** The data directory, for messages. */
  data: string;
  log: Log;
  metrics: Metrics;
};

/** Starts all jobs at once. The result stops them, waits for those under way, and saves the use counted since. */
export function startJobs(served: Served, open: (mode: Mode) => Promise<Stores>, environment: Environment): () => Promise<void> {
  const { machine, log, metrics } = environment;
  const { now } = machine;
  const every = (periodMs: number, work: () => Promise<void>) =>
    startPeriodic(periodMs, work, (error) => log.recurring(now(), error, null));
  const stops = [
    every(SAVE_USE_MS, () => saveUse(served.stores.access)),
    every(TURN_STATUSES_MS, () => turnDueStatuses(served.stores.statusDb, now(), metrics)),
    every(CHECK_MS, () => reopenReplaced(served, open, environment)),
    every(CHECK_MS, async () => refresh(served.stores.model)), // So that no request has to wait for the records of a whole import.
    every(SNAPSHOT_MS, async () => {
      const { model, snapshotPath } = served.stores;
      if (snapshotPath !== undefined && (machine.worker?.number ?? 1) === 1) await keepSnapshot(model, snapshotPath);
    }),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
    await saveLastUse(served.stores.access, environment);
  };
}

/** Serves the files that took the place of the open ones. Throws while no files are there; the open ones are then served on. */
async function reopenReplaced(served: Served, open: (mode: Mode) => Promise<Stores>, environment: Environment): Promise<void> {
  const { machine, data, log } = environment;
  const state = served.stores.checkFiles();
  if (state === "intact") return;
  if (state === "missing") throw new Error(`The files in ${data} are missing: the open ones are served until files are there again`);
  const replaced = served.stores;
  served.stores = await open("change"); // Not "create": an empty file may be a copy that is still being written.
  await Bun.sleep(LINGER_MS);
  await saveLastUse(replaced.access, environment); // The state may still be the same file, and then must have the use.
  await replaced.close();
  log.notice(machine.now(), `The files in ${data} were replaced; the server now serves the new ones`);
}

/** An import may lock the file for half a second. Makes short attempts instead of one long wait, because requests would wait as well. */
async function turnDueStatuses(db: CatalogDb, now: EpochMs, metrics: Metrics): Promise<void> {
  for (let attempt = 1; attempt <= TURN_ATTEMPTS; attempt++) {
    try {
      return countStatusTurns(metrics, await turnStatuses(db, now));
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_BUSY")) throw error;
      await Bun.sleep(TURN_RETRY_MS);
    }
  }
}

async function saveLastUse(access: Access, { machine, log }: Environment): Promise<void> {
  try {
    await saveUse(access);
  } catch (error) {
    log.failure(machine.now(), error, null);
  }
}
