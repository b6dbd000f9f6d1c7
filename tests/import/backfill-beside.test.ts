/** E-100: what may be stored between two transactions of a backfill, beside a server and other commands. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { createMetrics } from "../../src/monitoring/metrics.ts";
import { startPeriodicWork } from "../../src/server/periodic-work.ts";
import { openStores } from "../../src/server/stores.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { machineOf } from "../support/command-line.ts";
import {
  aCatalog,
  aDirectory,
  cutShort,
  DAY,
  documentsOf,
  dropScratch,
  eventsOf,
  type Imported,
  NOON,
  type TestCatalog,
} from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const AS_OF = NOON + 30 * DAY;
const NOW = NOON + 90 * DAY;

/** Six records that close in turn after the instant of the backfill, so that a status turn has something to do after each chunk. */
const closing = Array.from({ length: 6 }, (_, n) => ({
  source: { code: "A", opportunity_id: `${n}` },
  title: `T ${n}`,
  dates: { closes_at: formatInstant(AS_OF + (n + 20) * DAY) },
  contacts: [{ name: "Ann", email: "ann@example.org" }],
}));

const backfill = (catalog: TestCatalog, between: () => unknown = () => undefined): Promise<Imported> =>
  catalog.take(closing, { asOf: AS_OF, chunk: 2, between });

async function aCatalogOfNow(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  catalog.clock.now = NOW;
  return catalog;
}

/** The instants of all records, from the oldest to the newest. */
async function instantsOf({ db }: TestCatalog): Promise<string[]> {
  return [...new Set((await documentsOf(db)).map(({ updated_at }) => updated_at))];
}

async function unfinished({ db }: TestCatalog): Promise<number> {
  const [row] = await db.all(rawSql<{ count: number }>("select count(*) as count from imports where finished_at is null"));
  return row?.count ?? 0;
}

const threeChunks = [0, 1, 2].map((n) => formatInstant(AS_OF + n));

describe("a backfill of three chunks", () => {
  test("has its own instants, although a status turn is tried before and after each of its transactions", async () => {
    const catalog = await aCatalogOfNow();
    const refused: string[] = [];
    await backfill(catalog, () => turnStatuses(catalog.db, NOW).catch(({ message }: Error) => void refused.push(message)));
    expect(await instantsOf(catalog)).toEqual(threeChunks);
    expect(new Set(refused)).toEqual(
      new Set([
        `Statuses do not change while the import as of ${formatInstant(AS_OF)} is unfinished. If it is not running, repeat it with the same files and --as-of; any import without --as-of gives it up`,
      ]),
    );
    expect((await turnStatuses(catalog.db, NOW)).changed).toBe(6);
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });

  test("turns the statuses of earlier records at their dates, and no other turn comes between these", async () => {
    const catalog = await aCatalog();
    const due = { source: { code: "B", opportunity_id: "due" }, title: "Due", dates: { closes_at: formatInstant(NOON + 20 * DAY) } };
    await catalog.take([due, ...closing.map((record) => ({ ...record, source: { code: "B", opportunity_id: record.title } }))]);
    catalog.clock.now = NOW;
    let refused = 0;
    await backfill(catalog, async () => {
      if ((await unfinished(catalog)) > 0) await turnStatuses(catalog.db, NOW).catch(() => refused++);
    });
    expect(refused).toBe(5); // Two turns of earlier records, and three chunks.
    const detected = (await eventsOf(catalog.db, "due")).map(({ detected_at }) => detected_at);
    expect(detected).toEqual([NOON, NOON + 6 * DAY, NOON + 20 * DAY].map(formatInstant));
    expect((await instantsOf(catalog)).slice(-3)).toEqual(threeChunks);
  });

  test("that was cut short keeps statuses as they are until it is repeated", async () => {
    const catalog = await aCatalogOfNow();
    await cutShort(catalog, 1, () => backfill(catalog));
    await expect(turnStatuses(catalog.db, NOW)).rejects.toThrow("Statuses do not change while the import as of");
    await backfill(catalog);
    expect(await instantsOf(catalog)).toEqual(threeChunks);
    expect((await turnStatuses(catalog.db, NOW)).changed).toBe(6);
  });

  test("that was cut short is given up by an import without --as-of, and the refusal says so", async () => {
    const catalog = await aCatalogOfNow();
    await cutShort(catalog, 1, () => backfill(catalog));
    const other = { source: { code: "B", opportunity_id: "b" }, title: "B" };
    await catalog.take([other]);
    expect((await turnStatuses(catalog.db, NOW)).changed).toBe(0); // The import turned what was due.
    await expect(backfill(catalog)).rejects.toThrow(
      /^Cannot import as of 2026-03-31T12:00:00.000Z: the catalog holds changes up to 2026-05-30T\S+, stored by the import of records that began at 2026-05-30T12:00:00.000Z, and --as-of must be later\. Build a history while no server runs on the catalog, or in a data directory of its own \(fundfeed help import\)$/,
    );
  });

  test("is refused with its reason after a status turn", async () => {
    const catalog = await aCatalogOfNow();
    await catalog.take(closing, { asOf: NOON });
    await turnStatuses(catalog.db, NOW);
    await expect(backfill(catalog)).rejects.toThrow("stored by a server's status turn, fundfeed refresh or fundfeed redact, and --as-of");
  });

  test("fails where a writer that asks nobody comes between, and dates nothing after it", async () => {
    const catalog = await aCatalogOfNow();
    let chunks = 0;
    const redactOnce = async () => {
      if ((await documentsOf(catalog.db)).length === 2 && chunks++ === 0) await redactStored(catalog.db, undefined, NOW);
    };
    await expect(backfill(catalog, redactOnce)).rejects.toThrow(
      "Cannot finish the import as of 2026-03-31T12:00:00.000Z: the catalog holds changes up to 2026-05-30T12:00:00.000Z, stored by a server's status turn, fundfeed refresh or fundfeed redact meanwhile, and what follows would be dated after that; 2 of 6 records are stored. Build a history while no server runs on the catalog, or in a data directory of its own (fundfeed help import)",
    );
    expect((await documentsOf(catalog.db)).length).toBe(2);
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });
});

test("a server says once that statuses wait for a backfill, counts no run, and turns them afterwards", async () => {
  const stores = await openStores({ data: aDirectory() }, NOON, () => undefined);
  const catalog = await aCatalog(stores.statusDb);
  catalog.clock.now = NOW;
  await cutShort(catalog, 1, () => backfill(catalog));
  const lines: string[] = [];
  const metrics = createMetrics(NOON);
  const machine = { ...machineOf({}, { printLine: () => undefined, printError: () => undefined }), now: () => NOW };
  const log = createLog("text", (text) => void lines.push(text));
  await startPeriodicWork(stores, { machine, log, metrics, onReplaced: () => undefined })();
  log.flush();
  expect([lines.join("").match(/Statuses do not change/g)?.length, metrics.statusTurnRuns, metrics.failures]).toEqual([1, 0, 0]);
  await backfill(catalog);
  await startPeriodicWork(stores, { machine, log, metrics, onReplaced: () => undefined })();
  expect([metrics.statusTurnRuns, metrics.statusTurns]).toEqual([1, 6]);
  expect(await unfinished(catalog)).toBe(0);
  await stores.close();
});
