/** The log: one line a request and one a failure, written in batches. Keys, queries and contacts never reach it. */
import { formatInstant } from "../text/instant.ts";
import { createReminders, type Failure } from "./recurring.ts";

export const logFormats = ["json", "text"] as const;
export type LogFormat = (typeof logFormats)[number];

/** How much is written: all, all but requests, or nothing. */
export const logLevels = ["request", "failure", "none"] as const;
export type LogLevel = (typeof logLevels)[number];

export type RequestEntry = {
  time: number;
  request_id: string;
  method: string;
  /** The operation's path, not the path that was sent; null where there is none. */
  route: string | null;
  status: number;
  duration_ms: number;
  account: string | null;
  key_id: string | null;
};

export type Log = {
  request: (entry: RequestEntry) => void;
  /** Something that should not happen, with its stack. `request_id` is null outside a request. */
  failure: (...failure: Failure) => void;
  /** One that may go on and on: once a minute, with how many were left out. */
  recurring: (...failure: Failure) => void;
  /** What an operator should know, though nothing failed. One sentence. */
  notice: (time: number, message: string) => void;
  /** Writes what is held back. */
  flush: () => void;
};

/** Entries that are written at once, without waiting for the timer. */
const BATCH = 512;
/** How long an entry is held back at most, in milliseconds. */
const DELAY_MS = 50;

/** `write` takes whole lines, each with its line feed. */
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
    flush(); // The lines stay in the order of what happened.
    write(line);
  };
  const writeFailure = (failure: Failure, leftOut: number) =>
    writeNow(format === "json" ? jsonFailure(failure, leftOut) : textFailure(failure, leftOut));
  const reminders = createReminders(writeFailure);
  const notice: Log["notice"] = (time, message) => writeNow(format === "json" ? jsonNotice(time, message) : textNotice(time, message));

  if (level === "none") return { request: ignore, failure: ignore, recurring: ignore, notice: ignore, flush };
  return {
    request: level === "request" ? request : ignore,
    failure: (...failure) => writeFailure(failure, 0),
    recurring: reminders.tell,
    notice,
    flush: () => {
      reminders.flush();
      flush();
    },
  };
}

const ignore = () => undefined;

/** Spelled out: `JSON.stringify` of the whole takes twice as long, and this is written at every request. */
function jsonLine({ time, request_id, method, route, status, duration_ms, account, key_id }: RequestEntry): string {
  const text = (value: string | null) => (value === null ? "null" : JSON.stringify(value));
  return `{"time":"${formatInstant(time)}","request_id":"${request_id}","method":${text(method)},"route":${text(route)},"status":${status},"duration_ms":${duration_ms},"account":${text(account)},"key_id":${text(key_id)}}\n`;
}

function textLine({ time, request_id, method, route, status, duration_ms, account, key_id }: RequestEntry): string {
  const caller = key_id === null ? "" : ` ${JSON.stringify(account)} ${key_id}`;
  return `${formatInstant(time)} ${status} ${method} ${route ?? "-"} ${duration_ms} ms ${request_id}${caller}\n`;
}

function jsonFailure([time, error, request_id]: Failure, left_out: number): string {
  const entry = { time: formatInstant(time), level: "error", request_id, error: stackOf(error), ...(left_out > 0 && { left_out }) };
  return `${JSON.stringify(entry)}\n`;
}

function textFailure([time, error, requestId]: Failure, leftOut: number): string {
  return `${formatInstant(time)} error ${requestId ?? "-"} ${leftOut > 0 ? `(${leftOut} before it left out) ` : ""}${indented(stackOf(error))}\n`;
}

function jsonNotice(time: number, message: string): string {
  return `${JSON.stringify({ time: formatInstant(time), level: "notice", message })}\n`;
}

function textNotice(time: number, message: string): string {
  return `${formatInstant(time)} notice ${indented(message)}\n`;
}

/** A line of a message looks like no line of the log. */
function indented(text: string): string {
  return text.replaceAll("\n", "\n    ");
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? String(error)) : `Thrown: ${String(error)}`;
}
