/** Whether a failure is of the database and may pass, so that the same request can be made again soon. */
import { DrizzleQueryError } from "drizzle-orm";
import { codeOf, sqlStateOf } from "./reason.ts";

/** Bun's own codes: nobody listens, the connection broke, nobody answered in time. */
const LOST = /^ERR_POSTGRES_(CONNECTION|IDLE_TIMEOUT|LIFETIME_TIMEOUT)/;

/**
 * SQLSTATE (PostgreSQL, appendix A): connection lost, too many, cancelled by a time limit, shutting down or starting, a lock not had, a
 * replica.
 */
const PASSING = /^(08...|53...|57014|57P0[1235]|55P03|40001|40P01|25006)$/;

/** Thrown where nothing is broken, but there is no answer at the moment. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  if (cause.name === "TimeoutError") return true; // No connection was free in time.
  return LOST.test(codeOf(cause)) || PASSING.test(sqlStateOf(cause));
}
