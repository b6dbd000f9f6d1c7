/** What an import works with: its options, opened files, staging, rejects and lock. */
import type { CatalogDb } from "../../db/engine.ts";
import { Failure, failureWith, messageOf } from "../../db/reason.ts";
import { withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Format } from "./format.ts";
import type { FileDigest, Summary } from "./import-log.ts";
import { InvalidInput, type OpenInput, openInput } from "./readers/input.ts";
import { hintFor } from "./recognize.ts";
import { createRejects, type Reason, type Rejects, type RejectsOptions } from "./rejects.ts";
import { openStaging, type Staging } from "./staging.ts";

/** How long an import waits for another one, and how often it tries. */
const [WAIT_MS, RETRY_EVERY_MS] = [10 * 60_000, 200];

export type ImportOptions = RejectsOptions & {
  snapshot?: boolean | undefined;
  allowRemovals?: boolean | undefined;
  asOf?: EpochMs | undefined;
  /** Imports no contacts, and removes them from stored events and rejects files. */
  redactContacts?: boolean;
};

/** An import into a catalog with records, the first one, or one that restores an export: only an empty catalog can be restored. */
export type ImportKind = "later" | "first" | "restore";

export type ImportContext = {
  db: CatalogDb;
  directory: string;
  now: () => EpochMs;
  notify: (message: string) => void;
  /** Called at intervals, while signals are handled. */
  progress: (progress: ImportProgress) => void | Promise<void>;
  stop?: AbortSignal | undefined;
  chunk?: number | undefined;
};

export type ImportProgress = { step: "reading" | "comparing" | "writing"; done: number; total?: number; share: number };

class Stopped extends Error {}

/** Reports progress. Throws if the import was stopped. */
export async function advance({ progress, stop }: ImportContext, made: ImportProgress): Promise<void> {
  await progress(made);
  if (stop?.aborted) throw new Stopped("it was stopped before anything was stored");
}

/** The error of an import that failed or was stopped after storing `stored` of `total` records. */
export function failedAfter(error: unknown, stored: number, total: number): unknown {
  if (stored === 0) return error;
  const [count, all] = [stored, total].map(withCommas);
  const stopped = `it was stopped after ${count} of ${all} records; the same command stores the rest`;
  return error instanceof Stopped ? new Error(stopped, { cause: error }) : failureWith(error, stopped);
}

export type ImportOutcome = Summary & { reasons?: Reason[]; rejects: string[] };

type Lockable = Pick<ImportContext, "db" | "directory" | "notify">;

export type Opened = { inputs: readonly OpenInput[]; staging: Staging; rejects: Rejects };

/** Opens the files, takes the lock, runs `work` and keeps the rejects. Reads standard input before it waits: its writer might give up. */
export async function withInputs(
  context: ImportContext,
  format: Pick<Format, "name" | "entry">,
  options: ImportOptions,
  work: (opened: Opened) => Promise<Summary>,
): Promise<ImportOutcome> {
  using opened = new DisposableStack();
  const inputs: OpenInput[] = [];
  for (const file of options.files) inputs.push(opened.adopt(await openInput(file, format, context.directory), ({ close }) => close()));
  return await withStaging(context, async (staging) => {
    const rejects = createRejects(options);
    await context.db.makeRoomForWrites();
    try {
      const summary = await work({ inputs, staging, rejects }).catch(async (error: unknown) => {
        throw await withHint(error, inputs, format);
      });
      const isAllRejected = summary.rejected > 0 && summary.rejected === summary.read;
      for (const input of isAllRejected ? inputs : []) {
        const hint = await hintFor(input, format.name);
        if (hint !== "") context.notify(`No record of ${input.name} could be imported${hint}`);
      }
      return { ...summary, ...(summary.rejected === 0 ? {} : { reasons: rejects.reasons() }), rejects: rejects.keep() };
    } finally {
      rejects.drop();
    }
  });
}

async function withHint(error: unknown, inputs: readonly OpenInput[], { name }: Pick<Format, "name">): Promise<unknown> {
  const input = error instanceof InvalidInput ? inputs.find((each) => each.name === error.file) : undefined;
  const hint = input === undefined ? "" : await hintFor(input, name);
  return hint === "" ? error : new Failure(messageOf(error) + hint, { cause: error });
}

/** Runs `work` with an empty staging, holding the import lock. Throws if another import still holds it after `waitMs`. */
export async function withStaging<T>(context: Lockable, work: (staging: Staging) => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  await using _ = await takeLock(context, waitMs);
  using staging = openStaging(context.directory);
  return await work(staging);
}

async function takeLock({ db, notify }: Lockable, waitMs: number): Promise<Disposable | AsyncDisposable> {
  for (let waitedMs = 0; ; waitedMs += RETRY_EVERY_MS) {
    const lock = await db.tryLock("import");
    if (lock !== undefined) return lock;
    if (waitedMs >= waitMs) throw new Error("another import is still writing to this catalog");
    if (waitedMs === 0) notify("Waiting for another import to finish");
    await Bun.sleep(RETRY_EVERY_MS);
  }
}

/** Name, size and SHA-256 of each file. Throws if one changed since it was opened. */
export async function digestsOf(inputs: readonly OpenInput[]): Promise<FileDigest[]> {
  return Promise.all(inputs.map(async (input) => ({ name: input.name, ...(await input.digest()) })));
}

/** The share of all files that has been read, from 0 to 1. */
export function shareRead(inputs: readonly OpenInput[]): number {
  let [read, total] = [0, 0];
  for (const input of inputs) {
    const progress = input.progress();
    read += progress.read;
    total += progress.total;
  }
  return total === 0 ? 1 : Math.min(1, read / total);
}
