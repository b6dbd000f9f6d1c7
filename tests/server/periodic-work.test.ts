/** The periodic work of a server while another process writes. */
import { afterAll, expect, test } from "bun:test";
import { createLog } from "../../src/monitoring/log.ts";
import { createMetrics } from "../../src/monitoring/metrics.ts";
import { startPeriodicWork } from "../../src/server/periodic-work.ts";
import { openStores } from "../../src/server/stores.ts";
import { machineOf } from "../support/command-line.ts";
import { aCatalog, aDirectory, DAY, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

test("counts the statuses that turned before an import got in between", async () => {
  const stores = await openStores({ data: aDirectory() }, NOON, () => undefined);
  const closing = { closes_at: new Date(NOON + DAY).toISOString() };
  const records = Array.from({ length: 250 }, (_, n) => ({ source: { code: "OWN", opportunity_id: `${n}` }, title: "A", dates: closing }));
  await (await aCatalog(stores.statusDb)).take(records);
  const { transaction } = stores.statusDb;
  let transactions = 0;
  stores.statusDb.transaction = (work) => {
    if (++transactions === 3) throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
    return transaction.call(stores.statusDb, work) as ReturnType<typeof work>;
  };
  const metrics = createMetrics(NOON);
  const machine = { ...machineOf({}, { printLine: () => undefined, printError: () => undefined }), now: () => NOON + 2 * DAY };
  const stop = startPeriodicWork(stores, { machine, log: createLog("text", () => undefined), metrics, onReplaced: () => undefined });
  await stop(); // Waits for what is under way.
  expect([transactions, metrics.statusTurns, metrics.statusTurnRuns]).toEqual([4, 250, 1]);
  await stores.close();
});
