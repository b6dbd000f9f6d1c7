/** The log: one line per request and per failure, written in batches. It never contains keys, queries or contacts. */
import { isUnavailable } from "../../db/unavailable.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";

export const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

export const logLevels = ["request", "failure", "none"] as const;
export type LogLevel = (typeof logLevels)[number];

export type RequestEntry = {
  time: EpochMs;
  request_id: string;
  method: string;
  route: string | null;
  status: number;
  duration_ms: number;
  account: string | null;
  key_id: string | null;
};

export type Log = {
  request: (entry: RequestEntry) => void;
  failure: (...failure: LoggedFailure) => void;
  /** Logs a failure that may recur: once a minute, with the number left out. */
  recurring: (...failure: LoggedFailure) => void;
  notice: (time: EpochMs, message: string) => void;
  flush: () => void;
};

const BATCH = 512;
const DELAY_MS = 50;

/** Returns a log that passes whole lines, each with its line feed, to `write`. */
export function createLog(format: LogFormat, write: (lines: string) => void, level: LogLevel = "request"): Log {
  let entries: RequestEntry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const line = format === "json" ? jsonLine : textLine;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (entries.length === 0) return;
    const lines = entries.map(line).join("");
    entries = [];
    write(lines);
  };

  const request: Log["request"] = (entry) => {
    entries.push(entry);
    if (entries.length >= BATCH) flush();
    else timer ??= setTimeout(flush, DELAY_MS);
  };
  const writeNow = (line: string) => {
    flush(); // Keeps the lines in order.
    write(line);
  };
  const writeEntry = (time: EpochMs, level: "error" | "notice", fields: object, text: string) =>
    writeNow(
      format === "json"
        ? `${JSON.stringify({ time: formatInstant(time), level, ...fields })}\n`
        : `${formatInstant(time)} ${level} ${text.replaceAll("\n", "\n    ")}\n`, // Indented, so that no line of a text can pass for a line of the log.
    );
  const writeFailure = ([time, error, request_id]: LoggedFailure, left_out: number) => {
    const stack = error instanceof Error ? (error.stack ?? String(error)) : `Thrown: ${String(error)}`;
    const omission = left_out > 0 ? `(${left_out} before it left out) ` : "";
    writeEntry(time, "error", { request_id, error: stack, ...(left_out > 0 && { left_out }) }, `${request_id ?? "-"} ${omission}${stack}`);
  };
  const reminders = createReminders(writeFailure);

  if (level === "none") return { request: ignore, failure: ignore, recurring: ignore, notice: ignore, flush };
  return {
    request: level === "request" ? request : ignore,
    failure: (...failure) => writeFailure(failure, 0),
    recurring: reminders.report,
    notice: (time, message) => writeEntry(time, "notice", { message }, message),
    flush: () => {
      reminders.flush();
      flush();
    },
  };
}

const ignore = () => undefined;

/** Builds the JSON itself: this runs for every request, and `JSON.stringify` of the whole entry takes twice as long. */
function jsonLine({ time, request_id, method, route, status, duration_ms, account, key_id }: RequestEntry): string {
  const text = (value: string | null) => (value === null ? "null" : JSON.stringify(value));
  return `{"time":"${formatInstant(time)}","request_id":"${request_id}","method":${text(method)},"route":${text(route)},"status":${status},"duration_ms":${duration_ms},"account":${text(account)},"key_id":${text(key_id)}}\n`;
}

function textLine({ time, request_id, method, route, status, duration_ms, account, key_id }: RequestEntry): string {
  const caller = key_id === null ? "" : ` ${JSON.stringify(account)} ${key_id}`;
  return `${formatInstant(time)} ${status} ${method} ${route ?? "-"} ${duration_ms} ms ${request_id}${caller}\n`;
}

/** When it happened, what was thrown, and the id of the request, or null outside a request. */
export type LoggedFailure = [time: EpochMs, error: unknown, requestId: string | null];

const REMIND_MS = 60_000;

type Minute = { omitted: number; newest: LoggedFailure; timer: ReturnType<typeof setTimeout> };

/**
 * Limits the lines of recurring failures: while a database is unavailable every request fails. The first failure of a kind is written at once,
 * then each minute the newest and how many were left out. A kind has one message.
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
