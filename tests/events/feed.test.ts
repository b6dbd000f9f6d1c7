/** The feed and its windows compared with a model that looks through all stored events, on both engines. */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { readEntries } from "../../src/browse/change-list.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { eventTypes, type Severity, severities } from "../../src/events/event.ts";
import {
  type FeedEntry,
  type FeedFilter,
  type FeedPage,
  type FeedPosition,
  LostPositionError,
  latestPosition,
  readFeed,
  readWindow,
  type WindowPosition,
  windowOrders,
} from "../../src/events/feed.ts";
import { type Filter, matches } from "../../src/filter/filter.ts";
import { shownAt } from "../../src/opportunities/clock.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import { wholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, DAY, dropScratch, NOON, SECOND, type TestCatalog } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const SEED = Number(process.env.FUNDFEED_SEED ?? 20261122);
const RECORDS = 90;
const STEPS = 24;
/** FUNDFEED_QUESTIONS=300 for a thorough run. */
const QUESTIONS = Number(process.env.FUNDFEED_QUESTIONS ?? 12);

type Random = (below: number) => number;
const oneOf = <T>(random: Random, values: readonly T[]) => values[random(values.length)] as T;
const sourceOf = (n: number) => ({ code: ["A", "B", "C"][n % 3] ?? "A", opportunity_id: `N${n}` });

function aRecord(random: Random, n: number) {
  return {
    source: sourceOf(n),
    title: `Title ${n} ${random(3)}`,
    dates: { closes_at: formatInstant(NOON + (random(60) - 10) * DAY) },
    funding: random(2) ? null : { amount_max: String(1000 * (1 + random(5))) },
    organization: { agency: oneOf(random, ["Navy", "Army", null]) },
    contacts: random(3) ? [] : [{ name: `Person ${random(5)}` }],
  };
}

function anOldEvent(random: Random, n: number) {
  return {
    source: sourceOf(random(RECORDS)),
    type: oneOf(random, [...eventTypes, "merged"]),
    severity: oneOf(random, [...severities, "grave"]),
    summary: `Old ${n} ${random(1e9)}`,
    changed_fields: [],
    changes: [],
    detected_at: formatInstant(NOON - random(400) * DAY),
  };
}

/** One of everything that stores events. Imports give some a time long ago, and some the same time. */
async function step({ db, clock, take, takeEvents }: TestCatalog, random: Random): Promise<void> {
  clock.now += random(3) * DAY + SECOND;
  const records = Array.from({ length: 40 }, () => aRecord(random, random(RECORDS)));
  const kind = random(6);
  if (kind === 0) await takeEvents(Array.from({ length: 30 }, (_, n) => anOldEvent(random, n)));
  else if (kind === 1) await turnStatuses(db, clock.now);
  else if (kind === 2) await redactStored(db, ["A"], clock.now);
  else if (kind === 3) await take(records, { asOf: clock.now + DAY });
  else await take(records);
}

async function allRows(db: CatalogDb, now: number): Promise<FeedEntry[]> {
  const rows = await db.all(
    rawSql<{ seq: number; event: Uint8Array } & Parameters<typeof shownAt>[0]>(
      `select events.seq, events.document as event, opportunities.document, sidecar, status_basis, turns_at
       from events join opportunities on opportunities.seq = opportunity_seq order by events.seq`,
    ),
  );
  return rows.map(({ seq, event, ...stored }) => {
    const opportunity = wholeOpportunity(shownAt({ ...stored, turns_at: stored.turns_at && Number(stored.turns_at) }, now));
    return {
      seq,
      event: JSON.parse(Buffer.from(event).toString()),
      opportunity,
      due: dueOf(opportunity, now, []),
      duplicates: [],
      at: null,
    };
  });
}

function aFeedFilter(random: Random, lastInstant: number): FeedFilter {
  const time = () => (random(3) ? undefined : random(2) ? lastInstant - random(500) * DAY : NOON - random(400) * DAY);
  const filters: Filter[] = [{}, { source: ["B"] }, { status: ["open"] }, { agency: ["navy"], min_amount: "2000" }, { source: ["C"] }];
  return {
    filter: oneOf(random, filters),
    wanted: random(3) ? undefined : (opportunities) => opportunities.filter(({ id }) => id > "8"),
    types: random(2) ? undefined : [oneOf(random, eventTypes), "date_changed"],
    atLeast: random(2) ? undefined : oneOf(random, severities),
    since: time(),
    until: time(),
  };
}

function isWanted({ event, opportunity }: FeedEntry, { filter, wanted, types, atLeast, since, until }: FeedFilter, now: number): boolean {
  const at = Date.parse(event.detected_at);
  const rank = severities.indexOf(event.severity as Severity);
  return (
    (since === undefined || at > since) &&
    (until === undefined || at <= until) &&
    (types === undefined || types.includes(event.type)) &&
    (atLeast === undefined || rank >= severities.indexOf(atLeast)) &&
    (wanted === undefined || wanted([{ seq: 0, id: opportunity.id, stored_at: 0 }]).length > 0) &&
    matches(filter, opportunity, now)
  );
}

/** Reads all pages. No page has more than its limit. */
async function readAll<Position>(
  start: Position,
  read: (after: Position, limit: number) => Promise<FeedPage<Position>>,
  limit: () => number,
): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (let after = start; ; ) {
    const most = limit();
    const page = await read(after, most);
    expect(page.entries.length).toBeLessThanOrEqual(most);
    entries.push(...page.entries);
    if (page.atEnd) return entries;
    expect(page.position).not.toEqual(after);
    after = page.position;
  }
}

const seqsOf = (rows: readonly { seq: number }[]) => rows.map(({ seq }) => seq);

describe.each(engines)("on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("a reader that follows the feed between imports gets every event exactly once", async () => {
    const random = randomIntegers(SEED);
    const catalog = await aCatalog(await emptyCatalog());
    const { db } = catalog;
    const filters: FeedFilter[] = [{ filter: {} }, { filter: { source: ["B"] } }, { filter: {}, types: ["date_changed"] }];
    const readers = filters.map((filter) => ({ filter, position: null as FeedPosition, seen: [] as FeedEntry[] }));
    for (let n = 0; n < STEPS; n++) {
      await step(catalog, random);
      for (const reader of readers) {
        if (random(3) === 0) continue; // It will catch up later.
        const { entries, position } = await readFeed(db, reader.position, reader.filter, catalog.clock.now, 1 + random(200));
        reader.seen.push(...entries);
        reader.position = position;
      }
    }
    const rows = await allRows(db, catalog.clock.now);
    expect(rows.length).toBeGreaterThan(1000); // More than one call examines.
    for (const { filter, position, seen } of readers) {
      const rest = await readAll(
        position,
        (after, limit) => readFeed(db, after, filter, NOON, limit),
        () => 1 + random(300),
      );
      expect(seqsOf([...seen, ...rest])).toEqual(seqsOf(rows.filter((row) => isWanted(row, filter, NOON))));
    }
    expect(await latestPosition(db)).toEqual({ seq: rows.at(-1)?.seq ?? 0, id: rows.at(-1)?.event.id ?? "" });

    for (let n = 0; n < QUESTIONS; n++) {
      const at = Date.parse(oneOf(random, rows).event.detected_at);
      const edges = [
        { filter: {}, since: at },
        { filter: {}, until: at },
      ];
      const filter: FeedFilter = edges[n % 4] ?? aFeedFilter(random, catalog.clock.now);
      const wanted = rows.filter((row) => isWanted(row, filter, catalog.clock.now));
      const limit = () => 1 + random(random(2) ? 50 : 2000);

      const start = random(3) ? rows[random(rows.length)] : undefined;
      const position = start === undefined ? null : { seq: start.seq, id: start.event.id };
      const fed = await readAll(position as FeedPosition, (after, most) => readFeed(db, after, filter, catalog.clock.now, most), limit);
      expect({ n, entries: fed }).toEqual({ n, entries: wanted.filter(({ seq }) => seq > (start?.seq ?? 0)) });

      const order = oneOf(random, windowOrders);
      const within = await readAll(
        null as WindowPosition,
        (after, most) => readWindow(db, after, filter, catalog.clock.now, most, order),
        limit,
      );
      const sorted = wanted.toSorted((left, right) => {
        return Date.parse(left.event.detected_at) - Date.parse(right.event.detected_at) || left.seq - right.seq;
      });
      expect({ n, entries: within }).toEqual({ n, entries: order === "oldest" ? sorted : sorted.toReversed() });
    }
  });

  test.if(isThere)("a position is refused after a restore, and by another catalog", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    await take([aRecord(randomIntegers(1), 1)]);
    const restored = await emptyCatalog();
    await copyCatalog(db, restored);
    clock.now += SECOND;
    await take([aRecord(randomIntegers(1), 2)]);
    const { position } = await readFeed(db, null, { filter: {} }, NOON, 10);
    const continued = () => readFeed(restored, position, { filter: {} }, NOON, 10);
    expect(continued()).rejects.toThrow(LostPositionError);
    const later = await aCatalog(restored);
    later.clock.now += DAY;
    await later.take([aRecord(randomIntegers(1), 2)]); // The same record with the same row number, at another instant.
    expect(continued()).rejects.toThrow("a backup was restored, or this is another catalog. Start without a position");
  });
});

test("a page of long opportunities ends at 4 MiB, and the next one goes on after it", async () => {
  const { db, take, clock } = await aCatalog();
  await take(Array.from({ length: 12 }, (_, n) => ({ source: sourceOf(n), title: `Title ${n}`, description: "x".repeat(1_000_000) })));
  const pages: FeedPage<FeedPosition>[] = [];
  for (let position: FeedPosition = null; pages.at(-1)?.atEnd !== true; ) {
    const page: FeedPage<FeedPosition> = await readFeed(db, position, { filter: {} }, clock.now, 100);
    pages.push(page);
    position = page.position;
  }
  expect(pages.map(({ entries, isFull }) => [entries.length, isFull])).toEqual([
    [5, true],
    [5, true],
    [2, false],
  ]);
  expect(new Set(pages.flatMap(({ entries }) => entries.map(({ event }) => event.id))).size).toBe(12);

  const first = await readEntries(db, { filter: {} }, undefined, { limit: 100, reads: 30 }, clock.now);
  expect(first.entries).toHaveLength(5);
  expect((await readEntries(db, { filter: {} }, first.next, { limit: 100, reads: 30 }, clock.now)).entries).toHaveLength(5);
  await db.close();
});
