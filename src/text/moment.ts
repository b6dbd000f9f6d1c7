/** Moments as people write them: 7d, -12h, monday, 2026-12-31. Every door reads them here, by what the field declares, but the API. (E-136) */
import { timeInWords } from "./date-in-words.ts";
import { easternDate, easternDateBefore, startOfEasternDate } from "./eastern.ts";
import { DAY_MS, type EpochMs, formatInstant, HOUR_MS, parseStoredMs } from "./instant.ts";
import { BadValue } from "./read-value.ts";

type MomentForm = "duration" | "day" | "date" | "timestamp" | "all";

export type MomentField = {
  forms: readonly MomentForm[];
  /** Where 7d and monday lie, seen from now. A sign decides otherwise: -7d is always past and +7d ahead. */
  direction: "past" | "ahead";
  refusesAhead?: true;
};

const forms = ["duration", "day", "date", "timestamp"] as const;

export const AHEAD = { forms, direction: "ahead" } as const;
/** A moment of something that has happened. One after now is taken: what was posted before tomorrow was posted. */
export const PAST = { forms, direction: "past" } as const;
export const AS_OF = { ...PAST, refusesAhead: true } as const;
export const SINCE = { ...AS_OF, forms: [...forms, "all"] } as const;
export const FIXED = { forms: ["date", "timestamp"], direction: "past" } as const;

const DURATION = /^([+-]?)(\d{1,5})([hdw])$/;
const UNIT_MS = { h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS };
const NAMED_DAYS: Readonly<Record<string, number>> = { yesterday: 1, today: 0, tomorrow: -1 };
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The instant that is meant; "all" where the field takes it. A day begins at midnight Eastern time. Throws a BadValue for what is refused. */
export function readMoment<Field extends MomentField>(
  given: unknown,
  now: EpochMs,
  field: Field,
): EpochMs | ("all" extends Field["forms"][number] ? "all" : never);
export function readMoment(given: unknown, now: EpochMs, field: MomentField): EpochMs | "all" {
  const text = typeof given === "string" ? given.trim() : "";
  const word = text.toLowerCase();
  if (word === "all" && field.forms.includes("all")) return "all";
  for (const form of field.forms) {
    const instant = form === "all" ? undefined : readers[form](word, now, field);
    if (instant === undefined) continue;
    if (field.refusesAhead && instant > now) throw new BadValue("must be in the past, and this is still to come");
    return instant;
  }
  throw new BadValue(`must be ${formsInWords(field)}`);
}

type Reader = (text: string, now: EpochMs, field: MomentField) => EpochMs | undefined;

const readers: Readonly<Record<Exclude<MomentForm, "all">, Reader>> = {
  duration: (text, now, { direction }) => {
    const [, sign, count, unit] = DURATION.exec(text) ?? [];
    if (unit === undefined) return undefined;
    const isAhead = sign === "" ? direction === "ahead" : sign === "+";
    return now + (isAhead ? 1 : -1) * Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  },
  day: (text, now, { direction }) => {
    const daysAgo = WEEKDAYS.includes(text) ? daysSince(WEEKDAYS.indexOf(text), now, direction) : NAMED_DAYS[text];
    return daysAgo === undefined ? undefined : startOfEasternDate(easternDateBefore(now, daysAgo));
  },
  date: (text) => startOfEasternDate(text),
  timestamp: (text) => parseStoredMs(text),
};

function daysSince(weekday: number, now: EpochMs, direction: MomentField["direction"]): number {
  const days = (new Date(easternDate(now)).getUTCDay() - weekday + 7) % 7;
  return direction === "past" ? days : days - 7;
}

function formsInWords({ forms, direction }: MomentField): string {
  const names: Readonly<Record<MomentForm, string>> = {
    duration: direction === "past" ? "a time ago such as 7d or 12h" : "a time from now such as 30d or -7d",
    day: `yesterday, today,${direction === "past" ? "" : " tomorrow,"} a weekday such as monday`,
    date: "a date such as 2026-12-31",
    timestamp: "an RFC 3339 timestamp",
    all: "all",
  };
  const given = forms.map((form) => names[form]);
  return given.length < 3 ? given.join(" or ") : `${given.slice(0, -1).join(", ")}, or ${given.at(-1)}`;
}

export function isRelativeMoment(text: string): boolean {
  const word = text.trim().toLowerCase();
  return DURATION.test(word) || WEEKDAYS.includes(word) || Object.hasOwn(NAMED_DAYS, word);
}

/** The moment that was understood: "Mar 3, 2026, 5:00 PM UTC (30d)"; a date or a timestamp as it was given. */
export function momentInWords(text: string, now: EpochMs, field: MomentField): string {
  if (!isRelativeMoment(text)) return text;
  const instant = readMoment(text, now, field);
  return instant === "all" ? instant : `${timeInWords(formatInstant(instant))} (${text})`;
}
