/**
 * One run of the watches. Each delivers its messages one after the other, and independently of the others, so a receiver that fails or is
 * slow delays no other one.
 */
import type { CatalogDb } from "../../db/engine.ts";
import { Failure, messageOf } from "../../db/reason.ts";
import { LostPositionError } from "../events/feed.ts";
import { type Machine, randomFraction } from "../runtime/machine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { dueAt, FAILING_MAX_MS, failedOnce, isDue } from "./attempts.ts";
import { DeliveryError } from "./delivery-error.ts";
import { matchingIds } from "./matching.ts";
import type { Counts } from "./message.ts";
import { planNext } from "./plan.ts";
import type { Pending, Watch } from "./watch.ts";
import {
  accept,
  findWatch,
  listWatches,
  moveOn,
  pause,
  pendingOf,
  placeOf,
  progressOf,
  storeAttempts,
  storePlan,
  type WatchFile,
} from "./watch-file.ts";

/** Watches that deliver at the same time. */
const CONCURRENT = 8;

export type RunContext = {
  machine: Pick<Machine, "now" | "randomBytes" | "env">;
  catalog: CatalogDb;
  index: SearchFile;
  file: WatchFile;
  /** Sends a message. Throws a DeliveryError if the receiver did not accept it, or if `stop` cut it off. */
  send: (watch: Watch, message: Pick<Pending, "id" | "body">, stop: AbortSignal) => Promise<void>;
  /** Why the receiver of a watch cannot be used as this machine is set up; null if it can. */
  setupFault: (watch: Watch) => string | null;
  /** Once it is aborted, deliveries under way are cut off, and no further message is sent. */
  stop: AbortSignal;
  /** After so long, a watch leaves the rest to the next run, so that a slow receiver delays the next run of the others no further. */
  timeLimitMs?: number | undefined;
  /** The most items of a message. Tests set it low. */
  itemsMax?: number;
};

/** What a run did for a watch. */
export type Outcome = {
  watch: string;
  /** Accepted messages, and what they were about. */
  messages: number;
  counts: Counts;
  /** Why the last message was not accepted, and when it is sent again; null if the next run does that. */
  failure: { reason: string; retry_at: EpochMs | null } | null;
  /** Why the watch is paused. */
  paused: string | null;
};

/** Runs these watches, or all. Throws only if watch.db or the catalog fails, once no delivery is under way. */
export async function runWatches(context: RunContext, watches = listWatches(context.file)): Promise<Outcome[]> {
  const waiting = watches.map((watch, index) => ({ watch, index }));
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outcomes[next.index] = await runWatch(context, next.watch);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: CONCURRENT }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return outcomes;
}

async function runWatch(context: RunContext, watch: Watch): Promise<Outcome> {
  const outcome: Outcome = { watch: watch.name, messages: 0, counts: { new: 0, changed: 0, left: 0 }, failure: null, paused: null };
  const nextMessage = messagesOf(context, watch);
  const startedAt = performance.now(); // Not the machine's clock, which may be set.
  try {
    while (!context.stop.aborted) {
      const { paused } = progressOf(context.file, watch);
      if (paused !== null) return { ...outcome, paused };
      const fault = context.setupFault(watch);
      if (fault !== null) return { ...outcome, failure: { reason: fault, retry_at: null } };
      const pending = pendingOf(context.file, watch) ?? (await nextMessage());
      if (pending === undefined) return outcome;
      const failure = await deliver(context, watch, pending);
      if (failure !== null) return { ...outcome, failure, paused: progressOf(context.file, watch).paused };
      count(outcome, pending);
      if (performance.now() - startedAt >= (context.timeLimitMs ?? Number.POSITIVE_INFINITY)) return outcome;
    }
    return outcome;
  } catch (error) {
    if (!(error instanceof LostPositionError)) throw error;
    const paused = `its place in the feed is lost: a backup was restored, or this is another catalog; fundfeed watch resume ${watch.name} --at-end continues with what changes from now on`;
    pause(context.file, watch, paused);
    return { ...outcome, paused };
  }
}

function count(outcome: Outcome, { body }: Pending): void {
  const { counts } = (JSON.parse(body) as { data: { counts: Counts } }).data;
  outcome.messages++;
  for (const kind of ["new", "changed", "left"] as const) outcome.counts[kind] += counts[kind];
}

/** Plans and stores one message after the other. What matches is read once, before the feed. */
function messagesOf({ machine, catalog, index, file, itemsMax }: RunContext, watch: Watch): () => Promise<Pending | undefined> {
  let matching: readonly string[] | undefined;
  return async () => {
    const now = machine.now();
    const place = placeOf(file, watch);
    if (place === undefined) return undefined;
    matching ??= await matchingIds(catalog, index, watch.definition.filter, now);
    const plan = await planNext({ catalog, watch, place, matching, now, newId: () => newMessageId(machine), itemsMax });
    if ("nothingUntil" in plan) {
      moveOn(file, watch, plan.nothingUntil, now);
      return undefined;
    }
    return storePlan(file, watch, plan) ? pendingOf(file, watch) : undefined;
  };
}

/** Sends a message if it is due. Returns why it was not accepted, or null. */
async function deliver({ machine, file, send, stop }: RunContext, watch: Watch, pending: Pending): Promise<Outcome["failure"]> {
  const { attempts, id } = pending;
  const startedAt = machine.now();
  if (!isDue(attempts, startedAt)) return { reason: attempts.error ?? "", retry_at: dueAt(attempts, startedAt) };
  try {
    await send(watch, pending, stop);
  } catch (error) {
    if (stop.aborted) return { reason: messageOf(error), retry_at: null }; // The receiver has not failed.
    const failed = error instanceof DeliveryError ? error : new DeliveryError(messageOf(error));
    const after = failedOnce(attempts, startedAt, failed, () => randomFraction(machine));
    storeAttempts(file, id, after, pauseReason(failed, after.failing_ms));
    return { reason: failed.message, retry_at: dueAt(after, startedAt) };
  }
  accept(file, id, machine.now());
  return null;
}

function pauseReason({ message, isGone }: DeliveryError, failingMs: number): string | null {
  if (isGone) return message;
  return failingMs >= FAILING_MAX_MS ? `it has failed for three days: ${message}` : null;
}

/** Those of these watches that have a message to be sent again, unless they are paused. */
export function watchesToRetry(file: WatchFile, watches: readonly Watch[]): Watch[] {
  return watches.filter((watch) => retryAt(file, watch, 0) !== undefined);
}

/** When the earliest message of these watches that failed is due again; undefined if none failed. */
export function nextRetryAt(file: WatchFile, watches: readonly Watch[], now: EpochMs): EpochMs | undefined {
  const dues = watches.map((watch) => retryAt(file, watch, now)).filter((due) => due !== undefined);
  return dues.length === 0 ? undefined : Math.min(...dues);
}

function retryAt(file: WatchFile, watch: Watch, now: EpochMs): EpochMs | undefined {
  const { paused, pending } = progressOf(file, watch);
  return paused === null && pending !== null ? dueAt(pending.attempts, now) : undefined;
}

/** The watch of this name. Throws if there is none. */
export function requireWatch(file: WatchFile | undefined, name: string): Watch {
  const watch = file === undefined ? undefined : findWatch(file, name);
  if (watch === undefined) throw new Failure(`Cannot find a watch ${name}; fundfeed watch list shows the ones that exist`);
  return watch;
}

export function newMessageId({ randomBytes }: Pick<Machine, "randomBytes">): string {
  return `msg_${Buffer.from(randomBytes(16)).toString("hex")}`;
}
