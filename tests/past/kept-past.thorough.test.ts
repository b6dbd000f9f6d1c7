/** The records of an earlier instant are made once, while other work goes on, and kept for the next request. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { type KeptPast, keepPast, NoSuchPast, type Past, PastNotReady } from "../../src/past/kept-past.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, DAY, dropScratch, NOON } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

setDefaultTimeout(300_000);

const LONG_MS = 250_000;
const NOW = NOON + 10 * DAY;
const data = aDirectory();
const open = async () => openCatalog(data, NOW, { mode: "read" });
let present: CatalogDb;

const take = (title: string, days: number) =>
  fundfeed(["import", "records", aFile(recordsOf(title)), "--data", data], {}, () => NOON + days * DAY);
/** More than one batch. */
const recordsOf = (title: string, code = "OWN") =>
  Array.from({ length: 450 }, (_, n) => ({ source: { code, opportunity_id: `${n}` }, title }));

beforeAll(async () => {
  await take("First", 0);
  await take("Second", 2);
  present = await open();
});
afterAll(async () => {
  await present.close();
  dropScratch();
});

const titleIn = async ({ catalog }: Past, code = "OWN") => (await readOpportunities(catalog, [opportunityId(code, "7")], NOW))[0]?.title;
const titleAt = (kept: KeptPast, days: number, code?: string) =>
  kept.use(present, NOON + days * DAY, LONG_MS, (past) => titleIn(past, code));
/** Files of pasts that this process has open. They have no name anymore. */
const openFiles = () =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return /fundfeed-(past|search)-.* \(deleted\)/.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;

test("are made once, and others have their turn meanwhile", async () => {
  let opened = 0;
  const kept = keepPast(() => {
    opened++;
    return open();
  });
  let [turns, isDone] = [0, false];
  const turning = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  expect(await Promise.all([titleAt(kept, 1), titleAt(kept, 1), titleAt(kept, 1)])).toEqual(["First", "First", "First"]);
  isDone = true;
  await turning;
  expect(turns).toBeGreaterThanOrEqual(6); // One at least after each batch that is read, and each that is indexed.
  expect([await titleAt(kept, 1), opened]).toEqual(["First", 1]);
  await kept.close();
});

test.skipIf(process.platform !== "linux")("are replaced by those of another instant, and closed when nobody uses them", async () => {
  const [kept, before] = [keepPast(open), openFiles()];
  const found = await kept.use(present, NOON + DAY, LONG_MS, async (first) => {
    const second = await titleAt(kept, 3);
    return [await titleIn(first), second, openFiles() - before];
  });
  expect(found).toEqual(["First", "Second", 4]); // A catalog and an index of each.
  expect(openFiles() - before).toBe(2);
  await kept.close();
  expect(openFiles() - before).toBe(0);
});

test("who does not wait long enough is told, and finds them later", async () => {
  const kept = keepPast(open);
  const early = kept.use(present, NOON + DAY, 0, titleIn);
  await expect(early).rejects.toThrow(PastNotReady);
  await expect(early).rejects.toThrow("the records of then are being put together (read)");
  expect(await titleAt(kept, 1)).toBe("First");
  expect(await kept.use(present, NOON + DAY, 0, titleIn)).toBe("First");
  await kept.close();
});

test("are not known before the first record", async () => {
  const kept = keepPast(open);
  const unknown = titleAt(kept, -1);
  await expect(unknown).rejects.toThrow(NoSuchPast);
  await expect(unknown).rejects.toThrow("nothing was stored then: the first record came on Mar 1, 2026, 12:00 PM UTC");
  await kept.close();
});

test("a failure is told to who waits, and does not last", async () => {
  let works = false;
  const kept = keepPast(() => (works ? open() : Promise.reject(new Error("no data"))));
  await expect(titleAt(kept, 1)).rejects.toThrow("no data");
  works = true;
  expect(await titleAt(kept, 1)).toBe("First");
  await kept.close();
});

test("are given up while they are made, if the server stops", async () => {
  const kept = keepPast(open);
  const cut = titleAt(kept, 1);
  cut.catch(() => undefined);
  await nextTurn();
  await kept.close();
  await expect(cut).rejects.toThrow("the server stops");
});

test("are made again after an import of an earlier history", async () => {
  const kept = keepPast(open);
  expect(await titleAt(kept, 4, "LATE")).toBeUndefined();
  const history = ["import", "records", aFile(recordsOf("Late", "LATE")), "--as-of", "2026-03-04T12:00:00Z", "--data", data];
  expect(await fundfeed(history, {}, () => NOON + 5 * DAY)).toMatchObject({ code: 0 });
  expect(await titleAt(kept, 4, "LATE")).toBe("Late");
  await kept.close();
});

test.skipIf(process.platform !== "linux")("are closed after a while", async () => {
  const [kept, before] = [keepPast(open, 1), openFiles()];
  expect(await titleAt(kept, 1)).toBe("First");
  await waitFor("nothing is kept", () => openFiles() === before);
  expect(await titleAt(kept, 1)).toBe("First");
  await kept.close();
});
