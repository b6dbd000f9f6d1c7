/** US Eastern dates: federal dates without a zone are meant so, by the rules of the time zone and not a fixed offset. */

/** The RFC 3339 date-time of a wall clock in the eastern time zone (`2026-07-01`, `23:59:59`); `undefined` when the date does not exist. */
export function easternInstant(date: string, time: string): string | undefined {
  const utc = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(date)) return undefined;
  return `${date}T${time}${offsetOn(date, time, utc)}`;
}

/** The calendar date in the eastern time zone (`2026-07-01`) at an instant in milliseconds since 1970 UTC. */
export function easternDate(ms: number): string {
  return calendarDate.format(ms);
}

/** The offset changes at 02:00, so that a date's midnight and a second before the next one each have one of their own all year. */
const offsets = new Map<string, string>();
const OFFSETS_KEPT = 50_000;

function offsetOn(date: string, time: string, utc: number): string {
  const key = date + time;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  // Asked with standard time's offset first, as the hour that comes twice is then its second, and the one that never comes is moved on.
  const offset = offsetAt(utc + 5 * HOUR_MS) === "-05:00" ? "-05:00" : offsetAt(utc + 4 * HOUR_MS);
  if (offsets.size === OFFSETS_KEPT) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

function offsetAt(ms: number): string {
  const name = zone.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? "-05:00";
}

const HOUR_MS = 60 * 60 * 1000;
const zone = new Intl.DateTimeFormat("en-US", { timeZone: "America/New_York", timeZoneName: "longOffset" });
const calendarDate = new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York", year: "numeric", month: "2-digit", day: "2-digit" });
