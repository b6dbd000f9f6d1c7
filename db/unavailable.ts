/** Whether a failure is of the database and may pass, so that the same request can be made again soon. */
import { DrizzleQueryError } from "drizzle-orm";
import { codeOf, Failure, sqlStateOf } from "./reason.ts";

/** Bun's own codes: nobody listens, the connection broke, nobody answered in time. */
const LOST = /^ERR_POSTGRES_(CONNECTION|IDLE_TIMEOUT|LIFETIME_TIMEOUT)/;

/** SQLSTATE: connection lost, too many of them, cancelled by a limit, shutting down or starting, lock not available, replica. */
const PASSING = /^(08...|53...|57014|57P0[1235]|55P03|40001|40P01|25006)$/;

export class Unavailable extends Failure {}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  if (cause.name === "TimeoutError") return true; // No connection was free in time.
  return LOST.test(codeOf(cause)) || PASSING.test(sqlStateOf(cause));
}

/** SQLite's result codes that a bug in a statement can cause. Any other means that the file cannot be read (D-26). */
const BUG = /^SQLITE_(ERROR|CONSTRAINT|MISUSE|RANGE|MISMATCH|TOOBIG)/;

/** True if a read failed because of its database: unavailable, locked, damaged or closed. False for a bug in a statement. */
export function isUnreadable(error: unknown): boolean {
  if (isUnavailable(error)) return true;
  if (!(error instanceof Error)) return false;
  if (error.name === "SQLiteError" && codeOf(error) !== "") return !BUG.test(codeOf(error));
  if (/closed database|database has closed/i.test(error.message)) return true; // bun:sqlite gives these no code.
  return isUnreadable(error.cause); // Drizzle wraps errors of the driver.
}
