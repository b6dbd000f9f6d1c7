/** One run of the watches, independent of each other: a slow receiver does not delay others. (E-51) */
import { createHash } from "node:crypto";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { messageOf } from "../../db/reason.ts";
import { LostPositionError } from "../events/feed.ts";
import { type Machine, randomFraction } from "../runtime/machine.ts";
import { deadlinesIn } from "../search/deadlines.ts";
import { groupsOf } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { DeliveryError, FAILING_MAX_MS, failedOnce, nextAttemptAt, REFUSED_MAX_MS } from "./attempts.ts";
import { matchingIds } from "./matching.ts";
import { type MessageCounts, NOTHING_COUNTED } from "./message.ts";
import { accept, joinInMail, pendingOf, storeAttempts, storePending, storeSetupFault, watchStatusOf } from "./pending.ts";
import { planNext } from "./plan.ts";
import { moveOn, positionOf } from "./position.ts";
import { isTime, nextTime } from "./schedule.ts";
import { receiverName } from "./send.ts";
import { isOfMember, type PendingMessage, type SentMessage, type Watch, type WatchDefinition, type WatchStatus } from "./watch.ts";
import { listWatches, pause } from "./watches.ts";

const CONCURRENT = 8;

export type RunContext = {
  machine: Pick<Machine, "now" | "randomBytes" | "env">;
  catalog: CatalogDb;
  index: SearchFile;
  db: WatchDb;
  send: (watch: Watch, message: SentMessage, stop: AbortSignal) => Promise<void>;
  /** Sends the messages of a member as one mail with this id, or one to its channel. Throws like `send`. */
  sendToMember: (parts: readonly { watch: Watch; message: SentMessage }[], id: string, stop: AbortSignal) => Promise<void>;
  setupFault: (watch: Watch) => string | null;
  blocked?: () => string | null;
  stop: AbortSignal;
  /** A watch then leaves the rest to the next run, so that a slow receiver does not delay others. */
  timeLimitMs?: number | undefined;
  itemsMax?: number;
};

export type WatchOutcome = {
  watch: string;
  to: string;
  messages: number;
  counts: MessageCounts;
  /** Null if the watch was compared with the catalog. */
  waits_until: EpochMs | null;
  /** Sent again by the next run if `retry_at` is null. `tried`: by this run. */
  failure: { reason: string; retry_at: EpochMs | null; tried: boolean } | null;
  paused: string | null;
};

/** Runs these watches, or all. Throws only if watch.db or the catalog fails, once no delivery is under way. */
export async function runWatches(context: RunContext, watches?: readonly Watch[]): Promise<WatchOutcome[]> {
  const all = watches ?? (await listWatches(context.db));
  // All watches of a member that go to the mailbox share one mail.
  const waiting = [...Map.groupBy(all, ({ owner, key, definition: { receiver } }) => (receiver.to === "member" && owner) || key).values()];
  const outcomes = new Map<Watch, WatchOutcome>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (const { watch, outcome } of await runTogether(context, next)) outcomes.set(watch, outcome);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: CONCURRENT }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return all.flatMap((watch) => outcomes.get(watch) ?? []);
}

type Running = { watch: Watch; outcome: WatchOutcome; matching?: readonly string[]; isDone: boolean };

type Part = { running: Running; pending: PendingMessage };

/** Runs one watch, or all of a member, whose messages become one mail: mail programs drop a second one with a known id. */
async function runTogether(context: RunContext, watches: readonly Watch[]): Promise<Running[]> {
  const all = watches.map((watch): Running => {
    const nothing = { messages: 0, counts: { ...NOTHING_COUNTED }, waits_until: null, failure: null, paused: null };
    return { watch, outcome: { watch: watch.name, to: receiverName(watch.definition.receiver), ...nothing }, isDone: false };
  });
  const startedAt = performance.now(); // Not the machine's clock, which may be set.
  do {
    const parts: Part[] = [];
    for (const running of all) {
      const pending = running.isDone || context.stop.aborted ? undefined : await pendingNow(context, running);
      running.isDone = pending === undefined;
      if (pending !== undefined) parts.push({ running, pending });
    }
    if (parts.length === 0) break;
    for (const together of Map.groupBy(parts, ({ pending }) => pending.mail).values()) await deliver(context, together);
  } while (performance.now() - startedAt < (context.timeLimitMs ?? Number.POSITIVE_INFINITY));
  return all;
}

async function pendingNow(context: RunContext, running: Running): Promise<PendingMessage | undefined> {
  const { db, setupFault } = context;
  const { watch, outcome } = running;
  try {
    const { paused } = await watchStatusOf(db, watch);
    outcome.paused = paused;
    if (paused !== null) return undefined;
    const blocked = context.blocked?.() ?? null;
    if (blocked !== null) {
      outcome.failure = { reason: blocked, retry_at: null, tried: false };
      return undefined;
    }
    const pending = (await pendingOf(db, watch)) ?? (await nextMessage(context, running));
    const fault = setupFault(watch);
    if (fault === null) return pending;
    if (pending !== undefined) await storeSetupFault(db, watch, pending.attempts, fault);
    outcome.failure = { reason: fault, retry_at: null, tried: false };
    return undefined;
  } catch (error) {
    if (!(error instanceof LostPositionError)) throw error;
    outcome.paused = `its position in the feed is lost: a backup was restored, or this is another catalog; fundfeed watch resume ${watch.name} --at-end continues with what changes from now on`;
    await pause(db, watch, outcome.paused);
    return undefined;
  }
}

async function nextMessage({ machine, catalog, index, db, itemsMax }: RunContext, running: Running): Promise<PendingMessage | undefined> {
  const { watch } = running;
  const now = machine.now();
  const position = await positionOf(db, watch, now);
  if (position === undefined) return undefined;
  const { every, zone, all_sources } = watch.definition;
  if (every !== undefined && !isTime(watch.definition, position.checked_at, now)) {
    running.outcome.waits_until = nextTime(every, zone, now);
    return undefined;
  }
  running.matching ??= await matchingIds(catalog, index, watch.definition, now);
  const next = await planNext({
    catalog,
    watch,
    position,
    matching: running.matching,
    groupsOf: (ids) => (all_sources ? new Map<string, string>() : groupsOf(index, ids)),
    dueUntil: (until) => deadlinesIn(index, {}, { since: now + 1, until }, now, { limit: -1, allSources: true }),
    now,
    newId: () => newMessageId(machine),
    itemsMax,
  });
  if ("nothingUntil" in next) {
    await moveOn(db, watch.key, next.nothingUntil, now);
    return undefined;
  }
  return (await storePending(db, watch, next)) ? pendingOf(db, watch) : undefined;
}

async function deliver(context: RunContext, parts: readonly Part[]): Promise<void> {
  const { machine, db, stop, send, sendToMember } = context;
  const startedAt = machine.now();
  const fail = (failed: readonly Part[], reasonOf: (part: Part) => WatchOutcome["failure"]) => {
    for (const part of failed) {
      part.running.isDone = true;
      part.running.outcome.failure = reasonOf(part);
    }
  };
  if (!parts.some(({ pending }) => nextAttemptAt(pending.attempts, startedAt) <= startedAt))
    return fail(parts, ({ pending: { attempts } }) => ({
      reason: attempts.error ?? "",
      retry_at: nextAttemptAt(attempts, startedAt),
      tried: false,
    }));
  const ids = parts.map(({ pending }) => pending.id);
  const mail = parts[0]?.pending.mail ?? mailIdOf(ids);
  if (parts.some(({ running, pending }) => pending.mail === null && isOfMember(running.watch.definition.receiver)))
    await joinInMail(db, ids, mail); // Outside the attempt, because an error in writing watch.db is not a failure of the receiver.
  try {
    const sent = parts.map(({ running, pending }) => ({ watch: running.watch, message: pending }));
    const [first] = sent;
    if (first !== undefined && !isOfMember(first.watch.definition.receiver)) await send(first.watch, first.message, stop);
    else await sendToMember(sent, mail, stop);
  } catch (error) {
    if (stop.aborted) return fail(parts, () => ({ reason: messageOf(error), retry_at: null, tried: true })); // The receiver has not failed.
    const failed = error instanceof DeliveryError ? error : new DeliveryError(oneLine(messageOf(error)).toWellFormed());
    for (const part of parts) {
      const after = failedOnce(part.pending.attempts, startedAt, failed, () => randomFraction(machine));
      await storeAttempts(db, part.pending.id, after, pauseReason(failed, after.failing_ms));
      fail([part], () => ({ reason: failed.message, retry_at: nextAttemptAt(after, startedAt), tried: true }));
      part.running.outcome.paused = (await watchStatusOf(db, part.running.watch)).paused;
    }
    return;
  }
  await accept(db, ids, mail, machine.now());
  for (const { running, pending } of parts) {
    running.outcome.messages++;
    for (const kind of ["new", "changed", "due", "left"] as const) running.outcome.counts[kind] += pending.counts[kind];
  }
}

function mailIdOf(ids: readonly string[]): string {
  const [first = ""] = ids;
  return ids.length === 1 ? first : `msg_${createHash("sha256").update(ids.toSorted().join()).digest("hex").slice(0, 32)}`;
}

function pauseReason({ message, isGone, isRefused }: DeliveryError, failingMs: number): string | null {
  if (isGone) return message;
  if (isRefused && failingMs >= REFUSED_MAX_MS) return `the address was refused for a day: ${message}`;
  return failingMs >= FAILING_MAX_MS ? `it has failed for three days: ${message}` : null;
}

/** When each watch has to retry a message, or is next scheduled. Watches with neither are left out. */
export async function nextTimes(db: WatchDb, watches: readonly Watch[], now: EpochMs): Promise<{ watch: Watch; at: EpochMs }[]> {
  const times = await Promise.all(
    watches.map(async (watch) => ({ watch, at: nextMessageAt(watch.definition, await watchStatusOf(db, watch), now) })),
  );
  return times.flatMap(({ watch, at }) => (at === undefined ? [] : [{ watch, at }]));
}

/** When a watch has to retry a message, or is next scheduled; undefined if neither. */
export function nextMessageAt(
  definition: WatchDefinition,
  { paused, pending, checked_at }: WatchStatus,
  now: EpochMs,
): EpochMs | undefined {
  const { every, zone } = definition;
  if (paused !== null) return undefined;
  if (pending !== null) return nextAttemptAt(pending.attempts, now);
  if (every === undefined) return undefined;
  return isTime(definition, checked_at, now) ? now : nextTime(every, zone, now);
}

export function newMessageId({ randomBytes }: Pick<Machine, "randomBytes">): string {
  return `msg_${Buffer.from(randomBytes(16)).toString("hex")}`;
}
