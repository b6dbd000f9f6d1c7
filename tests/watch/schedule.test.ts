/** When the messages of a watch with a schedule are made, and when its reminders come. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { behindSince, isTime, nextTime, readSchedule, remindersAt } from "../../src/watch/schedule.ts";
import { aDefinition } from "./watched.ts";

const ZONE = "America/New_York";
const at = (text: string) => Date.parse(text);
/** The last time, since which a watch is behind that was never compared. */
const lastTime = (every: string, zone: string, now: number) => behindSince({ every, zone }, 0, now);
const next = (every: string, now: string, zone = ZONE) => new Date(nextTime(every, zone, at(now))).toISOString();
const last = (every: string, now: string, zone = ZONE) => new Date(lastTime(every, zone, at(now))).toISOString();

test.each([
  ["day", "day 08:00"],
  ["week", "monday 08:00"],
  ["Monday 8:30", "monday 08:30"],
  ["day  23:59", "day 23:59"],
  ["friday", "friday 08:00"],
  ["day 24:00", undefined],
  ["day 08:60", undefined],
  ["month", undefined],
  ["", undefined],
  ["constructor 08:00", undefined],
  ["08:00", undefined],
])("readSchedule(%j) returns %j", (text, schedule) => {
  expect(readSchedule(text)).toBe(schedule);
});

describe("a schedule", () => {
  test("keeps its time of day when daylight saving time begins and ends", () => {
    expect(next("day 08:00", "2026-03-07T13:00:00Z")).toBe("2026-03-08T12:00:00.000Z"); // 23 hours later.
    expect(next("day 08:00", "2026-10-31T12:00:00Z")).toBe("2026-11-01T13:00:00.000Z"); // 25 hours later.
    expect(last("day 08:00", "2026-03-08T11:59:59Z")).toBe("2026-03-07T13:00:00.000Z");
    expect(last("day 08:00", "2026-11-01T12:59:59Z")).toBe("2026-10-31T12:00:00.000Z");
    expect(next("monday 08:00", "2026-03-02T13:00:00Z")).toBe("2026-03-09T12:00:00.000Z");
    expect(next("day 08:00", "2026-03-28T07:00:00Z", "Europe/Berlin")).toBe("2026-03-29T06:00:00.000Z");
  });

  test("has a time that the clock skips after it, and one that comes twice only once", () => {
    expect(next("day 02:30", "2026-03-08T06:59:00Z")).toBe("2026-03-08T07:30:00.000Z"); // 3:30 AM EDT.
    expect(next("day 02:30", "2026-03-08T07:30:00Z")).toBe("2026-03-09T06:30:00.000Z");
    expect(next("day 01:30", "2026-11-01T05:00:00Z")).toBe("2026-11-01T05:30:00.000Z"); // 1:30 AM EDT, not EST.
    expect(next("day 01:30", "2026-11-01T05:30:00Z")).toBe("2026-11-02T06:30:00.000Z");
  });

  test("of a day of the week comes on that day of the zone", () => {
    expect(next("monday 00:30", "2026-03-01T20:00:00Z", "Asia/Tokyo")).toBe("2026-03-08T15:30:00.000Z");
    expect(last("monday 00:30", "2026-03-01T20:00:00Z", "Asia/Tokyo")).toBe("2026-03-01T15:30:00.000Z");
  });

  test("is due once after each time, however often one asks", () => {
    const zones = fc.constantFrom(ZONE, "Europe/Berlin", "Asia/Tokyo", "Australia/Lord_Howe", "Pacific/Apia", "UTC");
    const schedules = fc
      .tuple(fc.constantFrom("day", "monday", "sunday"), fc.nat(23), fc.nat(59))
      .map(([day, hour, minute]) => `${day} ${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`);
    const steps = fc.array(fc.integer({ min: 60_000, max: 40 * 3_600_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(zones, schedules, steps, (zone, every, lengths) => {
        const start = at("2026-02-20T00:00:00Z");
        let [now, checked, due] = [start, start, 0];
        for (const length of lengths) {
          const [before, after] = [lastTime(every, zone, now), lastTime(every, zone, now + length)];
          expect(nextTime(every, zone, now)).toBeGreaterThan(now);
          expect(nextTime(every, zone, nextTime(every, zone, now) - 1)).toBe(nextTime(every, zone, now));
          expect(lastTime(every, zone, nextTime(every, zone, now))).toBe(nextTime(every, zone, now));
          now += length;
          expect(isTime({ every, zone }, checked, now)).toBe(after > before);
          if (isTime({ every, zone }, checked, now)) due++;
          checked = now;
          expect(isTime({ every, zone }, checked, now)).toBe(false);
        }
        expect(due).toBeLessThanOrEqual(Math.ceil((now - start) / 82_800_000));
      }),
      { numRuns: 60 },
    );
  });

  test("does not wait for a clock that was set back", () => {
    const now = at("2026-03-02T14:00:00Z");
    expect(isTime({ every: "day 08:00", zone: ZONE }, now - 60_000, now)).toBe(false);
    expect(isTime({ every: "day 08:00", zone: ZONE }, now + 400 * 86_400_000, now)).toBe(true);
  });

  test("is behind since a time that has passed, not since the last one that was kept", () => {
    const watch = { every: "monday 08:00", zone: ZONE };
    const kept = at("2026-03-02T13:01:00Z");
    expect(behindSince(watch, kept, at("2026-03-08T00:00:00Z"))).toBe(at("2026-03-08T00:00:00Z"));
    expect(behindSince(watch, kept, at("2026-03-10T00:00:00Z"))).toBe(at("2026-03-09T12:00:00Z"));
    expect(behindSince({ zone: ZONE }, kept, at("2026-03-10T00:00:00Z"))).toBe(kept);
  });
});

describe("a reminder", () => {
  const come = (fields: object, due: string, now: string) => remindersAt(aDefinition(fields), at(now)).daysBefore(at(due));
  const DUE = "2026-03-15T23:59:59-04:00";

  test("comes when its day begins in the zone, across the change of the clock", () => {
    expect(come({ remind: [14, 3] }, DUE, "2026-03-01T04:59:59Z")).toBeUndefined();
    expect(come({ remind: [14, 3] }, DUE, "2026-03-01T05:00:00Z")).toBe(14);
    expect(come({ remind: [14, 3] }, DUE, "2026-03-12T03:59:59Z")).toBe(14);
    expect(come({ remind: [14, 3] }, DUE, "2026-03-12T04:00:00Z")).toBe(3);
    expect(come({ remind: [0] }, DUE, "2026-03-15T03:59:59Z")).toBeUndefined();
    expect(come({ remind: [0] }, DUE, "2026-03-15T04:00:00Z")).toBe(0);
  });

  test("waits for the messages of its day, and comes before it rather than late", () => {
    const daily = { remind: [3], every: "day 08:00" };
    expect(come(daily, DUE, "2026-03-11T12:00:00Z")).toBeUndefined();
    expect(come(daily, DUE, "2026-03-12T12:00:00Z")).toBe(3);
    expect(come({ remind: [3], every: "monday 08:00" }, DUE, "2026-03-02T13:00:00Z")).toBeUndefined(); // Mar 9 is before Mar 12.
    expect(come({ remind: [3], every: "monday 08:00" }, DUE, "2026-03-09T12:00:00Z")).toBe(3); // Mar 16 would be too late.
    const early = "2026-03-15T06:00:00-04:00";
    expect(come({ remind: [0], every: "day 08:00" }, early, "2026-03-14T12:00:00Z")).toBe(0); // It is due before the messages of its day.
    expect(remindersAt(aDefinition({ remind: [0], every: "day 08:00" }), at("2026-03-14T12:00:00Z")).until).toBeGreaterThan(at(early));
  });

  test("is asked for until the last due date that can have one", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(undefined, "day 08:00", "monday 17:00"),
        fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
        fc.nat(300 * 24 * 60),
        fc.nat(40 * 24 * 60),
        (every, remind, start, ahead) => {
          const now = at("2026-01-01T00:00:00Z") + start * 60_000;
          const due = now + (ahead + 1) * 60_000;
          const { until, daysBefore } = remindersAt(aDefinition({ remind, ...(every && { every }) }), now);
          if (due >= until) expect(daysBefore(due)).toBeUndefined();
        },
      ),
    );
  });
});
