/** What matches is read before the feed: a change in between is reported, as it stays matched until a message says that it left. (E-51) */
import type { CatalogDb } from "../../db/engine.ts";
import { severities } from "../events/event.ts";
import { type FeedEntry, type FeedPosition, type OpportunityVersion, readFeed } from "../events/feed.ts";
import { type Due, dueOf } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import type { Deadline } from "../search/deadlines.ts";
import { type EpochMs, formatInstant, minuteOf, parseInstantMs } from "../text/instant.ts";
import {
  itemsUpTo,
  type Message,
  type MessageCounts,
  type MessageItem,
  type MessageRow,
  messageEvent,
  messageOpportunity,
  NOTHING_COUNTED,
  roomIn,
} from "./message.ts";
import type { PlannedMessage } from "./pending.ts";
import type { WatchPosition } from "./position.ts";
import { type Reminder, remindersAt } from "./schedule.ts";
import { changeTypes, isDigest, type Watch, type WatchDefinition } from "./watch.ts";

const ITEMS_MAX = 100;
const DIGEST_MAX = 50;
const REMINDERS_READ = 100;
/** Of the counts of a message, which are known after its items, and of their severities. */
const COUNTS_BYTES = 300;

type Collected = Omit<PlannedMessage, "id" | "created_at" | "body"> & { severities?: Record<string, number>; items: MessageItem[] };

type Contained = Pick<Collected, "counts" | "severities" | "items">;

type Planning = {
  catalog: CatalogDb;
  watch: Watch;
  position: WatchPosition;
  matching: readonly string[];
  /** A record that is missing here is a group of its own. */
  groupsOf: (ids: readonly string[]) => ReadonlyMap<string, string>;
  dueUntil: (until: EpochMs) => readonly Deadline[];
  now: EpochMs;
  newId: () => string;
  itemsMax?: number | undefined;
};

/** The next message, or the position in the feed to move on to if there is nothing to report. */
export async function planNext(planning: Planning): Promise<PlannedMessage | { nothingUntil: FeedPosition }> {
  const { watch, position, now, newId } = planning;
  const { filter, note, title } = watch.definition;
  const about = { watch: watch.name, ...(title !== undefined && { title }), ...(note !== undefined && { note }), filter };
  const muted = position.muted.size;
  const messageWith = (id: string, { counts, severities, items }: Contained): Message => ({
    id,
    type: "watch.changes",
    timestamp: formatInstant(now),
    data: { ...about, counts, ...(muted > 0 && { muted }), ...(severities !== undefined && { severities }), events: items },
  });
  const id = newId();
  const collect = isDigest(watch.definition) ? collectDigest : collectPage;
  const bytesMax = roomIn(messageWith(id, { counts: NOTHING_COUNTED, items: [] })) - COUNTS_BYTES;
  const collected = await collect(planning, bytesMax);
  const { items, severities, ...effects } = collected;
  if (Object.values(effects.counts).every((count) => count === 0)) return { nothingUntil: effects.feed };
  return { id, created_at: now, body: JSON.stringify(messageWith(id, collected)), ...effects };
}

/** A full page: what is new, changes and, if there is room, what is due and what no longer matches. The rest comes in the next message. */
async function collectPage(planning: Planning, bytesMax: number): Promise<Collected> {
  const { catalog, watch, position, now, itemsMax = ITEMS_MAX } = planning;
  const comparison = compared(planning);
  const { arrivals, gone, concerns } = comparison;
  const page = itemsUpTo(itemsMax, bytesMax);
  const addFirst = async (ids: readonly string[], item: (row: MessageRow) => MessageItem): Promise<string[]> => {
    const first = ids.slice(0, page.room());
    const found = await readMessageRows(catalog, first, now);
    const next = found[page.add(found.map(item))];
    return next === undefined ? first : first.slice(0, first.indexOf(next.opportunity.id));
  };

  const joining = await addFirst(arrivals, messageItemOf("new"));

  const changes = await readChanges({ catalog, watch, position, now }, concerns, page.room());
  const entries = changes.entries.slice(0, page.add(changes.entries.map(changedItem)));
  const last = entries.at(-1);
  const feed =
    entries.length === changes.entries.length ? changes.feed : last === undefined ? position.feed : { seq: last.seq, id: last.event.id };

  const reminders = await readReminders(planning, comparison, new Set(arrivals), page.room());
  const reminded = reminders.slice(0, page.add(reminders.map(dueItem)));

  const leaving = await addFirst(gone, messageItemOf("left"));
  return {
    counts: { new: joining.length, changed: entries.length, due: reminded.length, left: leaving.length },
    items: page.items,
    joining,
    leaving,
    reminding: [...sentAsNew(page.items, watch.definition, now), ...reminded.map(({ reminder }) => reminder)],
    feed,
    checked_at: position.checked_at, // Another page may follow.
    oldest_at: oldestOf(entries, position, now),
  };
}

/** By groups. Changes of opportunities in either set are reported. */
function compared({ position: { matched, reminded, muted }, matching, groupsOf }: Planning) {
  const groups = groupsOf([...matched, ...matching, ...reminded.map(({ id }) => id), ...muted]);
  const groupOf = (id: string) => groups.get(id) ?? id;
  const groupsIn = (ids: Iterable<string>) => new Set([...ids].map(groupOf));
  const [known, present, mutedGroups] = [groupsIn(matched), groupsIn(matching), groupsIn(muted)];
  const matches = new Set(matching);
  const isReported = (id: string) => !mutedGroups.has(groupOf(id));
  return {
    arrivals: matching.filter((id) => !known.has(groupOf(id)) && isReported(id)),
    gone: [...matched].filter((id) => !present.has(groupOf(id)) && isReported(id)),
    concerns: (id: string) => (matched.has(id) || matches.has(id)) && isReported(id),
    canBeDue: (id: string) => matches.has(id) && isReported(id),
    groupOf,
  };
}

type DueReminder = { row: MessageRow; reminder: Reminder; dueAt: string };

async function readReminders(
  { catalog, watch: { definition }, position, dueUntil, now }: Planning,
  { canBeDue, groupOf }: Pick<ReturnType<typeof compared>, "canBeDue" | "groupOf">,
  excluded: ReadonlySet<string>,
  limit: number,
): Promise<DueReminder[]> {
  if (definition.remind === undefined || limit === 0) return [];
  const { until, daysBefore } = remindersAt(definition, now);
  const given = new Map<string, number>();
  const nameOf = (id: string, due: EpochMs) => `${groupOf(id)} ${due}`;
  for (const { id, due, days } of position.reminded) given.set(nameOf(id, due), Math.min(days, given.get(nameOf(id, due)) ?? days));
  const isUnsent = ({ id, due, days }: Reminder) => days < (given.get(nameOf(id, due)) ?? Number.POSITIVE_INFINITY);
  const candidates = dueUntil(until).filter(({ id, due_at }) => {
    if (!canBeDue(id) || excluded.has(id)) return false;
    const days = daysBefore(due_at);
    return days !== undefined && isUnsent({ id, due: minuteOf(due_at), days });
  });
  const found: DueReminder[] = [];
  for (let at = 0; at < candidates.length && found.length < limit; at += REMINDERS_READ) {
    const ids = candidates.slice(at, at + REMINDERS_READ).map(({ id }) => id);
    for (const row of await readMessageRows(catalog, ids, now)) {
      const { due } = row;
      const reminder = reminderOf({ ...row.opportunity, due }, daysBefore, now);
      if (due.at !== null && reminder !== undefined && isUnsent(reminder) && found.length < limit)
        found.push({ row, reminder, dueAt: due.at });
    }
  }
  return found;
}

/** Items "new" show the due date already. */
function sentAsNew(items: readonly MessageItem[], definition: WatchDefinition, now: EpochMs): Reminder[] {
  if (definition.remind === undefined) return [];
  const { daysBefore } = remindersAt(definition, now);
  return items.flatMap(({ kind, opportunity }) => (kind === "new" ? (reminderOf(opportunity, daysBefore, now) ?? []) : []));
}

function reminderOf(
  { id, status, due: { kind, at } }: Pick<WholeOpportunity, "id" | "status"> & { due: Due },
  daysBefore: (due: EpochMs) => number | undefined,
  now: EpochMs,
): Reminder | undefined {
  const due = parseInstantMs(at);
  if (kind === "over" || due === undefined || due <= now || !unendedStatuses.includes(status)) return undefined;
  const days = daysBefore(due);
  return days === undefined ? undefined : { id, due: minuteOf(due), days };
}

/** The most severe changes, the newest arrivals and some departures, as far as there is room. */
async function collectDigest(planning: Planning, bytesMax: number): Promise<Collected> {
  const { catalog, watch, position, now } = planning;
  const comparison = compared(planning);
  const { arrivals: joining, gone: leaving, groupOf } = comparison;
  // What is new is shown as it is after these changes, because it is read later.
  const arriving = new Set(joining.map(groupOf));
  const concerns = (id: string) => comparison.concerns(id) && !arriving.has(groupOf(id));
  const bySeverity = new Map<string, { count: number; first: FeedEntry[] }>();
  const counts: MessageCounts = { new: joining.length, changed: 0, due: 0, left: leaving.length };
  let { feed } = position;
  let oldest_at = now;
  for (;;) {
    const step = { catalog, watch, position: { ...position, feed }, now };
    const page = await readChanges(step, concerns, ITEMS_MAX);
    for (const entry of page.entries) {
      const { count, first } = bySeverity.get(entry.event.severity) ?? { count: 0, first: [] };
      bySeverity.set(entry.event.severity, { count: count + 1, first: count < DIGEST_MAX ? [...first, entry] : first });
    }
    counts.changed += page.entries.length;
    oldest_at = Math.min(oldest_at, oldestOf(page.entries, position, now));
    feed = page.feed;
    if (page.entries.length < ITEMS_MAX) break;
  }
  const changes = severities.toReversed().flatMap((severity) => bySeverity.get(severity)?.first ?? []);
  const shown = changes.slice(0, DIGEST_MAX);
  const gone = new Set(leaving);
  const isShown = new Set(shown.map(({ opportunity }) => opportunity.id));
  const others = leaving.filter((id) => !isShown.has(id)).slice(0, DIGEST_MAX);
  const arrived = joining.slice(-DIGEST_MAX).reverse();
  const reminders = await readReminders(planning, comparison, new Set(arrived), Number.POSITIVE_INFINITY);
  counts.due = reminders.length;
  const { items, add } = itemsUpTo(Number.POSITIVE_INFINITY, bytesMax);
  add([
    ...shown.map((entry): MessageItem => ({ ...changedItem(entry), ...(gone.has(entry.opportunity.id) && { left: true }) })),
    ...reminders.slice(0, DIGEST_MAX).map(dueItem),
    ...(await readMessageRows(catalog, arrived, now)).map(messageItemOf("new")),
    ...(await readMessageRows(catalog, others, now)).map(messageItemOf("left")),
  ]);
  const counted = Object.fromEntries([...bySeverity].map(([severity, { count }]) => [severity, count]));
  const reminding = [...sentAsNew(items, watch.definition, now), ...reminders.map(({ reminder }) => reminder)];
  return { counts, severities: counted, items, joining, leaving, reminding, feed, checked_at: now, oldest_at };
}

/** `feed` is after the last event that was examined. */
async function readChanges(
  { catalog, watch, position, now }: Pick<Planning, "catalog" | "watch" | "position" | "now">,
  concerns: (id: string) => boolean,
  limit: number,
): Promise<{ entries: FeedEntry[]; feed: FeedPosition }> {
  const wanted = (opportunities: readonly OpportunityVersion[]) => opportunities.filter(({ id }) => concerns(id));
  const allSources = watch.definition.all_sources;
  const types = watch.definition.types ?? changeTypes;
  const filter = { filter: {}, allSources, wanted, types, atLeast: watch.definition.at_least };
  const entries: FeedEntry[] = [];
  let { feed } = position;
  while (entries.length < limit) {
    const page = await readFeed(catalog, feed, filter, now, limit - entries.length);
    entries.push(...page.entries);
    feed = page.position;
    if (page.atEnd) break;
  }
  return { entries, feed };
}

/** The item of an opportunity that matches now, or no longer does. */
export const messageItemOf =
  (kind: "new" | "left") =>
  (row: MessageRow): MessageItem => ({ kind, opportunity: messageOpportunity(row) });

function changedItem({ event, at, ...row }: FeedEntry) {
  return { kind: "changed" as const, event: messageEvent(event), at, opportunity: messageOpportunity(row) };
}

function dueItem({ row, reminder: { days }, dueAt }: DueReminder): MessageItem {
  return { kind: "due", due_at: dueAt, days, opportunity: messageOpportunity(row) };
}

/** The opportunities with these ids as messages need them, if they exist. */
export async function readMessageRows(catalog: CatalogDb, ids: readonly string[], now: EpochMs): Promise<MessageRow[]> {
  const [opportunities, duplicates] = [await readOpportunities(catalog, ids, now), await readDuplicates(catalog, ids, now)];
  return opportunities.map((opportunity) => {
    const others = duplicates.get(opportunity.id) ?? [];
    return { opportunity, duplicates: others, due: dueOf(opportunity, now, others) };
  });
}

/** Imported events may have old instants, but cannot have been stored before the last comparison. */
function oldestOf(entries: readonly FeedEntry[], { checked_at }: WatchPosition, now: EpochMs): EpochMs {
  const oldest = entries.reduce((least, { event }) => Math.min(least, parseInstantMs(event.detected_at) ?? now), now);
  return Math.max(oldest, Math.min(checked_at, now));
}
