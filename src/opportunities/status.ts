/** The status of a record at an instant, and when it turns (D-37). */
import { DAY_MS, type EpochMs, parseInstantMs } from "../text/instant.ts";
import type { Opportunity, Status } from "./opportunity.ts";

export const openStatuses: readonly string[] = ["open", "closing_soon"];

export const unendedStatuses: readonly string[] = ["forecast", "pre_release", ...openStatuses];

/** An open opportunity is closing soon for this long before `closes_at`. */
export const CLOSING_SOON_MS = 14 * DAY_MS;

/** "closing soon" */
export function statusInWords(status: string): string {
  return status === "pre_release" ? "pre-release" : status.replaceAll("_", " ");
}

/** The word of a text that says that something is cancelled, as it is written there: "CANCELLED", "rescinded". */
export function cancellationIn(text: string): string | undefined {
  return /\b(?:cancell?ed|rescinded|withdrawn)\b/i.exec(text)?.[0];
}

type Dates = Pick<Opportunity["dates"], "opens_at" | "closes_at">;

/** `status` is null if it follows the dates. */
export type StatusStatement = { status: string | null; until: string | null; archives_at: string | null };

type Instants = Record<"opens" | "closes" | "until" | "archives", EpochMs | undefined>;

/** The status at an instant: archived, or what is stated, or what the dates determine. */
export function statusAt(dates: Dates, now: EpochMs, statement: StatusStatement): string {
  return statusFor(statement.status, instantsOf(dates, statement), now);
}

/** When the status will next be another one than `status`: `now` if it already should be, `null` if it never will. */
export function statusTurnsAt(status: string, dates: Dates, now: EpochMs, statement: StatusStatement): EpochMs | null {
  const instants = instantsOf(dates, statement);
  const isOther = (at: EpochMs) => statusFor(statement.status, instants, at) !== status;
  if (isOther(now)) return now;
  const { opens, closes, until, archives } = instants;
  const turns = [opens, closes === undefined ? undefined : closes - CLOSING_SOON_MS, closes, until, archives];
  const coming = turns.filter((turn) => turn !== undefined && turn > now && isOther(turn)) as number[];
  return coming.length === 0 ? null : Math.min(...coming);
}

function statusFor(stated: string | null, { until, archives, ...dates }: Instants, now: EpochMs): string {
  if (archives !== undefined && now >= archives) return "archived";
  if (stated !== null && (until === undefined || now < until)) return stated;
  return statusByDates(dates, now);
}

function statusByDates({ opens, closes }: Pick<Instants, "opens" | "closes">, now: EpochMs): Status {
  if (closes !== undefined && now >= closes) return "closed";
  if (opens !== undefined && now < opens) return "pre_release";
  if (closes !== undefined && now >= closes - CLOSING_SOON_MS) return "closing_soon";
  return "open";
}

function instantsOf({ opens_at, closes_at }: Dates, { until, archives_at }: StatusStatement): Instants {
  const [opens, closes, ends, archives] = [opens_at, closes_at, until, archives_at].map(parseInstantMs);
  return { opens, closes, until: ends, archives };
}
