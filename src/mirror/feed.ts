/** A client of the API: retries temporary failures, waits as long as the server requires, and sends the key to no other address. */
import { readRetryAfterMs, retryDelayMs, TemporaryError } from "../runtime/retry.ts";
import { version } from "../runtime/version.ts";
import { isObject, type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { publicUrl, requestFailure, withoutKey } from "../text/request-failure.ts";

/** The server to read from, and what a client needs from outside. */
export type Feed = {
  /** With its version segment: `https://api.example.org/v1`. */
  baseUrl: string;
  key: string;
  fetch: (request: Request) => Promise<Response>;
  /** Returns early if `stop` is aborted. */
  sleep: (ms: number, stop?: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to 1, which spreads the retries of clients that failed together. */
  random: () => number;
  stop?: AbortSignal;
  timeoutMs?: number;
  /** Called before each wait. */
  onWait?: (ms: number, reason: string) => void;
};

/** The items of a page, and the cursor of the next page; `null` on the last one. */
export type Page = { items: JsonObject[]; next: string | null };

/** A response that another attempt would not change. `code` is that of the problem, or "". */
export class PermanentError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A response that is longer than `RESPONSE_BYTES_MAX`. */
class TooLongError extends PermanentError {}

const PAGE_SIZE = 100;
const TIMEOUT_MS = 60_000;
/** The most bytes of a response, decompressed. A line of an import has at most 16 MiB, so one record alone fits. */
const RESPONSE_BYTES_MAX = 64 * 1024 ** 2;
const ATTEMPTS_MAX = 6;
/** The longest wait: after that, a new daily window has begun. */
const WAIT_MAX_MS = 25 * 3_600_000;

/**
 * One page of a list. Leaves out `filters` whose value is `null`. Asks for half as many items if the response is too long. Throws a
 * PermanentError if the response is not a page.
 */
export async function readPage(
  feed: Feed,
  path: string,
  filters: Record<string, string | null>,
  cursor: string | null,
  limit = PAGE_SIZE,
): Promise<Page> {
  const given = Object.entries({ ...filters, limit: String(limit), cursor }).filter((each): each is [string, string] => each[1] !== null);
  const response = await request(feed, `${path}?${new URLSearchParams(given)}`).catch((error) => {
    if (error instanceof TooLongError && limit > 1) return undefined;
    throw error;
  });
  if (response === undefined) return readPage(feed, path, filters, cursor, Math.floor(limit / 2));
  const { data, meta } = response;
  const next = nextOf(objectOf(meta));
  if (!Array.isArray(data) || !data.every(isObject) || next === undefined)
    throw new PermanentError("", "its response is not a page of a list");
  if (next !== null && (next === cursor || data.length === 0)) throw new PermanentError("", "its pages do not advance");
  return { items: data, next };
}

/** One resource. Throws a PermanentError with the code `not_found` if there is none. */
export async function readResource(feed: Feed, path: string): Promise<JsonObject> {
  const { data } = await request(feed, path);
  if (!isObject(data)) throw new PermanentError("", "its response is not a resource");
  return data;
}

/** The sources that the server names. Throws a PermanentError if the response is not a list of sources. */
export async function readSources(feed: Feed): Promise<{ code: string; name: string }[]> {
  const { data } = await request(feed, "/sources");
  if (!Array.isArray(data) || !data.every(isObject)) throw new PermanentError("", "its response is not a list of sources");
  return data.map((source) => ({ code: memberOf(source, "code"), name: memberOf(source, "name") }));
}

function nextOf({ has_more, next_cursor }: JsonObject): string | null | undefined {
  if (has_more === false) return null;
  return has_more === true && typeof next_cursor === "string" ? next_cursor : undefined;
}

/** A text that every item must have. Throws a PermanentError if it is missing. */
export function memberOf(item: JsonObject, name: string): string {
  const value = item[name];
  if (typeof value !== "string") throw new PermanentError("", `its response has an item without "${name}"`);
  return value;
}

/** A used-up limit. Waiting always helps, so it does not count as a failed attempt. */
class RateLimitError extends TemporaryError {}

async function request(feed: Feed, target: string): Promise<JsonObject> {
  for (let failures = 0; ; ) {
    try {
      return await requestOnce(feed, target);
    } catch (error) {
      if (feed.stop?.aborted) throw new Error("it was stopped");
      if (!(error instanceof TemporaryError)) throw error;
      if (!(error instanceof RateLimitError) && ++failures === ATTEMPTS_MAX) throw new Error(`${error.message} (tried ${failures} times)`);
      const ms = Math.min(retryDelayMs(error.retryAfterMs, failures, feed.random), WAIT_MAX_MS);
      feed.onWait?.(ms, error.message);
      await feed.sleep(ms, feed.stop);
    }
  }
}

async function requestOnce(feed: Feed, target: string): Promise<JsonObject> {
  const { status, headers, text } = await exchange(feed, target);
  const body = parseJson(text);
  if (status === 200) {
    if (!isObject(body)) throw new TemporaryError("its response is incomplete or not JSON");
    return body;
  }
  const { code, detail, request_id } = objectOf(body);
  const returned = `it returned ${[status, code].filter(Boolean).join(" ")}`;
  const reason = typeof detail === "string" ? `${returned}: ${detail}${request_id ? ` (request ${request_id})` : ""}` : returned;
  const retryAfterMs = readRetryAfterMs(headers, Date.parse(headers.get("date") ?? "")); // By the server's clock.
  if (status === 429 && retryAfterMs !== undefined) throw new RateLimitError(reason, retryAfterMs);
  if (status >= 500 || status === 429 || status === 408) throw new TemporaryError(reason, retryAfterMs);
  // Redirects are not followed: the key must go to this address only.
  if (status >= 300 && status < 400) throw new PermanentError("", `it redirects to ${redirectOf(headers, feed.key)}; use that URL instead`);
  throw new PermanentError(typeof code === "string" ? code : "", reason);
}

function redirectOf(headers: Headers, key: string): string {
  return publicUrl(withoutKey(headers.get("location") ?? "an unknown address", key));
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
    const response = await fetch(request);
    const text = await wholeText(response);
    // Documents are stored as they were served. Errors are printed, and may repeat the key.
    return { status: response.status, headers: response.headers, text: response.status === 200 ? text : withoutKey(text, key) };
  } catch (error) {
    if (error instanceof TooLongError) throw error;
    if (timeout.aborted) throw new TemporaryError(`it did not respond within ${timeoutMs / 1000} s`);
    const { reason, isFinal } = requestFailure(error);
    throw isFinal ? new Error(reason) : new TemporaryError(reason);
  }
}

/** The text of a response. Stops reading, and ends the connection, where it is too long: a few MB can decompress to gigabytes. */
async function wholeText({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > RESPONSE_BYTES_MAX) throw new TooLongError("", `its response has more than ${RESPONSE_BYTES_MAX / 1024 ** 2} MiB`);
    pieces.push(piece);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}
