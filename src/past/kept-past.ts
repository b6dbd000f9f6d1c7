/** Keeps the records of one earlier instant for the next request. Making them takes seconds, in which the process does other work. (E-91) */
import { setImmediate as nextTurn } from "node:timers/promises";
import { count, isNotNull, lte, max, or } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { imports } from "../../db/schema/sqlite/catalog.ts";
import { catalogIdentity } from "../opportunities/read-model.ts";
import { sleep } from "../runtime/run-every.ts";
import { catchUp } from "../search/catch-up.ts";
import { openTemporarySearchFile, type SearchFile } from "../search/search-file.ts";
import { sourceStatuses } from "../sources/source.ts";
import { withCommas } from "../text/counted.ts";
import { type EpochMs, MINUTE_MS } from "../text/instant.ts";
import { nothingKnownInWords } from "./in-words.ts";
import { openPastCatalog } from "./past-catalog.ts";

/** A catalog as it was at an instant, and its search index. The catalog has no events. */
export type Past = { catalog: CatalogDb; index: SearchFile };

/** The records of an instant cannot be had: nothing is known of it, or the catalog is too large. The message is the reason, in words. */
export class NoSuchPast extends Failure {}

/** The records of an instant are still being made. The message says how far that is. */
export class PastNotReady extends Failure {}

export type KeptPast = {
  /**
   * Runs `work` with all records of `present` as they were at an instant. Throws a NoSuchPast. Throws a PastNotReady if they take longer than
   * `waitMs` to make; making them goes on, for the next call.
   */
  use: <T>(present: CatalogDb, asOf: EpochMs, waitMs: number, work: (past: Past) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

/** A catalog of more records takes minutes, and gigabytes of disk. */
const RECORDS_MAX = 200_000;
/** Records that are indexed before other work has its turn. */
const BATCH = 200;
/** How long a past is kept. It has contacts that are erased meanwhile, though nobody is shown them. */
const KEPT_MS = 15 * MINUTE_MS;

/** `key` is that of `keyOf`. `users` counts the calls that read it now. */
type Made = Past & { key: string; users: number };
/** `step` says how far it is. */
type Making = { step: string; done: Promise<void> };
type Progress = (step: string) => (done: number, total: number) => Promise<void>;

/** Keeps the past that was made last, for a while, in files without names. `openCatalog` opens the present catalog. */
export function keepPast(openCatalog: () => Promise<CatalogDb>, keptMs = KEPT_MS): KeptPast {
  let kept: Made | undefined;
  let making: Making | undefined;
  let ending: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  const keep = (next: Made | undefined) => {
    const former = kept;
    kept = next;
    clearTimeout(ending);
    if (next !== undefined) {
      ending = setTimeout(keep, keptMs, undefined);
      ending.unref();
    }
    if (former?.users === 0) void closePast(former);
  };

  const begin = (key: string, asOf: EpochMs): Making => {
    const progress: Progress = (step) => async (done, total) => {
      state.step = `${step}: ${withCommas(done)} of ${withCommas(total)}`;
      await nextTurn();
      if (isClosed) throw new Failure("Cannot read the past: the server stops");
    };
    const done = makePast(openCatalog, asOf, progress).then((past) => {
      keep({ ...past, key, users: 0 });
      making = undefined;
    });
    done.catch(() => undefined); // The next call gets the error.
    const state: Making = { step: "read", done };
    return state;
  };

  const run = async <T>(made: Made, work: (past: Past) => Promise<T>): Promise<T> => {
    made.users++;
    try {
      return await work(made);
    } finally {
      made.users--;
      if (kept !== made && made.users === 0) await closePast(made);
    }
  };

  return {
    use: async (present, asOf, waitMs, work) => {
      const unknown = await nothingKnownInWords(present, asOf);
      if (unknown !== undefined) throw new NoSuchPast(unknown);
      const key = await keyOf(present, asOf);
      const until = performance.now() + waitMs;
      for (;;) {
        if (kept?.key === key) return run(kept, work);
        making ??= begin(key, asOf);
        const current = making;
        const leftMs = until - performance.now();
        const isDone = leftMs > 0 && (await isDoneWithin(current.done, leftMs).catch(failed));
        if (!isDone) throw new PastNotReady(`the records of then are being put together (${current.step})`);
      }
    },
    close: async () => {
      isClosed = true;
      await making?.done.catch(() => undefined);
      keep(undefined);
    },
  };

  function failed(error: unknown): never {
    making = undefined;
    throw error;
  }
}

async function isDoneWithin(done: Promise<void>, ms: number): Promise<boolean> {
  const waited = new AbortController();
  return Promise.race([done.then(() => true), sleep(ms, waited.signal).then(() => false)]).finally(() => waited.abort());
}

async function makePast(openCatalog: () => Promise<CatalogDb>, asOf: EpochMs, progress: Progress): Promise<Past> {
  const present = await openCatalog();
  let catalog: CatalogDb | undefined;
  let index: SearchFile | undefined;
  try {
    const records = (await sourceStatuses(present)).reduce((sum, each) => sum + each.records, 0);
    if (records > RECORDS_MAX)
      throw new NoSuchPast(
        `there are ${withCommas(records)} records, and the past of at most ${withCommas(RECORDS_MAX)} is kept here; fundfeed find --as-of searches it`,
      );
    catalog = await openPastCatalog(present, asOf, progress("read"));
    index = openTemporarySearchFile();
    await catchUp(catalog, index, progress("indexed"), asOf, BATCH);
    return { catalog, index };
  } catch (error) {
    index?.close();
    await catalog?.close();
    throw error;
  } finally {
    await present.close();
  }
}

async function closePast({ catalog, index }: Past): Promise<void> {
  index.close();
  await catalog.close();
}

/** The imports that decide what is known of an instant: those that ended by then, and later ones of an earlier history. A restore may remove some. */
const importsAbout = query({ asOf: imports.finished_at }, ({ asOf }) =>
  select({ imports: count(), finished: count(imports.finished_at), last: max(imports.id) })
    .from(imports)
    .where(or(isNotNull(imports.as_of), lte(imports.finished_at, asOf))),
);

/** Changes when the records of the instant may have changed. Erased contacts do not count: they are shown from the present catalog (`readPastById`). */
async function keyOf(present: CatalogDb, asOf: EpochMs): Promise<string> {
  return JSON.stringify([asOf, await catalogIdentity(present), await present.get(importsAbout, { asOf })]);
}
