/**
 * Reminders are sent exactly as promised: over random clocks, imports, outages and kills, the receiver gets one for each due date that it has to
 * know, none twice but in a message with the same id and content, none early and none of what is closed.
 *
 * A model that computes with the dates that `Intl` writes says which ones.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openWatchFile } from "../../db/sqlite/open.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { DeliveryError } from "../../src/watch/attempts.ts";
import type { Message } from "../../src/watch/message.ts";
import { pendingOf } from "../../src/watch/pending.ts";
import { runWatches } from "../../src/watch/run.ts";
import type { Watch, WatchDefinition } from "../../src/watch/watch.ts";
import { mute, resume, unmute } from "../../src/watch/watches.ts";
import { DAY, dropScratch, NOON, opportunitiesOf, SECOND } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { interruptedWatches, unsynced } from "./interrupted-watches.ts";
import { aWatched, theWatch, type Watched } from "./watched.ts";

setDefaultTimeout(600_000);
afterAll(dropScratch);

/** FUNDFEED_KILLS=500 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 25);
const [HOUR, MINUTE] = [3_600_000, 60_000];
const IDS = 12;
const LIVE = ["forecast", "pre_release", "open", "closing_soon"];
const mail = { to: "smtp", url: { variable: "X" }, mail_to: "ann@example.org", mail_from: "fundfeed@example.org" } as const;
const ZONE = "America/New_York";

const record = (id: string, closes_at: string | null, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: id },
  title: "Quantum sensing",
  dates: { closes_at },
  ...fields,
});
const inDays = (now: number, days: number) => new Date(now + days * DAY).toISOString();

/** "2026-03-08" and "08:15" in a zone. */
const localFormat = new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, dateStyle: "short", timeStyle: "short", hourCycle: "h23" });
function localTime(at: number): { day: number; time: string } {
  const [date = "", time = ""] = localFormat.format(at).split(", ");
  return { day: Date.parse(date) / DAY, time };
}

class Killed extends Error {}

describe.each<{ name: string; seed: number; fields: Partial<WatchDefinition>; itemsMax?: number; backwards: boolean }>([
  { name: "messages of every item", seed: 1, fields: { remind: [14, 3] }, itemsMax: 2, backwards: true },
  { name: "digests", seed: 2, fields: { remind: [7, 1, 0], receiver: mail }, backwards: true },
  { name: "daily digests", seed: 3, fields: { remind: [10, 2], every: "day 08:00", receiver: mail }, backwards: false },
  { name: "daily messages of every item", seed: 4, fields: { remind: [10, 2], every: "day 08:00" }, itemsMax: 2, backwards: false },
])("$name", ({ seed, fields, itemsMax, backwards }) => {
  test("remind of each due date once, whatever is killed, down or set", async () => {
    const random = randomIntegers(seed);
    const watched = await aWatched();
    const { clock, db, index } = watched;
    index.sqlite.run("pragma synchronous = off");
    let file = unsynced(watched.file);
    const importSome = async () => {
      const due = () => (random(8) === 0 ? null : new Date(clock.now + (random(30 * 24 * 60) - 3 * 24 * 60) * MINUTE).toISOString());
      const some = Array.from({ length: 1 + random(3) }, () =>
        record(`N${random(IDS)}`, due(), {
          ...(random(4) === 0 && { status: "cancelled" }),
          title: ["Quantum sensing", "Battery"][random(2)],
        }),
      );
      await watched.take(some);
    };
    await importSome();
    const watch = await watched.add("q", { filter: { words: "quantum" }, ...fields });
    const remind = fields.remind ?? [];

    /** How the model names what may be reminded once, and how near the last reminder of it was. */
    const given = new Map<string, number>();
    const known = new Set(
      file.sqlite
        .query<{ id: string }, []>("select id from matched")
        .all()
        .map(({ id }) => id),
    );
    const bodies = new Map<string, string>();
    let sent = 0;
    /** What was not expected: a run takes any error for one of the receiver. */
    const surprises: unknown[] = [];
    /** The reminder that has come: one whose day begins before the day of the next messages, or that would come after the due date. */
    const comeOf = (due: number, now: number) => {
      const [ofDue, ofNow] = [localTime(due), localTime(now)];
      const isEarly = fields.every !== undefined && ofNow.time < "08:00";
      const left = ofDue.day - (isEarly ? ofNow.day : ofNow.day + 1);
      const isBeforeNext = fields.every !== undefined && left === 0 && ofDue.time <= "08:00";
      const come = remind.filter((days) => days > left || isBeforeNext);
      return come.length === 0 ? undefined : Math.min(...come);
    };
    const dueOf = (
      opportunity: { id: string; status: string; dates: { closes_at: string | null; response_at: string | null } },
      now: number,
    ) => {
      const { closes_at, response_at } = opportunity.dates;
      const ahead = [response_at, closes_at].map((at) => Date.parse(at ?? "")).filter((at) => at > now);
      const due = Math.min(...ahead);
      return ahead.length > 0 && LIVE.includes(opportunity.status) ? Math.floor(due / MINUTE) * MINUTE : undefined;
    };
    const nameOf = (id: string, due: number) => `${id} ${due}`;
    const accept = (body: string) => {
      const { id: messageId, timestamp, data }: Message = JSON.parse(body);
      const former = bodies.get(messageId);
      if (former !== undefined) return expect(body).toBe(former);
      bodies.set(messageId, body);
      const now = Date.parse(timestamp);
      for (const item of data.events) {
        const { id } = item.opportunity;
        const due = dueOf(item.opportunity, now);
        const come = due === undefined ? undefined : comeOf(due, now);
        if (item.kind === "due") {
          sent++;
          expect(known.has(id)).toBe(true);
          expect(item.days).toBe(come ?? Number.NaN);
          expect(come).toBeLessThan(given.get(nameOf(id, due as number)) ?? 1000);
          expect(item.due_at).toBe(item.opportunity.dates.closes_at as string);
        }
        if (item.kind === "new") known.add(id);
        if (item.kind === "left" || (item.kind === "changed" && item.left)) known.delete(id);
        if ((item.kind === "due" || item.kind === "new") && come !== undefined)
          given.set(nameOf(id, due as number), Math.min(come, given.get(nameOf(id, due as number)) ?? 1000));
      }
    };

    let isDown = false;
    let isDead = false;
    let kills = 0;
    const runKilledAfter = async (steps: number): Promise<void> => {
      let left = steps;
      isDead = false;
      const dead = Promise.withResolvers<void>();
      const step = () => {
        if (isDead || --left < 0) {
          isDead = true;
          dead.resolve();
          throw new Killed();
        }
      };
      const send = async (_: unknown, { body }: { body: string }) => {
        step();
        if (isDown) throw new DeliveryError("it is down");
        try {
          accept(body);
        } catch (error) {
          surprises.push(error);
        }
        if (random(8) === 0 && steps < 1000) throw new DeliveryError("it accepted, but its response was lost");
        step();
      };
      const work = async () => {
        await catchUp(db, index, undefined, clock.now);
        await runWatches({ ...watched.context(), db: interruptedWatches(file, step), send, ...(itemsMax && { itemsMax }) });
      };
      await Promise.race([
        work().catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        }),
        dead.promise,
      ]);
      await Bun.sleep(0);
      if (isDead) kills++;
      await file.close();
      file = unsynced(openWatchFile(watched.directory, clock.now));
      if (surprises.length > 0) throw surprises[0];
    };

    /** After a run that had time to finish, nothing is owed. */
    const checkComplete = async () => {
      for (const opportunity of await opportunitiesOf(db)) {
        const due = known.has(opportunity.id) ? dueOf(opportunity, clock.now) : undefined;
        const come = due === undefined ? undefined : comeOf(due, clock.now);
        if (come !== undefined) expect(given.get(nameOf(opportunity.id, due as number)) ?? 1000).toBeLessThanOrEqual(come);
      }
    };

    let complete = 0;
    while (kills < KILLS) {
      if (random(3) === 0) await importSome();
      if (random(12) === 0) isDown = !isDown;
      clock.now += random(30) * HOUR + random(60) * MINUTE;
      if (backwards && random(15) === 0) clock.now += (random(2) === 0 ? -1 : 1) * random(20) * DAY;
      if (random(3) > 0) await runKilledAfter(random(60));
      else {
        await resume(file, watch);
        const before = clock.now;
        // With a schedule, messages are made after its next time.
        while (fields.every !== undefined && (clock.now - before < DAY || localTime(clock.now).time < "08:00")) clock.now += 17 * MINUTE;
        const wasDown: boolean = isDown;
        isDown = false;
        await runKilledAfter(Number.MAX_SAFE_INTEGER);
        isDown = wasDown;
        expect(await pendingOf(file, watch)).toBeUndefined();
        await checkComplete();
        complete++;
      }
    }
    expect(complete).toBeGreaterThan(3);
    expect(sent).toBeGreaterThan(10);
    await file.close();
  });
});

/** Runs at an instant, without imports. */
async function runAt(watched: Watched, at: number): Promise<string[]> {
  watched.clock.now = at;
  watched.received.length = 0;
  await catchUp(watched.db, watched.index, undefined, at);
  await watched.run();
  return watched.items();
}

describe("a reminder", () => {
  test("comes once for each day that was asked for, and anew when the deadline moves", async () => {
    const watched = await aWatched();
    await watched.take([record("1", inDays(NOON, 20))]);
    await watched.add("q", { remind: [14, 3], types: ["date_changed"] });
    expect(await runAt(watched, NOON + 5 * DAY)).toEqual([]);
    expect(await runAt(watched, NOON + 6 * DAY)).toEqual(["due 1"]);
    expect(watched.received[0]?.data).toMatchObject({
      counts: { new: 0, changed: 0, due: 1, left: 0 },
      events: [{ kind: "due", days: 14, due_at: inDays(NOON, 20) }],
    });
    expect(await runAt(watched, NOON + 8 * DAY)).toEqual([]);
    expect(await runAt(watched, NOON + 19 * DAY)).toEqual(["due 1"]);
    await watched.take([record("1", inDays(NOON, 40))]);
    expect(await runAt(watched, NOON + 19.1 * DAY)).toEqual(["changed 1 date_changed"]);
    expect(await runAt(watched, NOON + 27 * DAY)).toEqual(["due 1"]);
    await watched.take([record("1", inDays(NOON, 41))]);
    expect(await runAt(watched, NOON + 30 * DAY)).toEqual(["changed 1 date_changed", "due 1"]);
    await watched.take([record("1", inDays(NOON, 40))]);
    expect(await runAt(watched, NOON + 31 * DAY)).toEqual(["changed 1 date_changed"]); // It has had the one of this date.
  });

  test("of several that were missed is one", async () => {
    const watched = await aWatched();
    await watched.take([record("1", inDays(NOON, 20))]);
    await watched.add("q", { remind: [14, 7, 3] });
    expect(await runAt(watched, NOON + 18 * DAY)).toEqual(["due 1"]);
    expect(await runAt(watched, NOON + 19 * DAY)).toEqual([]);
  });

  test("never comes for what is closed, and not beside what is told as new", async () => {
    const watched = await aWatched();
    await watched.add("q", { remind: [14] });
    await watched.take([
      record("cancelled", inDays(NOON, 5), { status: "cancelled" }),
      record("past", inDays(NOON, -1), { status: "open" }),
      record("soon", inDays(NOON, 5)),
      record("later", inDays(NOON, 30)),
    ]);
    expect((await runAt(watched, NOON + DAY)).toSorted()).toEqual(["new cancelled", "new later", "new past", "new soon"]);
    expect(await runAt(watched, NOON + 2 * DAY)).toEqual([]);
    expect(await runAt(watched, NOON + 16 * DAY)).toEqual(["due later"]);
  });

  test("comes at once for what a new watch matches already", async () => {
    const watched = await aWatched();
    await watched.take([record("1", inDays(NOON, 5))]);
    await watched.add("q", { remind: [14] });
    expect(await runAt(watched, NOON + SECOND)).toEqual(["due 1"]);
  });

  test("of records of one opportunity comes once", async () => {
    const watched = await aWatched();
    const closes_at = inDays(NOON, 5);
    await watched.take([record("1", closes_at)]);
    const canonical = (await opportunitiesOf(watched.db))[0]?.id;
    await watched.take([
      record("2", closes_at, { source: { code: "OTHER1", opportunity_id: "2" }, relationships: { canonical_id: canonical } }),
    ]);
    await watched.add("q", { remind: [14, 3] });
    await watched.add("each", { remind: [14], all_sources: true });
    await runAt(watched, NOON + SECOND);
    expect(watched.received.map(({ data }) => [data.watch, data.counts.due])).toEqual([
      ["each", 2],
      ["q", 1],
    ]);
    await watched.take([record("1", null, { title: "Gone" }), record("1", closes_at)]);
    expect((await runAt(watched, NOON + 2 * DAY)).filter((item) => item.startsWith("due"))).toEqual(["due 1"]);
  });
});

describe("a digest with a schedule", () => {
  const scheduled = { every: "day 08:00", receiver: mail } as const;

  test("that was missed while nothing ran comes at the next run, once", async () => {
    const watched = await aWatched();
    await watched.add("q", scheduled);
    await watched.take([record("1", null)]);
    expect(await runAt(watched, NOON + 50 * MINUTE)).toEqual([]); // 7:50 AM.
    expect(await watched.run()).toMatchObject([{ messages: 0, waits_until: NOON + HOUR }]);
    expect(await runAt(watched, NOON + 3 * DAY)).toEqual(["new 1"]);
    await watched.take([record("2", null)]);
    expect(await runAt(watched, NOON + 3 * DAY + 50 * MINUTE)).toEqual([]);
    expect(await runAt(watched, NOON + 3 * DAY + 70 * MINUTE)).toEqual(["new 2"]);
    expect(await runAt(watched, NOON + 3 * DAY + 71 * MINUTE)).toEqual([]);
  });

  test("that fails is sent again at any time", async () => {
    const watched = await aWatched();
    const send = watched.receiver.send;
    await watched.add("q", scheduled);
    await watched.take([record("1", null)]);
    watched.receiver.send = async () => {
      throw new DeliveryError("it is down");
    };
    await runAt(watched, NOON + HOUR);
    watched.receiver.send = send;
    expect(await runAt(watched, NOON + 5 * HOUR)).toEqual(["new 1"]);
  });

  test("continues after a kill between its messages", async () => {
    const watched = await aWatched();
    await watched.add("q", { every: "day 08:00" });
    await watched.take([record("1", null), record("2", null), record("3", null)]);
    watched.clock.now = NOON + HOUR;
    await catchUp(watched.db, watched.index);
    await runWatches({ ...watched.context(), itemsMax: 2, timeLimitMs: 0 }); // It ends after one message.
    expect(watched.items()).toHaveLength(2);
    expect(await runAt(watched, NOON + HOUR + SECOND)).toHaveLength(1);
    await watched.take([record("4", null)]);
    expect(await runAt(watched, NOON + HOUR + MINUTE)).toEqual([]);
  });
});

describe("an opportunity that is muted", () => {
  const muted = async (): Promise<{ watched: Watched; watch: Watch; id: string }> => {
    const watched = await aWatched();
    await watched.take([record("1", inDays(NOON, 20)), record("2", inDays(NOON, 20))]);
    const watch = await watched.add("q", { filter: { status: LIVE }, remind: [14] });
    const one = (await opportunitiesOf(watched.db)).find(({ source }) => source.opportunity_id === "1");
    await mute(watched.file, watch, one?.id ?? "", NOON);
    return { watched, watch, id: one?.id ?? "" };
  };

  test("is left out, with its reminders; the messages say so", async () => {
    const { watched } = await muted();
    await watched.take([record("1", inDays(NOON, 21)), record("2", inDays(NOON, 21))]);
    expect(await runAt(watched, NOON + SECOND)).toEqual(["changed 2 date_changed"]);
    expect(watched.received[0]?.data.muted).toBe(1);
    expect(await runAt(watched, NOON + 10 * DAY)).toEqual(["due 2"]);
    await watched.take([record("1", inDays(NOON, 21), { status: "cancelled" })]);
    expect(await runAt(watched, NOON + 11 * DAY)).toEqual([]);
  });

  test("is reported again from unmute on: that it left and reminders that came are not lost", async () => {
    const { watched, watch, id } = await muted();
    await watched.take([record("1", inDays(NOON, 21))]);
    await runAt(watched, NOON + 10 * DAY);
    await unmute(watched.file, await theWatch(watched.file, watch.name), id);
    expect(await runAt(watched, NOON + 10 * DAY + SECOND)).toEqual(["due 1"]);
    await mute(watched.file, watch, id, watched.clock.now);
    await watched.take([record("1", inDays(NOON, 21), { status: "cancelled" })]);
    expect(await runAt(watched, NOON + 11 * DAY)).toEqual([]);
    await unmute(watched.file, watch, id);
    expect(await runAt(watched, NOON + 12 * DAY)).toEqual(["left 1"]);
  });
});

test("a watch of some types of changes reports no others", async () => {
  const watched = await aWatched();
  await watched.take([record("1", inDays(NOON, 20))]);
  await watched.add("q", { types: ["date_changed"] });
  await watched.take([record("1", inDays(NOON, 21), { status: "cancelled" }), record("2", null)]);
  expect(await runAt(watched, NOON + SECOND)).toEqual(["new 2", "changed 1 date_changed"]);
});
