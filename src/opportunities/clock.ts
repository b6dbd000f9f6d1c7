/** What the clock changes in a record: its status, and the next of several due dates (D-37). All but `/v1` ask here. (E-64) */
import { type EpochMs, parseInstantMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { noSidecar, type Opportunity, type Sidecar } from "./opportunity.ts";
import { type StatusStatement, statusAt, statusTurnsAt } from "./status.ts";

/** Of a record whose status does not follow its dates: what the source states, until when, and when it is archived. */
export type StatusTerms = {
  stated?: { status: string | null; status_display: string | null };
  status_until?: string;
  archives_at?: string;
};

export type StatusBasis = "stated" | "dates";

type OfClock = Pick<Opportunity, "status" | "status_display" | "dates">;

export type Timed = OfClock & Pick<Sidecar, "due_dates"> & StatusTerms;

/** The fields as they are at an instant. The source's own word for its status is not shown with another one. */
export function clockedAt(record: Timed, basis: StatusBasis, now: EpochMs): OfClock {
  const { stated, status_display, dates, due_dates } = record;
  const statement = statementOf(record, basis);
  const status = statusAt(dates, now, statement);
  const shown = { status, dates: due_dates.length === 0 ? dates : { ...dates, response_at: nextDueDate(due_dates, now) } };
  if (stated === undefined) return { ...shown, status_display };
  return { ...shown, status_display: statement.status === null || statement.status === status ? stated.status_display : null };
}

/** When the clock changes the record next: `now` if it already should have, `null` if it never will. */
export function clockTurnsAt(record: Timed, basis: StatusBasis, now: EpochMs): EpochMs | null {
  const { status, dates, due_dates } = record;
  const turns = statusTurnsAt(status, dates, now, statementOf(record, basis));
  if (due_dates.length === 0) return turns;
  const instant = msOf(nextDueDate(due_dates, now));
  const moves = msOf(dates.response_at) !== instant ? now : msOf(lastDueDate(due_dates)) === instant ? null : instant;
  return turns === null || moves === null ? (turns ?? moves) : Math.min(turns, moves);
}

type StoredTimed = { document: Uint8Array; sidecar: Uint8Array; status_basis: StatusBasis; turns_at: EpochMs | null };

/** The stored record as readers see it at an instant: as the clock will change it, if that is due and no writer has done it yet. */
export function shownAt<Row extends StoredTimed>(row: Row, now: EpochMs): Row {
  if (row.turns_at === null || row.turns_at > now) return row;
  const opportunity = parseStored<Opportunity>(row.document);
  const sidecar = { ...noSidecar, ...parseStored<Partial<Sidecar> & StatusTerms>(row.sidecar) };
  const shown = { ...opportunity, ...clockedAt({ ...opportunity, ...sidecar }, row.status_basis, now) };
  const turns_at = clockTurnsAt({ ...shown, ...sidecar }, row.status_basis, now);
  return { ...row, document: Buffer.from(JSON.stringify(shown)), turns_at };
}

function statementOf(record: Timed, basis: StatusBasis): StatusStatement {
  const { stated, status_until: until = null, archives_at = null } = record;
  return { status: basis === "dates" ? null : (stated ?? record).status, until, archives_at };
}

type DueDates = Sidecar["due_dates"];

function nextDueDate(dueDates: DueDates, now: EpochMs): string {
  const inOrder = dueDates.map(({ at }) => at).toSorted((one, other) => msOf(one) - msOf(other));
  return inOrder.find((at) => msOf(at) > now) ?? (inOrder.at(-1) as string);
}

/** The last of several due dates, or null if there is none. */
export function lastDueDate(dueDates: Pick<DueDates[number], "at">[]): string | null {
  return dueDates.map(({ at }) => at).reduce<string | null>((last, at) => (last === null || msOf(at) > msOf(last) ? at : last), null);
}

function msOf(at: string | null): EpochMs {
  return parseInstantMs(at) ?? Number.NEGATIVE_INFINITY;
}
