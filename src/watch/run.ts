/**
 * One run of the watches. Each delivers its messages one after the other, and independently of the others, so a receiver that fails or is
 * slow delays no other one. (E-51)
 */
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { messageOf } from "../../db/reason.ts";
import { LostPositionError } from "../events/feed.ts";
import { type Machine, randomFraction } from "../runtime/machine.ts";
import { deadlinesIn } from "../search/deadlines.ts";
import { groupsOf } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { DeliveryError, FAILING_MAX_MS, failedOnce, maySend, nextAttemptAt } from "./attempts.ts";
import { matchingIds } from "./matching.ts";
import { type MessageCounts, NOTHING_COUNTED } from "./message.ts";
import { accept, pendingOf, storeAttempts, storePending, storeSetupFault, watchStatusOf } from "./pending.ts";
import { planNext } from "./plan.ts";
import { moveOn, positionOf } from "./position.ts";
import { isTime, nextTime } from "./schedule.ts";
import { receiverName } from "./send.ts";
import type { PendingMessage, SentMessage, Watch } from "./watch.ts";
import { listWatches, pause } from "./watches.ts";

/** Watches that deliver at the same time. */
const CONCURRENT = 8;

export type RunContext = {
  machine: Pick<Machine, "now" | "randomBytes" | "env">;
  catalog: CatalogDb;
  index: SearchFile;
  db: WatchDb;
  /** Sends a message. Throws a DeliveryError if the receiver did not accept it, or if `stop` cut it off. */
  send: (watch: Watch, message: SentMessage, stop: AbortSignal) => Promise<void>;
  /** Why the receiver of a watch cannot be used as this machine is set up; null if it can. */
  setupFault: (watch: Watch) => string | null;
  /** Once it is aborted, deliveries under way are cut off, and no further message is sent. */
  stop: AbortSignal;
  /** After this time a watch leaves the rest to the next run, so that a slow receiver does not delay the next run of the others. */
  timeLimitMs?: number | undefined;
  /** The most items of a message. Tests set it low. */
  itemsMax?: number;
};

/** What a run did for a watch. */
export type WatchOutcome = {
  watch: string;
  /** The receiver in words. */
  to: string;
  /** Accepted messages, and what they were about. */
  messages: number;
  counts: MessageCounts;
  /** When its schedule lets messages be made next; null if the watch was compared with the catalog. */
  waits_until: EpochMs | null;
  /** Why the last message was not accepted, when it is sent again (null if the next run does that), and whether this run has tried. */
  failure: { reason: string; retry_at: EpochMs | null; tried: boolean } | null;
  /** Why the watch is paused; null if it is not. */
  paused: string | null;
};

/** Runs these watches, or all. Throws only if watch.db or the catalog fails, once no delivery is under way. */
export async function runWatches(context: RunContext, watches?: readonly Watch[]): Promise<WatchOutcome[]> {
  const waiting = (watches ?? (await listWatches(context.db))).map((watch, index) => ({ watch, index }));
  const outcomes: WatchOutcome[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      outcomes[next.index] = await runWatch(context, next.watch);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: CONCURRENT }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return outcomes;
}

async function runWatch(context: RunContext, watch: Watch): Promise<WatchOutcome> {
  const counts = { ...NOTHING_COUNTED };
  const outcome: WatchOutcome = {
    watch: watch.name,
    to: receiverName(watch.definition.receiver),
    messages: 0,
    counts,
    waits_until: null,
    failure: null,
    paused: null,
  };
  const nextMessage = messagesOf(context, watch, (at) => {
    outcome.waits_until = at;
  });
  const startedAt = performance.now(); // Not the machine's clock, which may be set.
  try {
    while (!context.stop.aborted) {
      const { paused } = await watchStatusOf(context.db, watch);
      if (paused !== null) return { ...outcome, paused };
      const pending = (await pendingOf(context.db, watch)) ?? (await nextMessage());
      const fault = context.setupFault(watch);
      if (fault !== null) {
        if (pending !== undefined) await storeSetupFault(context.db, watch, pending.attempts, fault);
        return { ...outcome, failure: { reason: fault, retry_at: null, tried: false } };
      }
      if (pending === undefined) return outcome;
      const failure = await deliver(context, watch, pending);
      if (failure !== null) return { ...outcome, failure, paused: (await watchStatusOf(context.db, watch)).paused };
      outcome.messages++;
      for (const kind of ["new", "changed", "due", "left"] as const) outcome.counts[kind] += pending.counts[kind];
      if (performance.now() - startedAt >= (context.timeLimitMs ?? Number.POSITIVE_INFINITY)) return outcome;
    }
    return outcome;
  } catch (error) {
    if (!(error instanceof LostPositionError)) throw error;
    const paused = `its position in the feed is lost: a backup was restored, or this is another catalog; fundfeed watch resume ${watch.name} --at-end continues with what changes from now on`;
    await pause(context.db, watch, paused);
    return { ...outcome, paused };
  }
}

const EVERY_RECORD = { limit: -1, allSources: true };

/** Plans and stores one message after the other, until there is none or the schedule has its time later. What matches is read once, before the feed. */
function messagesOf(
  { machine, catalog, index, db, itemsMax }: RunContext,
  watch: Watch,
  onWait: (until: EpochMs) => void,
): () => Promise<PendingMessage | undefined> {
  let matching: readonly string[] | undefined;
  return async () => {
    const now = machine.now();
    const position = await positionOf(db, watch, now);
    if (position === undefined) return undefined;
    const { every, zone } = watch.definition;
    if (every !== undefined && !isTime(watch.definition, position.checked_at, now)) {
      onWait(nextTime(every, zone, now));
      return undefined;
    }
    matching ??= await matchingIds(catalog, index, watch.definition, now);
    const groupsOfIds = (ids: readonly string[]) => (watch.definition.all_sources ? new Map<string, string>() : groupsOf(index, ids));
    const next = await planNext({
      catalog,
      watch,
      position,
      matching,
      groupsOf: groupsOfIds,
      dueUntil: (until) => deadlinesIn(index, {}, { since: now + 1, until }, now, EVERY_RECORD),
      now,
      newId: () => newMessageId(machine),
      itemsMax,
    });
    if ("nothingUntil" in next) {
      await moveOn(db, watch.key, next.nothingUntil, now);
      return undefined;
    }
    return (await storePending(db, watch, next)) ? pendingOf(db, watch) : undefined;
  };
}

/** Sends a message if its next attempt may begin. Returns why it was not accepted, or null. */
async function deliver({ machine, db, send, stop }: RunContext, watch: Watch, pending: PendingMessage): Promise<WatchOutcome["failure"]> {
  const { attempts, id } = pending;
  const startedAt = machine.now();
  if (!maySend(attempts, startedAt)) return { reason: attempts.error ?? "", retry_at: nextAttemptAt(attempts, startedAt), tried: false };
  try {
    await send(watch, pending, stop);
  } catch (error) {
    if (stop.aborted) return { reason: messageOf(error), retry_at: null, tried: true }; // The receiver has not failed.
    const failed = error instanceof DeliveryError ? error : new DeliveryError(oneLine(messageOf(error)).toWellFormed());
    const after = failedOnce(attempts, startedAt, failed, () => randomFraction(machine));
    await storeAttempts(db, id, after, pauseReason(failed, after.failing_ms));
    return { reason: failed.message, retry_at: nextAttemptAt(after, startedAt), tried: true };
  }
  await accept(db, id, machine.now());
  return null;
}

function pauseReason({ message, isGone }: DeliveryError, failingMs: number): string | null {
  if (isGone) return message;
  return failingMs >= FAILING_MAX_MS ? `it has failed for three days: ${message}` : null;
}

/** When each watch has to send a message again, or makes messages by its schedule; those with neither are left out. */
export async function nextTimes(db: WatchDb, watches: readonly Watch[], now: EpochMs): Promise<{ watch: Watch; at: EpochMs }[]> {
  const statuses = await Promise.all(watches.map(async (watch) => ({ watch, ...(await watchStatusOf(db, watch)) })));
  return statuses.flatMap(({ watch, paused, pending, checked_at }) => {
    if (paused !== null) return [];
    if (pending !== null) return [{ watch, at: nextAttemptAt(pending.attempts, now) }];
    const { every, zone } = watch.definition;
    if (every === undefined) return [];
    return [{ watch, at: isTime(watch.definition, checked_at, now) ? now : nextTime(every, zone, now) }];
  });
}

export function newMessageId({ randomBytes }: Pick<Machine, "randomBytes">): string {
  return `msg_${Buffer.from(randomBytes(16)).toString("hex")}`;
}
