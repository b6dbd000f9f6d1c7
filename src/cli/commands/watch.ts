/** The commands of `fundfeed watch` that need no file of their own: list, show, check, remove, test, deliveries, resume. */

import type { WatchDb } from "../../../db/engine.ts";
import { Failure } from "../../../db/reason.ts";
import { describeFilter } from "../../filter/filter.ts";
import type { SearchFile } from "../../search/search-file.ts";
import { counted, withCommas } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { nextAttemptAt } from "../../watch/attempts.ts";
import { differenceOf, matchesAtEnd, matchingEach } from "../../watch/matching.ts";
import { countsInWords } from "../../watch/message.ts";
import { type Delivery, listDeliveries, watchStatusOf } from "../../watch/pending.ts";
import { countMatched, positionOf } from "../../watch/position.ts";
import { nextTime } from "../../watch/schedule.ts";
import { receiverName } from "../../watch/send.ts";
import { testMessage } from "../../watch/test-message.ts";
import { isOfMember, type PendingMessage, type Watch, type WatchDefinition, type WatchStatus } from "../../watch/watch.ts";
import { listMuted, listWatches, removeWatch, requireWatch, resume, resumeAt } from "../../watch/watches.ts";
import { type CliCommand, wholeNumber } from "../command.ts";
import { instantOrNull, table, withInstants } from "../output.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import { stopSignal } from "../stopping.ts";
import { withSending } from "../watch-mails.ts";
import { addWatchOptions, CHANGED_MEANWHILE, tellTrouble, type WatchOptions, withWatches } from "../watch-options.ts";

export function listCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command).action(async () => {
    await withWatches(command, "read", async (db) => {
      const watches = await shownEach(db, await listWatches(db));
      const rows = watches.map(({ watch, status }) => ({
        name: watch.name,
        owner: watch.owner ?? null,
        matching: status.matched,
        last_delivery: instantOrNull(status.delivered_at),
        remind: daysInShort(watch.definition) || null,
        every: watch.definition.every ?? null,
        state: stateOf(status),
        to: receiverName(watch.definition.receiver), // Last, because an address may be long.
      }));
      command.print(
        [...Map.groupBy(watches, ({ watch }) => watch.name).values()].map((ofOne) => watchJson(ofOne, command.machine.now())),
        table(rows, "No watches yet; fundfeed watch add makes one"),
      );
      for (const { watch, status } of watches) tellTrouble(command, watch.name, status);
    });
  });
}

export function showCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command)
    .argument("<name>", "name of the watch")
    .action(async (name: string) => {
      await withWatches(command, "read", async (db) => {
        const shown = await shownEach(db, await requireWatch(db, name));
        command.print(watchJson(shown, command.machine.now()), page(shown, command.machine.now()));
        for (const { watch, status } of shown) tellTrouble(command, watch.name, status);
      });
    });
}

export function checkCommand(command: CliCommand): CliCommand {
  const checking = addWatchOptions(command).argument("[name]", "only this watch");
  return addSearchOptions(checking).action(async (name: string | undefined) => {
    const now = command.machine.now();
    await withWatches(command, "read", async (db, catalog) => {
      const watches = name === undefined ? await listWatches(db) : await requireWatch(db, name);
      const definitions = watches.map(({ definition }) => definition);
      const matching = await withSearchIndex(command, catalog, (index) => matchingEach(catalog, index, definitions, now));
      const checked = await Promise.all(
        watches.map(async (watch, n) => {
          const known = [...((await positionOf(db, watch, now))?.matched ?? [])];
          return { watch, known: known.length, matching: matching[n]?.length ?? 0, ...differenceOf(known, matching[n] ?? []) };
        }),
      );
      const json = checked.map(({ watch, ...each }) => ({ name: watch.name, ...each, to: receiverName(watch.definition.receiver) }));
      const rows = json.map((each) => ({ ...each, joining: each.joining.length, leaving: each.leaving.length }));
      command.print(json, table(rows, "No watches yet; fundfeed watch add makes one"));
    });
  });
}

export function removeCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command)
    .argument("<name>", "name of the watch")
    .action(async (name: string) => {
      await withWatches(command, "create", async (db) => removeWatch(db, (await requireWatch(db, name))[0]));
      command.print({ name, removed: true }, `Removed watch ${name}`);
    });
}

export function testCommand(command: CliCommand): CliCommand {
  const testing = addWatchOptions(command).argument("<name>", "name of the watch");
  return addSearchOptions(testing).action(async (name: string, options: WatchOptions & SearchOptions) => {
    const { machine } = command;
    const stop = stopSignal(machine);
    await withWatches(command, "create", async (db, catalog) => {
      const watches = await requireWatch(db, name);
      const now = machine.now();
      const testEach = (index: SearchFile) =>
        Promise.all(watches.map((watch) => testMessage({ catalog, index, now }, watch, machine.randomBytes)));
      const messages = await withSearchIndex(command, catalog, testEach, stop);
      await withSending(command, watches, async (sending) => {
        for (const [n, message] of messages.entries()) {
          const watch = watches[n] ?? watches[0];
          const { receiver } = watch.definition;
          const sent = { id: message.id, body: JSON.stringify(message) };
          await (isOfMember(receiver) ? sending.sendToMember([{ watch, message: sent }], sent.id, stop) : sending.send(watch, sent, stop));
          if (!options.json) machine.printError(`${receiverName(receiver)} accepted a test message`);
        }
      });
      if (options.json && watches.every((watch) => watch.definition.receiver.to !== "stdout"))
        machine.printLine(JSON.stringify({ name, accepted: true }, null, 2));
    });
  });
}

export function deliveriesCommand(command: CliCommand): CliCommand {
  return addWatchOptions(command)
    .argument("[name]", "only of this watch")
    .option("--limit <n>", "the most messages to list", wholeNumber(1, 10_000), 50)
    .action(async (name: string | undefined, options: WatchOptions & { limit: number }) => {
      await withWatches(command, "read", async (db) => {
        const watches = name === undefined ? await listWatches(db) : await requireWatch(db, name);
        const waiting = await waitingOf(db, watches, command.machine.now());
        const accepted = await listDeliveries(db, name, options.limit);
        const listed = [...waiting, ...accepted.map(deliveryJson)].slice(0, options.limit);
        command.print(listed, table(listed.map(deliveryRow), "No messages yet"));
      });
    });
}

export function resumeCommand(command: CliCommand): CliCommand {
  const resuming = addWatchOptions(command)
    .argument("<name>", "name of the watch")
    .option("--at-end", "continue with what changes from now on, without the message on its way and without what has changed until now");
  return addSearchOptions(resuming).action(async (name: string, options: WatchOptions & SearchOptions & { atEnd?: true }) => {
    await withWatches(command, "create", async (db, catalog) => {
      const watches = await requireWatch(db, name);
      if (options.atEnd) {
        const now = command.machine.now();
        await withSearchIndex(command, catalog, async (index) => {
          const { matching, position } = await matchesAtEnd(catalog, index, watches[0].definition, now);
          for (const watch of watches)
            if (!(await resumeAt(db, watch, position, matching, now)))
              throw new Failure(`Cannot resume watch ${name}: ${CHANGED_MEANWHILE}`);
        });
      } else for (const watch of watches) await resume(db, watch);
    });
    const next = options.atEnd ? "it continues with what changes from now on" : "it continues where it was";
    command.print({ name, resumed: true }, `Resumed watch ${name}; ${next}`);
  });
}

type ShownWatch = Awaited<ReturnType<typeof shownEach>>[number];

function shownEach(db: WatchDb, watches: readonly Watch[]) {
  const statusOf = async (watch: Watch) => {
    const [status, matched] = [await watchStatusOf(db, watch), await countMatched(db, watch)];
    return { ...status, matched, muted: await listMuted(db, watch) };
  };
  return Promise.all(watches.map(async (watch) => ({ watch, status: await statusOf(watch) })));
}

function stateOf({ paused, pending }: Pick<WatchStatus, "paused" | "pending">): string {
  if (paused !== null) return "paused";
  return pending?.attempts.error ? "failing" : "ok";
}

function watchJson(receivers: readonly ShownWatch[], now: EpochMs) {
  const [first] = receivers;
  if (first === undefined) return null;
  const { name, created_at, definition, owner = null } = first.watch;
  const { receiver, ...others } = definition;
  return {
    name,
    owner,
    created_at: formatInstant(created_at),
    ...others,
    muted: first.status.muted.map(withInstants),
    next_messages: instantOrNull(nextMessages(definition, now)),
    receivers: receivers.map(receiverJson),
  };
}

function receiverJson({ watch, status }: ShownWatch) {
  const { matched, muted, checked_at, delivered_at, paused, pending, ...totals } = status;
  return {
    ...watch.definition.receiver,
    matching: matched,
    checked_at: formatInstant(checked_at),
    last_delivery: instantOrNull(delivered_at),
    state: stateOf({ paused, pending }),
    paused,
    ...totals,
    pending: pending && pendingJson(pending),
  };
}

/** When the schedule of a watch lets messages be made next; null without one. */
function nextMessages({ every, zone }: WatchDefinition, now: EpochMs): EpochMs | null {
  return every === undefined ? null : nextTime(every, zone, now);
}

function daysInShort({ remind = [] }: WatchDefinition): string {
  return remind.map((days) => `${days}d`).join(",");
}

function pendingJson({ id, created_at, oldest_at, attempts: { count, error } }: PendingMessage) {
  return withInstants({ id, created_at, oldest_at, attempts: count, error });
}

function page(receivers: readonly ShownWatch[], now: EpochMs): string {
  const [first] = receivers;
  if (first === undefined) return "";
  const { name, created_at, definition, owner = null } = first.watch;
  const { filter, at_least, types, every, note, zone, all_sources } = definition;
  const facts: [string, string | null][] = [
    ["name", name],
    ["owner", owner],
    ...describeFilter(filter, now).map((condition): [string, string] => ["filter", condition]),
    ["records", all_sources ? "every source's record" : null],
    ["changes", `${at_least} or more severe${types === undefined ? "" : `, of type ${types.join(", ")}`}`],
    ["reminders", daysInShort(definition) || null],
    ["every", every ?? null],
    ["next messages", instantOrNull(nextMessages(definition, now))],
    ["note", note ?? null],
    ["zone", zone],
    ...first.status.muted.map(({ id, muted_at }): [string, string] => ["muted", `${id} since ${formatInstant(muted_at)}`]),
    ["added", formatInstant(created_at)],
  ];
  return [facts, ...receivers.map((each) => receiverFacts(each, now))]
    .map((each) => each.flatMap(([label, value]) => (value === null ? [] : [label.padEnd(15) + value])).join("\n"))
    .join("\n\n");
}

function receiverFacts({ watch, status }: ShownWatch, now: EpochMs): [string, string | null][] {
  const { matched, delivered_at, delivered_total, failed_total, pending, paused } = status;
  return [
    ["to", receiverName(watch.definition.receiver)],
    ["matching", withCommas(matched)],
    ["delivered", `${counted(delivered_total, "message")}, the last one ${delivered_at === null ? "never" : formatInstant(delivered_at)}`],
    ["failed", counted(failed_total, "attempt")],
    ["on its way", pending === null ? null : `${pending.id}, ${counted(pending.attempts.count, "failed attempt")}`],
    ["next attempt", pending === null || paused !== null ? null : formatInstant(nextAttemptAt(pending.attempts, now))],
    ["state", stateOf(status)],
  ];
}

async function waitingOf(db: WatchDb, watches: readonly Watch[], now: EpochMs) {
  const statuses = await Promise.all(watches.map(async (watch) => ({ watch, ...(await watchStatusOf(db, watch)) })));
  return statuses.flatMap(({ watch, pending, paused }) => {
    if (pending === null) return [];
    const retry_at = paused === null ? formatInstant(nextAttemptAt(pending.attempts, now)) : null;
    const to = receiverName(watch.definition.receiver);
    return [{ ...pendingJson(pending), watch: watch.name, to, delivered_at: null, counts: pending.counts, retry_at }];
  });
}

function deliveryJson({ receiver, ...delivery }: Delivery) {
  return withInstants({ ...delivery, to: receiverName(receiver) });
}

function deliveryRow(listed: Awaited<ReturnType<typeof waitingOf>>[number] | ReturnType<typeof deliveryJson>) {
  const { id, watch, to, attempts, counts } = listed;
  const state = (waiting: { retry_at: string | null; error: string | null }) =>
    waiting.retry_at === null ? "paused" : waiting.error === null ? "planned" : "failing";
  return { delivered: listed.delivered_at ?? state(listed), watch, to, attempts, about: countsInWords(counts), id };
}
