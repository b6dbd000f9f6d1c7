/** Schedules and reminders depend only on the clock and the zone, however often and by which process watches are run. (E-77) */
import type { EpochMs } from "../text/instant.ts";

export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** When people begin to read mail. */
const DEFAULT_TIME = "08:00";

export type Schedule = string;

type Scheduled = { every?: Schedule; zone: string };

/** The schedule of a text such as "day", "week" or "Monday 8:00"; undefined if it is not a schedule. */
export function readSchedule(text: string): Schedule | undefined {
  const [, given = "", hour = "", minute] = /^([a-z]+)(?: +(\d?\d):(\d\d))?$/.exec(text.trim().toLowerCase()) ?? [];
  const day = given === "week" ? WEEKDAYS[0] : given;
  if (day === undefined || !["day", ...WEEKDAYS].includes(day)) return undefined;
  if (minute === undefined) return `${day} ${DEFAULT_TIME}`;
  return Number(hour) < 24 && Number(minute) < 60 ? `${day} ${hour.padStart(2, "0")}:${minute}` : undefined;
}

/** Whether a scheduled time has passed since `checkedAt`. One in the future comes from a clock that was set back, and is ignored. */
export function isTime(watch: Scheduled, checkedAt: EpochMs, now: EpochMs): boolean {
  return watch.every === undefined || checkedAt > now || lastTime(watch.every, watch.zone, now) > checkedAt;
}

/** Since when a watch last compared at `checkedAt` has been behind; `now` if its next scheduled time is in the future. */
export function behindSince(watch: Scheduled, checkedAt: EpochMs, now: EpochMs): EpochMs {
  if (watch.every === undefined) return checkedAt;
  return isTime(watch, checkedAt, now) ? lastTime(watch.every, watch.zone, now) : now;
}

/** A time that spring skips moves later; of one that autumn repeats, the first counts. */
function lastTime(every: Schedule, zone: string, now: EpochMs): EpochMs {
  return timesOf(every, zone, now, 1, -8).find((at) => at <= now) ?? now;
}

/** The first time of a schedule after `now`. */
export function nextTime(every: Schedule, zone: string, now: EpochMs): EpochMs {
  return timesOf(every, zone, now, -1, 8).find((at) => at > now) ?? now;
}

function timesOf(every: Schedule, zone: string, now: EpochMs, from: number, to: number): EpochMs[] {
  const [day = "", time = ""] = every.split(" ");
  const step = Math.sign(to - from);
  const days = Array.from({ length: Math.abs(to - from) + 1 }, (_, n) => dateIn(zone, now).add({ days: from + n * step }));
  const chosen = days.filter(({ dayOfWeek }) => day === "day" || WEEKDAYS[dayOfWeek - 1] === day);
  return chosen.map((date) => date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds);
}

function dateIn(zone: string, at: EpochMs): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
}

function startOf(date: Temporal.PlainDate, zone: string): EpochMs {
  return date.toZonedDateTime(zone).epochMilliseconds;
}

/** Due dates are distinguished by the minute. */
export type Reminder = { id: string; due: EpochMs; days: number };

type Reminding = {
  /** Due dates from this instant on have no reminder yet. */
  until: EpochMs;
  /** In days before the date; undefined if none is due. */
  daysBefore: (due: EpochMs) => number | undefined;
};

/** A reminder is due when its day begins, or at the last scheduled time before that day ends, so that none is late. */
export function remindersAt({ remind = [], every, zone }: Scheduled & { remind?: number[] }, now: EpochMs): Reminding {
  const nextAt = every === undefined ? startOf(dateIn(zone, now).add({ days: 1 }), zone) : nextTime(every, zone, now);
  const next = dateIn(zone, nextAt);
  return {
    until: Math.max(startOf(next.add({ days: Math.max(...remind) }), zone), nextAt + 1),
    daysBefore: (due) => {
      const left = next.until(dateIn(zone, due)).days;
      const begun = remind.filter((days) => days > left || due <= nextAt);
      return begun.length === 0 ? undefined : Math.min(...begun);
    },
  };
}
