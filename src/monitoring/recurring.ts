/** Limits the log lines of recurring failures: while a database is unavailable every request fails, and a line for each would bury all others. */
import { isUnavailable } from "../../db/unavailable.ts";
import type { EpochMs } from "../text/instant.ts";

/** When it happened, what was thrown, and the id of the request, or null outside a request. */
export type LoggedFailure = [time: EpochMs, error: unknown, requestId: string | null];

const REMIND_MS = 60_000;

type Minute = { omitted: number; newest: LoggedFailure; timer: ReturnType<typeof setTimeout> };

/** The first failure of a kind is written at once, then each minute the newest and how many were left out. A kind has one message. */
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
