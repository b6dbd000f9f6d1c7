/** A client of the API: retries temporary failures, waits as long as the server requires, and sends the key to no other address. */

import { readRetryAfterMs, retryDelayMs, TemporaryError } from "../runtime/retry.ts";
import { version } from "../runtime/version.ts";
import { HOUR_MS } from "../text/instant.ts";
import { isObject, type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { quoted } from "../text/quoted.ts";
import { hideKey, publicUrl, requestFailure } from "../text/request-failure.ts";
import { type Expected, sourceList } from "./expected.ts";

/** The server to read from, and what a client needs from outside. */
export type ApiClient = {
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
export type ApiPage<Item> = { items: Item[]; next: string | null };

/** What `pageOf` returns: the items of a list, and its cursor. */
type ExpectedPage<Item> = Expected<{ data: Item[]; meta: { has_more: boolean; next_cursor: string | null } }>;

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
/** The most characters of a server's own words in a message. */
const DETAIL_MAX = 300;
/** The longest wait: after that, a new daily window has begun. */
const WAIT_MAX_MS = 25 * HOUR_MS;

/**
 * One page of a list. Leaves out `filters` whose value is `null`. Asks for half as many items if the response is too long. Throws a
 * PermanentError if the response is not such a page.
 */
export async function readPage<Item>(
  client: ApiClient,
  path: string,
  page: ExpectedPage<Item>,
  filters: Record<string, string | null>,
  cursor: string | null,
  limit = PAGE_SIZE,
): Promise<ApiPage<Item>> {
  const given = Object.entries({ ...filters, limit: String(limit), cursor }).filter((each): each is [string, string] => each[1] !== null);
  const response = await request(client, `${path}?${new URLSearchParams(given)}`).catch((error) => {
    if (error instanceof TooLongError && limit > 1) return undefined;
    throw error;
  });
  if (response === undefined) return readPage(client, path, page, filters, cursor, Math.floor(limit / 2));
  const { data, meta } = required(page, response);
  if (meta.has_more && meta.next_cursor === null) throw new PermanentError("", "its response does not say where the list continues");
  const next = meta.has_more ? meta.next_cursor : null;
  if (next !== null && (next === cursor || data.length === 0)) throw new PermanentError("", "its pages do not advance");
  return { items: data, next };
}

/** The sources that the server names. Throws a PermanentError if the response is not a list of sources. */
export async function readSources(client: ApiClient): Promise<{ code: string; name: string }[]> {
  const { data } = required(sourceList, await request(client, "/sources"));
  return data.map(({ code, name }) => ({ code, name }));
}

function required<T>(expected: Expected<T>, response: JsonObject): T {
  const checked = expected(response);
  if ("value" in checked) return checked.value;
  throw new PermanentError("", `its response is not what the API returns: ${checked.wrong} is missing or wrong`);
}

/** A used-up limit. Waiting always helps, so it does not count as a failed attempt. */
class RateLimitError extends TemporaryError {}

async function request(client: ApiClient, target: string): Promise<JsonObject> {
  for (let failures = 0; ; ) {
    try {
      return await requestOnce(client, target);
    } catch (error) {
      if (client.stop?.aborted) throw new Error("it was stopped");
      if (!(error instanceof TemporaryError)) throw error;
      if (!(error instanceof RateLimitError) && ++failures === ATTEMPTS_MAX) throw new Error(`${error.message} (tried ${failures} times)`);
      const ms = Math.min(retryDelayMs(error.retryAfterMs, failures, client.random), WAIT_MAX_MS);
      client.onWait?.(ms, error.message);
      await client.sleep(ms, client.stop);
    }
  }
}

async function requestOnce(client: ApiClient, target: string): Promise<JsonObject> {
  const { status, headers, text } = await exchange(client, target);
  const body = parseJson(text);
  if (status === 200) {
    if (!isObject(body)) throw new TemporaryError("its response is incomplete or not JSON");
    return body;
  }
  const { detail, ...problem } = objectOf(body);
  const [code, requestId] = [wordOf(problem.code), wordOf(problem.request_id)];
  const said = typeof detail === "string" ? `: ${quoted(detail, DETAIL_MAX)}${requestId === "" ? "" : ` (request ${requestId})`}` : "";
  const reason = `it returned ${status}${code === "" ? "" : ` ${code}`}${said}`;
  const retryAfterMs = readRetryAfterMs(headers, Date.parse(headers.get("date") ?? "")); // By the server's clock.
  if (status === 429 && retryAfterMs !== undefined) throw new RateLimitError(reason, retryAfterMs);
  if (status >= 500 || status === 429 || status === 408) throw new TemporaryError(reason, retryAfterMs);
  // Redirects are not followed: the key must go to this address only.
  if (status >= 300 && status < 400)
    throw new PermanentError("", `it redirects to ${redirectOf(headers, client.key)}; use that URL instead`);
  throw new PermanentError(code, reason);
}

/** A value that is a code, "" for any other: it stands in messages without quotes. */
function wordOf(value: unknown): string {
  return typeof value === "string" && /^[\w-]{1,64}$/.test(value) ? value : "";
}

function redirectOf(headers: Headers, key: string): string {
  const location = headers.get("location");
  return location === null ? "an unknown address" : quoted(publicUrl(hideKey(location, key)), DETAIL_MAX);
}

async function exchange(client: ApiClient, target: string): Promise<{ status: number; headers: Headers; text: string }> {
  const { baseUrl, key, fetch, stop, timeoutMs = TIMEOUT_MS } = client;
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
    return { status: response.status, headers: response.headers, text: response.status === 200 ? text : hideKey(text, key) };
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
