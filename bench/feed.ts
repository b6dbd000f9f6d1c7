/** A period of the change feed at growing sizes of the catalog: its cost follows the period. */
import { cpSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../db/sqlite/open.ts";
import { type FeedPage, type FeedPosition, readFeed, readWindow, type WindowPosition } from "../src/events/feed.ts";
import { cpuMs } from "../tests/support/cpu-time.ts";
import { generateRecord } from "./generate.ts";
import { fundfeed, run } from "./processes.ts";
import { count, table } from "./report.ts";
import { shortCatalog } from "./short-catalog.ts";

const SIZES = (process.env.FUNDFEED_BENCH_RECORDS ?? "100000,1000000").split(",").map(Number);
/** The newest events, as many as a busy day of Grants.gov and SAM.gov has. */
const EVENTS = 2000;
const SEED = 11;
const REPEATS = 9;
const PAGE = 500;

const rows = [];
for (const records of SIZES) rows.push({ records: count(records), ...(await measure(records)) });
process.stdout.write(`${table(rows)}\n`);

async function measure(records: number) {
  const directory = await withNewestRecords(await shortCatalog(records));
  const db = openCatalog(directory, Date.now(), { mode: "read" });
  const sql = "select seq, id, detected_at from events order by seq desc limit 1 offset ?";
  const start = db.sqlite.query<{ seq: number; id: string; detected_at: number }, [number]>(sql).get(EVENTS);
  if (start === null) throw new Error(`There are fewer than ${EVENTS} events`);
  const { seq, id, detected_at } = start;
  const since = detected_at - 1;
  const now = Date.now();
  const window = () => readAll<WindowPosition>(null, (after) => readWindow(db, after, { filter: {}, since }, now, PAGE));
  const rare = () => readAll<WindowPosition>(null, (after) => readWindow(db, after, { filter: { source: ["NOPE"] }, since }, now, PAGE));
  const feed = () => readAll<FeedPosition>({ seq, id }, (after) => readFeed(db, after, { filter: {} }, now, PAGE));
  const nothing = () => readFeed(db, { seq, id }, { filter: {}, since: now }, now, PAGE);
  const measures = {
    "period, ms": await medianCpuMs(window),
    "filtered, ms": await medianCpuMs(rare),
    "from a position, ms": await medianCpuMs(feed),
    "one look, ms": await medianCpuMs(nothing),
  };
  await db.close();
  const since_ = new Date(since).toISOString();
  const command = await run(0, [
    ...fundfeed,
    "changes",
    "--since",
    since_,
    "--at-least",
    "noise",
    "--format",
    "ndjson",
    "--data",
    directory,
  ]);
  return { ...measures, "command, ms": Math.round(command.cpuSeconds * 1000) };
}

/** A copy of a catalog, with the newest records imported. Stays for the next run. */
async function withNewestRecords(catalog: string): Promise<string> {
  const directory = `${catalog}-feed`;
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(catalog, unfinished, { recursive: true });
  const file = join(unfinished, "newest.ndjson");
  writeFileSync(file, Array.from({ length: EVENTS + 1 }, (_, n) => `${JSON.stringify(generateRecord(SEED, n))}\n`).join(""));
  await run(0, [...fundfeed, "import", "records", file, "--data", unfinished]);
  renameSync(unfinished, directory);
  return directory;
}

async function readAll<Position>(start: Position, read: (after: Position) => Promise<FeedPage<Position>>): Promise<void> {
  for (let after = start; ; ) {
    const { position, atEnd } = await read(after);
    if (atEnd) return;
    after = position;
  }
}

/** CPU time of the process, because others use the processors too. */
async function medianCpuMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const before = cpuMs();
    await work();
    times.push(cpuMs() - before);
  }
  const median = times.toSorted((left, right) => left - right)[Math.floor(REPEATS / 2)] ?? 0;
  return Math.round(median * 10) / 10;
}
