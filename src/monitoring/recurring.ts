/** Limits the log lines of recurring failures: while a database is unavailable every request fails, and a line for each would bury all others. */
import { isUnavailable } from "../../db/unavailable.ts";
import type { EpochMs } from "../text/instant.ts";

/** When it happened, what was thrown, and the id of the request, or null outside a request. */
export type LoggedFailure = [time: EpochMs, error: unknown, requestId: string | null];

const REMIND_MS = 60_000;

/** Failures of one kind since the last one was logged. */
type Minute = { omitted: number; newest: LoggedFailure; timer: ReturnType<typeof setTimeout> };

/**
 * `report` writes the first failure of a kind at once. At the end of each minute with further failures, it writes the newest one and how many
 * before it were left out; `flush` writes that without waiting. Failures have one kind if their message is the same, or if all of them say
 * that a database is unavailable.
 */
export function createReminders(write: (failure: LoggedFailure, leftOut: number) => void) {
  const minutes = new Map<string, Minute>();
  const begin = (kind: string, failure: LoggedFailure, leftOut: number) => {
    write(failure, leftOut);
    minutes.set(kind, { omitted: 0, newest: failure, timer: setTimeout(end, REMIND_MS, kind).unref() });
  };
  const end = (kind: string) => {
    const minute = minutes.get(kind);
    minutes.delete(kind);
    if (minute !== undefined && minute.omitted > 0) begin(kind, minute.newest, minute.omitted - 1);
  };
  return {
    report(...failure: LoggedFailure): void {
      const kind = isUnavailable(failure[1]) ? "unavailable" : String(failure[1]);
      const minute = minutes.get(kind);
      if (minute === undefined) begin(kind, failure, 0);
      else Object.assign(minute, { omitted: minute.omitted + 1, newest: failure });
    },
    flush(): void {
      for (const { omitted, newest, timer } of minutes.values()) {
        clearTimeout(timer);
        if (omitted > 0) write(newest, omitted - 1);
      }
      minutes.clear();
    },
  };
}
