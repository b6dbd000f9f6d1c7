/** The API as its client sees it: asks again where that helps, waits for as long as it is told to, and shows the key to nobody else. */

import { readRetryAfterMs, retryDelayMs } from "../runtime/retry.ts";
import { version } from "../runtime/version.ts";
import { isObject, type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { publicUrl, requestFailure, withoutKey } from "../text/request-failure.ts";

export type Feed = {
  /** With its version segment: `https://api.example.org/v1`. */
  baseUrl: string;
  key: string;
  fetch: (request: Request) => Promise<Response>;
  /** Returns early when `stop` says so. */
  sleep: (ms: number, stop?: AbortSignal) => Promise<void>;
  /** From 0 to 1: spreads clients that were turned away together. */
  random?: () => number;
  stop?: AbortSignal;
  timeoutMs?: number;
  /** Told of each wait, before it. */
  waiting?: (ms: number, reason: string) => void;
};

/** A page's items, and the cursor of the page after it (`null` on the last). */
export type Page = { items: JsonObject[]; next: string | null };

/** An answer that would be the same the next time. `code` is the problem's. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const PAGE_SIZE = 100;
const TIMEOUT_MS = 60_000;
const ATTEMPTS_MAX = 6;
/** No wait is longer: by then the daily window is another one. */
const WAIT_MAX_MS = 25 * 3_600_000;

/** One page of a list. `filters` with the value `null` are left out. */
export async function readPage(feed: Feed, path: string, filters: Record<string, string | null>, cursor: string | null): Promise<Page> {
  const given = Object.entries({ ...filters, limit: String(PAGE_SIZE), cursor }).filter(
    (each): each is [string, string] => each[1] !== null,
  );
  const { data, meta } = await ask(feed, `${path}?${new URLSearchParams(given)}`);
  const next = nextOf(objectOf(meta));
  if (!Array.isArray(data) || !data.every(isObject) || next === undefined) throw new Refused("", "its answer is not a page of a list");
  if (next !== null && (next === cursor || data.length === 0)) throw new Refused("", "its pages lead nowhere");
  return { items: data, next };
}

/** Codes of the sources that the server names. */
export async function readSourceCodes(feed: Feed): Promise<string[]> {
  const { data } = await ask(feed, "/sources");
  if (!Array.isArray(data) || !data.every(isObject)) throw new Refused("", "its answer is not a list of sources");
  return data.map((source) => memberOf(source, "code"));
}

function nextOf({ has_more, next_cursor }: JsonObject): string | null | undefined {
  if (has_more === false) return null;
  return has_more === true && typeof next_cursor === "string" ? next_cursor : undefined;
}

/** The text of a member that every item must have. */
export function memberOf(item: JsonObject, name: string): string {
  const value = item[name];
  if (typeof value !== "string") throw new Refused("", `its answer has an item without "${name}"`);
  return value;
}

/** Something that may well be otherwise the next time. */
class Passing extends Error {
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** A limit that is used up: waiting helps, and is no attempt. */
class Limited extends Passing {}

async function ask(feed: Feed, target: string): Promise<JsonObject> {
  for (let failures = 0; ; ) {
    try {
      return await askOnce(feed, target);
    } catch (error) {
      if (feed.stop?.aborted) throw new Error("it was stopped");
      if (!(error instanceof Passing)) throw error;
      if (!(error instanceof Limited) && ++failures === ATTEMPTS_MAX) throw new Error(`${error.message} (tried ${failures} times)`);
      const ms = Math.min(retryDelayMs(error.retryAfterMs, failures, feed.random ?? Math.random), WAIT_MAX_MS);
      feed.waiting?.(ms, error.message);
      await feed.sleep(ms, feed.stop);
    }
  }
}

async function askOnce(feed: Feed, target: string): Promise<JsonObject> {
  const { status, headers, text } = await exchange(feed, target);
  const body = parseJson(text);
  if (status === 200) {
    if (!isObject(body)) throw new Passing("its answer is not JSON, or broke off");
    return body;
  }
  const { code, detail, request_id } = objectOf(body);
  const says = `it answered ${[status, code].filter(Boolean).join(" ")}`;
  const reason = typeof detail === "string" ? `${says}: ${detail}${request_id ? ` (request ${request_id})` : ""}` : says;
  const retryAfterMs = readRetryAfterMs(headers, Date.parse(headers.get("date") ?? "")); // By the server's own clock.
  if (status === 429 && retryAfterMs !== undefined) throw new Limited(reason, retryAfterMs);
  if (status >= 500 || status === 429 || status === 408) throw new Passing(reason, retryAfterMs);
  // Not followed: the key is for this address alone.
  if (status >= 300 && status < 400) throw new Refused("", `it redirects to ${redirectOf(headers, feed.key)}; give that address`);
  throw new Refused(typeof code === "string" ? code : "", reason);
}

function redirectOf(headers: Headers, key: string): string {
  return publicUrl(withoutKey(headers.get("location") ?? "nowhere", key));
}

async function exchange(feed: Feed, target: string): Promise<{ status: number; headers: Headers; text: string }> {
  const { baseUrl, key, fetch, stop, timeoutMs = TIMEOUT_MS } = feed;
  const timeout = AbortSignal.timeout(timeoutMs);
  const request = new Request(baseUrl + target, {
    headers: { Accept: "application/json", Authorization: `Bearer ${key}`, "User-Agent": `fundfeed/${version}` },
    redirect: "manual",
    signal: stop === undefined ? timeout : AbortSignal.any([timeout, stop]),
  });
  try {
    const answer = await fetch(request);
    const text = await answer.text();
    // Documents are kept as they were served. An error is shown, and may repeat the key.
    return { status: answer.status, headers: answer.headers, text: answer.status === 200 ? text : withoutKey(text, key) };
  } catch (error) {
    if (timeout.aborted) throw new Passing(`it did not answer within ${timeoutMs / 1000} s`);
    const { reason, isFinal } = requestFailure(error);
    throw isFinal ? new Error(reason) : new Passing(reason);
  }
}
