/**
 * Plans the next message of a watch: what matches now and did not before, what has changed since its position in the feed, and what no longer
 * matches.
 *
 * The opportunities that match are read before the feed. A change stored between the two reads is still reported, because an opportunity
 * stays a member until a message says that it left. (E-50)
 */
import type { CatalogDb } from "../../db/engine.ts";
import { eventTypes, severities } from "../events/event.ts";
import { type FeedEntry, type FeedPosition, type OpportunityVersion, readFeed } from "../events/feed.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readTwins } from "../opportunities/related.ts";
import { type EpochMs, formatInstant, parseInstantMs } from "../text/instant.ts";
import { itemsUpTo, type Message, type MessageCounts, type MessageItem, messageEvent, messageOpportunity, roomIn } from "./message.ts";
import type { PlannedMessage } from "./pending.ts";
import type { WatchPosition } from "./position.ts";
import { isDigest, type Watch } from "./watch.ts";

const ITEMS_MAX = 100;
/** The most items of each kind that a digest has. It counts the others. */
const DIGEST_MAX = 50;

/** The types of events that are reported as changes. That an opportunity was added is what the item "new" says. */
const CHANGES = eventTypes.filter((type) => type !== "opportunity_added");

/** What the next message is made of. */
type Collected = {
  counts: MessageCounts;
  severities?: Record<string, number>;
  items: MessageItem[];
  joining: string[];
  leaving: string[];
  feed: FeedPosition;
  oldestAt: EpochMs;
};

type Contained = Pick<Collected, "counts" | "severities" | "items">;

type Planning = {
  catalog: CatalogDb;
  watch: Watch;
  position: WatchPosition;
  /** The ids of the opportunities that match, read before this call. */
  matching: readonly string[];
  /** The groups of records by id. A record that is left out is alone in its group. */
  groupsOf: (ids: readonly string[]) => ReadonlyMap<string, string>;
  now: EpochMs;
  newId: () => string;
  /** The most items of a message. */
  itemsMax?: number | undefined;
};

/** The next message, or the position in the feed to move on to if there is nothing to report. */
export async function planNext(planning: Planning): Promise<PlannedMessage | { nothingUntil: FeedPosition }> {
  const { watch, now, newId } = planning;
  const { filter } = watch.definition;
  const messageWith = (id: string, { counts, severities, items }: Contained): Message => ({
    id,
    type: "watch.changes",
    timestamp: formatInstant(now),
    data: { watch: watch.name, filter, counts, ...(severities !== undefined && { severities }), events: items },
  });
  const id = newId();
  const collect = isDigest(watch.definition) ? collectDigest : collectPage;
  const bytesMax = roomIn(messageWith(id, { counts: COUNTS_MAX, severities: SEVERITIES_MAX, items: [] }));
  const collected = await collect(planning, bytesMax);
  const { counts, joining, leaving, feed, oldestAt } = collected;
  if (counts.new + counts.changed + counts.left === 0) return { nothingUntil: feed };
  const body = JSON.stringify(messageWith(id, collected));
  return { id, created_at: now, oldest_at: oldestAt, body, counts, feed, joining, leaving };
}

/** Counts with the most digits, to measure the bytes of a message before its counts are known. */
const COUNTS_MAX: MessageCounts = { new: 1e9, changed: 1e9, left: 1e9 };
const SEVERITIES_MAX = Object.fromEntries(severities.map((severity) => [severity, 1e9]));

/**
 * A full page: first what is new, then the changes in the order of the feed, and if there is room after the last change, what has left. What
 * there is no room for comes in the next message.
 */
async function collectPage(
  { catalog, watch, position, matching, groupsOf, now, itemsMax = ITEMS_MAX }: Planning,
  bytesMax: number,
): Promise<Collected> {
  const { arrivals, gone, concerns } = compared(position, matching, groupsOf);
  const page = itemsUpTo(itemsMax, bytesMax);
  /** Adds the opportunities of the first of these ids. Returns those ids. */
  const addFirst = async (ids: readonly string[], item: (row: Row) => MessageItem): Promise<string[]> => {
    const first = ids.slice(0, page.room());
    const found = await readItems(catalog, first, now);
    const next = found[page.add(found.map(item))];
    return next === undefined ? first : first.slice(0, first.indexOf(next.opportunity.id));
  };

  const joining = await addFirst(arrivals, newItem);

  const changes = await readChanges({ catalog, watch, position, now }, concerns, page.room());
  const entries = changes.entries.slice(0, page.add(changes.entries.map(changedItem)));
  const feed = entries.length === changes.entries.length ? changes.feed : feedAfter(entries, position);

  const leaving = await addFirst(gone, leftItem);
  return {
    counts: { new: joining.length, changed: entries.length, left: leaving.length },
    items: page.items,
    joining,
    leaving,
    feed,
    oldestAt: oldestOf(entries, position, now),
  };
}

/** What matches now, compared with what matched before, by groups. Changes of opportunities in either concern the watch. */
function compared({ members }: WatchPosition, matching: readonly string[], groupsOf: Planning["groupsOf"]) {
  const groups = groupsOf([...members, ...matching]);
  const groupOf = (id: string) => groups.get(id) ?? id;
  const [known, present] = [members, matching].map((ids) => new Set([...ids].map(groupOf))) as [Set<string>, Set<string>];
  const matches = new Set(matching);
  return {
    arrivals: matching.filter((id) => !known.has(groupOf(id))),
    gone: [...members].filter((id) => !present.has(groupOf(id))),
    concerns: (id: string) => members.has(id) || matches.has(id),
  };
}

function feedAfter(entries: readonly FeedEntry[], { feed }: WatchPosition): FeedPosition {
  const last = entries.at(-1);
  return last === undefined ? feed : { seq: last.seq, id: last.event.id };
}

/** Everything there is to report. The items are the most severe changes, the newest arrivals and some of what has left, as far as there is room. */
async function collectDigest({ catalog, watch, position, matching, groupsOf, now }: Planning, bytesMax: number): Promise<Collected> {
  const { arrivals: joining, gone: leaving, concerns } = compared(position, matching, groupsOf);
  const bySeverity = new Map<string, { count: number; first: FeedEntry[] }>();
  const counts: MessageCounts = { new: joining.length, changed: 0, left: leaving.length };
  let { feed } = position;
  let oldestAt = now;
  for (;;) {
    const step = { catalog, watch, position: { ...position, feed }, now };
    const page = await readChanges(step, concerns, ITEMS_MAX);
    for (const entry of page.entries) {
      const { count, first } = bySeverity.get(entry.event.severity) ?? { count: 0, first: [] };
      bySeverity.set(entry.event.severity, { count: count + 1, first: count < DIGEST_MAX ? [...first, entry] : first });
    }
    counts.changed += page.entries.length;
    oldestAt = Math.min(oldestAt, oldestOf(page.entries, position, now));
    feed = page.feed;
    if (page.entries.length < ITEMS_MAX) break;
  }
  const changes = severities.toReversed().flatMap((severity) => bySeverity.get(severity)?.first ?? []);
  const shown = changes.slice(0, DIGEST_MAX);
  const gone = new Set(leaving);
  const isShown = new Set(shown.map(({ opportunity }) => opportunity.id));
  const others = leaving.filter((id) => !isShown.has(id)).slice(0, DIGEST_MAX);
  const { items, add } = itemsUpTo(Number.POSITIVE_INFINITY, bytesMax);
  add([
    ...shown.map((entry): MessageItem => ({ ...changedItem(entry), ...(gone.has(entry.opportunity.id) && { left: true }) })),
    ...(await readItems(catalog, joining.slice(-DIGEST_MAX).reverse(), now)).map(newItem),
    ...(await readItems(catalog, others, now)).map(leftItem),
  ]);
  const counted = Object.fromEntries([...bySeverity].map(([severity, { count }]) => [severity, count]));
  return { counts, severities: counted, items, joining, leaving, feed, oldestAt };
}

/** The next changes of some opportunities, at most `limit`, and the position after the last one that was examined. */
async function readChanges(
  { catalog, watch, position, now }: Pick<Planning, "catalog" | "watch" | "position" | "now">,
  concerns: (id: string) => boolean,
  limit: number,
): Promise<{ entries: FeedEntry[]; feed: FeedPosition }> {
  const wanted = (opportunities: readonly OpportunityVersion[]) => opportunities.filter(({ id }) => concerns(id));
  const allSources = watch.definition.all_sources;
  const filter = { filter: {}, allSources, wanted, types: CHANGES, atLeast: watch.definition.at_least };
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

function newItem({ opportunity, twins }: Row): MessageItem {
  return { kind: "new", opportunity: messageOpportunity(opportunity, twins) };
}

function changedItem({ event, opportunity, twins, at }: FeedEntry) {
  return { kind: "changed" as const, event: messageEvent(event), at, opportunity: messageOpportunity(opportunity, twins) };
}

function leftItem({ opportunity, twins }: Row): MessageItem {
  return { kind: "left", opportunity: messageOpportunity(opportunity, twins) };
}

/** A row, and the other records of the opportunity. */
type Row = { opportunity: WholeOpportunity; twins: readonly WholeOpportunity[] };

async function readItems(catalog: CatalogDb, ids: readonly string[], now: EpochMs): Promise<Row[]> {
  const [opportunities, twins] = [await readOpportunities(catalog, ids, now), await readTwins(catalog, ids, now)];
  return opportunities.map((opportunity) => ({ opportunity, twins: twins.get(opportunity.id) ?? [] }));
}

/** When the oldest change was stored. Imported events have instants of long ago, but cannot have been stored before the last comparison. */
function oldestOf(entries: readonly FeedEntry[], { checked_at }: WatchPosition, now: EpochMs): EpochMs {
  const oldest = entries.reduce((least, { event }) => Math.min(least, parseInstantMs(event.detected_at) ?? now), now);
  return Math.max(oldest, Math.min(checked_at, now));
}
