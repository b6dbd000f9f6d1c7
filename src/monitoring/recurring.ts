/** Failures that go on, told sparingly: a database that is away fails every request, and a line for each would bury all other lines. */
import { isUnavailable } from "../../db/unavailable.ts";

/** When it happened, what was thrown, and in which request, or null outside of one. */
export type Failure = [time: number, error: unknown, requestId: string | null];

/** How often one that goes on is told of. */
const REMIND_MS = 60_000;

/** Since a failure was told of. */
type Minute = { untold: number; newest: Failure; timer: ReturnType<typeof setTimeout> };

/**
 * `tell` writes the first failure of a kind at once, then at the end of each minute with more of them the newest, and how many before it
 * were left out. `flush` does not wait for that end. All that says that a database is away is one kind, otherwise a kind is a message.
 */
export function createReminders(write: (failure: Failure, leftOut: number) => void) {
  const minutes = new Map<string, Minute>();
  const begin = (kind: string, failure: Failure, leftOut: number) => {
    write(failure, leftOut);
    minutes.set(kind, { untold: 0, newest: failure, timer: setTimeout(end, REMIND_MS, kind).unref() });
  };
  const end = (kind: string) => {
    const minute = minutes.get(kind);
    minutes.delete(kind);
    if (minute !== undefined && minute.untold > 0) begin(kind, minute.newest, minute.untold - 1);
  };
  return {
    tell(...failure: Failure): void {
      const kind = isUnavailable(failure[1]) ? "unavailable" : String(failure[1]);
      const minute = minutes.get(kind);
      if (minute === undefined) begin(kind, failure, 0);
      else Object.assign(minute, { untold: minute.untold + 1, newest: failure });
    },
    flush(): void {
      for (const { untold, newest, timer } of minutes.values()) {
        clearTimeout(timer);
        if (untold > 0) write(newest, untold - 1);
      }
      minutes.clear();
    },
  };
}
