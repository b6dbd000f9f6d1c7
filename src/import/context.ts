/** What every import works with: its options, its opened files, its staging and its rejects file. */
import type { CatalogDb } from "../../db/engine.ts";
import { messageOf } from "../../db/reason.ts";
import type { Format } from "./format.ts";
import type { FileDigest, Summary } from "./import-log.ts";
import { type OpenInput, openInput } from "./input.ts";
import { hintFor } from "./recognize.ts";
import { createRejects, type Reason, type Rejects, type RejectsOptions } from "./rejects.ts";
import { openStaging, type Staging } from "./staging.ts";

/** How long an import waits for another one to finish, and how often it looks. */
const [WAIT_MS, LOOK_EVERY_MS] = [10 * 60_000, 200];

export type Options = RejectsOptions & {
  snapshot: boolean;
  allowRemovals: boolean;
  /** Milliseconds since 1970 UTC. */
  asOf: number | undefined;
  /** Keeps contacts out of records, events and rejects files. */
  redactContacts?: boolean;
};

export type ImportContext = {
  db: CatalogDb;
  /** Where the staging file lives: the data directory, a temporary one where the data are in PostgreSQL, or ":memory:". */
  directory: string;
  now: () => number;
  /** Something that the operator should know. */
  notify: (message: string) => void;
  /** Called every now and then with what has been done so far. Signals are heard while it is waited for. */
  progress: (progress: Progress) => void | Promise<void>;
  /** Ends an import between two steps. */
  stop?: AbortSignal | undefined;
};

export type Progress = { step: "reading" | "comparing" | "writing"; done: number; total?: number; share: number };

/** Reports progress. Throws when the import is to end; `stored` is how many records it leaves. */
export async function advance({ progress, stop }: ImportContext, made: Progress, stored = 0): Promise<void> {
  await progress(made);
  if (!stop?.aborted) return;
  if (stored === 0) throw new Error("it was stopped before anything was stored");
  const [count, total] = [stored, made.total].map((number) => number?.toLocaleString("en-US"));
  throw new Error(`it was stopped after ${count} of ${total} records; the same command stores the rest`);
}

/** The summary, the commonest reasons for rejections where there were any, and the files that hold rejected records. */
export type Outcome = Summary & { reasons?: Reason[]; rejects: string[] };

type Lockable = Pick<ImportContext, "db" | "directory" | "notify">;

type Opened = { inputs: readonly OpenInput[]; staging: Staging; rejects: Rejects };

/**
 * Opens the files, takes the import lock, runs `work`, and keeps the rejects when it succeeded. Whatever happens, nothing stays open.
 * Standard input is read to its end first: whoever writes it should not have to wait for another import, and may give up.
 */
export async function withInputs(
  context: ImportContext,
  format: Pick<Format, "name" | "entry">,
  options: Options,
  work: (opened: Opened) => Promise<Summary>,
): Promise<Outcome> {
  const inputs: OpenInput[] = [];
  try {
    for (const file of options.files) inputs.push(await openInput(file, format, context.directory));
    return await withStaging(context, (staging) => workOn(inputs, staging, context, format, options, work));
  } finally {
    for (const input of inputs) input.close();
  }
}

async function workOn(
  inputs: readonly OpenInput[],
  staging: Staging,
  context: ImportContext,
  format: Pick<Format, "name" | "entry">,
  options: Options,
  work: (opened: Opened) => Promise<Summary>,
): Promise<Outcome> {
  const rejects = createRejects(options);
  await context.db.makeRoomForWrites();
  try {
    const summary = await work({ inputs, staging, rejects }).catch(async (error: unknown) => {
      throw await withHint(error, inputs, format);
    });
    if (summary.rejected > 0 && summary.rejected === summary.read)
      for (const input of inputs) await notifyOfLikeness(context, input, format);
    return { ...summary, ...(summary.rejected === 0 ? {} : { reasons: rejects.reasons() }), rejects: rejects.keep() };
  } finally {
    rejects.drop();
  }
}

/** An error about a file as a whole, with what the file looks like if that is something else. */
async function withHint(error: unknown, inputs: readonly OpenInput[], { name }: Pick<Format, "name">): Promise<unknown> {
  const input = inputs.find((each) => messageOf(error).startsWith(`Cannot import ${each.name}: `));
  const hint = input === undefined ? "" : await hintFor(input, name);
  return hint === "" ? error : new Error(messageOf(error) + hint, { cause: error });
}

async function notifyOfLikeness({ notify }: ImportContext, input: OpenInput, { name }: Pick<Format, "name">): Promise<void> {
  const hint = await hintFor(input, name);
  if (hint !== "") notify(`No record of ${input.name} could be taken${hint}`);
}

/** Runs `work` with an empty staging file while no other import writes to the catalog; waits at most `waitMs` for one that does. */
export async function withStaging<T>(context: Lockable, work: (staging: Staging) => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const release = await takeLock(context, waitMs);
  try {
    const staging = openStaging(context.directory);
    try {
      return await work(staging);
    } finally {
      staging.close();
    }
  } finally {
    await release();
  }
}

async function takeLock({ db, notify }: Lockable, waitMs: number): Promise<() => Promise<void>> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const release = await db.tryLock("import");
    if (release !== undefined) return release;
    if (waitedMs >= waitMs) throw new Error("another import is still writing to this catalog");
    if (waitedMs === 0) notify("Waiting for another import to finish");
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

/** Name, size and SHA-256 of each file as it was given. */
export async function digestsOf(inputs: readonly OpenInput[]): Promise<FileDigest[]> {
  return Promise.all(inputs.map(async (input) => ({ name: input.name, ...(await input.digest()) })));
}

/** How much of all files has been read, from 0 to 1. */
export function shareRead(inputs: readonly OpenInput[]): number {
  let [read, total] = [0, 0];
  for (const input of inputs) {
    const progress = input.progress();
    read += progress.read;
    total += progress.total;
  }
  return total === 0 ? 1 : Math.min(1, read / total);
}
