/** NIH's standard due dates, for announcements (PA, PAR, PAS) whose closing date is their expiry. No date is better than a wrong one. */
import { easternInstant } from "../text/eastern.ts";
import { DAY_MS, dateAt, type EpochMs, parseStoredMs } from "../text/instant.ts";
import type { WholeOpportunity } from "./opportunity.ts";

/** Compared with that page in this year. A test fails when that is two years ago. */
export const NIH_DUE_DATES = {
  page: "https://grants.nih.gov/grants-process/submit/submission-policies/standard-due-dates",
  checked: 2026,
};

/** Of new applications, by activity code. Those of AIDS-related applications and of renewals are others. */
const dueDates: readonly (readonly [codes: RegExp, dates: readonly string[]])[] = [
  [/^(R01|U01)$/, ["02-05", "06-05", "10-05"]],
  [/^K\d\d$/, ["02-12", "06-12", "10-12"]],
  [/^(R03|R21|R33|R34|R36|U34|UH2|UH3)$/, ["02-16", "06-16", "10-16"]],
  [/^R15$/, ["02-25", "06-25", "10-25"]],
  [/^(R41|R42|R43|R44|U43|U44|UT1|UT2)$/, ["01-05", "04-05", "09-05"]],
  [/^F\d\d$/, ["04-08", "08-08", "12-08"]],
  [/^(R13|U13)$/, ["04-12", "08-12", "12-12"]],
  [
    /^([PTD]\d\d|R18|U18|R25|C06|UC6|G07|G08|G11|G12|G13|G20|R24|S06|S11|S21|S22|SC[123]|UG1|U10|U19|U24|U2C|U41|U42|U45|U54|U56)$/,
    ["01-25", "05-25", "09-25"],
  ],
];

/** A request for applications (RFA) always has dates of its own. */
const NUMBER = /^PA[RS]?-\d\d-\d{3}$/;
const ACTIVITY_CODE = /\b(?:[A-Z]\d\d|[A-Z]{2}\d|U2C)\b/g;
const A_DATE =
  /\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\s+\d{1,2}\b|\b\d{1,2}\/\d{1,2}\/\d{2,4}\b/i;

/** The next standard due date before the announcement expires, the end of an Eastern day; null if there is none left. It is only expected. */
export function nextStandardDueDate(opportunity: WholeOpportunity, now: EpochMs): string | null {
  const expires = parseStoredMs(opportunity.dates.closes_at) ?? now;
  const year = new Date(now).getUTCFullYear();
  const days = [year, year + 1].flatMap((each) => (standardDueDates(opportunity) ?? []).map((date) => workingDay(`${each}-${date}`)));
  const coming = days.map((day) => easternInstant(day, "23:59:59") ?? day);
  const opens = parseStoredMs(opportunity.dates.opens_at) ?? now;
  return coming.find((at) => Date.parse(at) >= Math.max(now, opens) && Date.parse(at) <= expires) ?? null;
}

/**
 * The standard due dates of a record whose closing date is its expiry. Undefined if an activity code is none of the table's, its codes have
 * different dates, or the text has dates of its own.
 */
export function standardDueDates({ program, title, summary, description, sidecar }: WholeOpportunity): readonly string[] | undefined {
  const isOfNih = sidecar.agency_codes.some((code) => code.startsWith("HHS-NIH"));
  if (!isOfNih || !NUMBER.test(program.solicitation_id ?? "") || sidecar.due_dates.length > 0) return undefined;
  if ([summary, description, sidecar.deadline_note].some((text) => text !== null && A_DATE.test(text))) return undefined;
  const codes = [...title.matchAll(/\(([^()]*)\)/g)].flatMap(([, inner = ""]) => inner.match(ACTIVITY_CODE) ?? []);
  const found = codes.map((code) => dueDates.find(([known]) => known.test(code))?.[1]);
  return found.every((dates) => dates === found[0]) ? found[0] : undefined;
}

/** The days from which on, for a week, Monday is a federal holiday: Presidents', Memorial, Labor and Columbus Day. */
const HOLIDAY_WEEKS = ["02-15", "05-25", "09-01", "10-08"];

/** NIH moves a due date to the next day that is neither on a weekend nor a holiday. */
function workingDay(date: string): string {
  const ms = Date.parse(date);
  const weekday = new Date(ms).getUTCDay();
  const isHoliday = HOLIDAY_WEEKS.some((week) => {
    const days = (ms - Date.parse(`${date.slice(0, 4)}-${week}`)) / DAY_MS;
    return weekday === 1 && days >= 0 && days < 7;
  });
  return weekday === 0 || weekday === 6 || isHoliday ? workingDay(dateAt(ms + DAY_MS)) : date;
}
