/** A period of the change feed at growing sizes of the catalog: its cost follows the period. Not part of `bun run bench`. */
import { openCatalog } from "../db/sqlite/open.ts";
import { type FeedPage, type FeedPosition, readFeed, readWindow, type WindowPosition } from "../src/events/feed.ts";
import { cpuMs } from "../tests/support/cpu-time.ts";
import { fundfeed, run } from "./processes.ts";
import { count, table } from "./report.ts";
import { shortCatalog } from "./short-catalog.ts";

const SIZES = (process.env.FUNDFEED_BENCH_RECORDS ?? "100000,1000000").split(",").map(Number);
/** The newest events, as many as a busy day of Grants.gov and SAM.gov has. */
const EVENTS = 2000;
const REPEATS = 9;
const PAGE = 500;

const rows = [];
for (const records of SIZES) rows.push({ records: count(records), ...(await measure(records)) });
process.stdout.write(`${table(rows)}\n`);

async function measure(records: number) {
  const directory = await shortCatalog(records);
  const db = openCatalog(directory, Date.now(), { mode: "read" });
  const newest = (order: string) => {
    const sql = `select seq, id, detected_at from events order by ${order} limit 1 offset ?`;
    const event = db.sqlite.query<{ seq: number; id: string; detected_at: number }, [number]>(sql).get(EVENTS);
    if (event === null) throw new Error(`There are fewer than ${EVENTS} events`);
    return event;
  };
  const { seq, id } = newest("seq desc");
  const { detected_at: since } = newest("detected_at desc, seq desc");
  const now = Date.now();
  const window = () => readAll<WindowPosition>(null, (after) => readWindow(db, after, { filter: {}, since }, now, PAGE));
  const rare = () => readAll<WindowPosition>(null, (after) => readWindow(db, after, { filter: { source: ["NOPE"] }, since }, now, PAGE));
  const feed = () => readAll<FeedPosition>({ seq, id }, (after) => readFeed(db, after, { filter: {} }, now, PAGE));
  const nothing = () => readFeed(db, { seq, id }, { filter: {}, since: now }, now, PAGE);
  const figures = {
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
  return { ...figures, "command, ms": Math.round(command.cpuSeconds * 1000) };
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
