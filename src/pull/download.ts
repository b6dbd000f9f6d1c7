/**
 * Downloads a response to a file: retries temporary failures, resumes interrupted ones (RFC 9110 §13, §14), rejects other types and sizes.
 * Messages show URLs without their query: it may contain a key.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { readRetryAfterMs, retryDelayMs } from "../../clients/typescript/src/backoff.ts";
import { hideKey } from "../../clients/typescript/src/hide-key.ts";
import { Failure, messageOf } from "../../db/reason.ts";
import { version } from "../runtime/version.ts";
import { withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { publicUrl, requestFailure } from "../text/request-failure.ts";

export type DownloadRequest = {
  url: URL;
  /** Media types that the response may have; any if empty. */
  types: readonly string[];
  bytesMax: number;
  /** Only so many bytes are wanted: a longer response is cut off. */
  headBytes?: number;
  isRange?: boolean;
  body?: URLSearchParams | object;
  cookies?: string;
  isMissing?: (response: Response) => boolean;
  /** In `url` or `keyHeader`: no message repeats it. */
  key?: string | undefined;
  /** The header with the key, sent to the host of `url` alone. */
  keyHeader?: string;
  /** How long to wait after a 429 that does not say it. */
  busyMs?: number;
};

export type Net = {
  /** Requests and redirects go to these hosts only. A host has its port, unless that is the default one. */
  hosts: readonly string[];
  allowHttp: boolean;
  /** An e-mail address or page of the operator, which the upstream sees. */
  contact?: string | undefined;
  /** Throws if the host does not allow programs to fetch this address, also of a redirect. */
  requirePermission?: (url: URL) => Promise<void>;
  timeouts: Timeouts;
  now: () => EpochMs;
  random: () => number;
  /** Returns early if `stop` is aborted. */
  wait: (ms: number, stop: AbortSignal) => Promise<void>;
  stop: AbortSignal;
  /** For each piece of a response. `response` counts them from 1; `planned` is how many it will be. */
  progress: (bytes: number, total: number | undefined, response?: number, planned?: number) => void;
  attempts?: number;
  fetch?: (url: string, request: SentRequest) => Promise<Response>;
};

type SentRequest = { method?: string; headers: Record<string, string>; body?: string; redirect: "manual"; signal: AbortSignal };

/** Another attempt may succeed, after the delay that the upstream requires. */
class TemporaryError extends Error {
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** For the start of a response, between two pieces of it, and for all of it. */
type Timeouts = { responseMs: number; silenceMs: number; totalMs: number };

/** Response headers that show later whether a file has changed (RFC 9110 §8.8). */
export type FileValidators = { etag: string | null; last_modified: string | null };

export type DownloadResult = { outcome: "saved"; validators: FileValidators; cookies: string } | { outcome: "unchanged" | "missing" };

const ATTEMPTS_MAX = 5;
const RETRY_AFTER_MAX_MS = 5 * 60_000;
const REDIRECTS_MAX = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const TEMPORARY: readonly number[] = [408, 425, 429, 500, 502, 503, 504];
/**
 * Downloads to a new file, which remains only if the outcome is "saved". `known` makes the request conditional. Throws an Error that names
 * the URL.
 */
export async function download(net: Net, request: DownloadRequest, path: string, known?: FileValidators): Promise<DownloadResult> {
  const file = await open(path, "ax", 0o600);
  let result: DownloadResult | undefined;
  try {
    result = await downloadWithRetries(net, request, { file, bytes: 0, total: undefined, etag: undefined }, known);
    return result;
  } catch (error) {
    // Without a cause: the message of the runtime may contain the key.
    throw new Failure(hideKey(`Cannot fetch ${publicUrl(request.url)}: ${messageOf(error)}`, request.key));
  } finally {
    await file.close();
    if (result?.outcome !== "saved") await rm(path);
  }
}

type PartialFile = { file: FileHandle; bytes: number; total: number | undefined; etag: string | undefined };

async function downloadWithRetries(
  net: Net,
  request: DownloadRequest,
  partial: PartialFile,
  known: FileValidators | undefined,
): Promise<DownloadResult> {
  for (let attempt = 1; ; attempt++) {
    if (net.stop.aborted) throw new Error("it was stopped");
    try {
      return await downloadOnce(net, request, partial, known);
    } catch (error) {
      if (!(error instanceof TemporaryError)) throw error;
      const { message, retryAfterMs } = error;
      if (retryAfterMs !== undefined && retryAfterMs > RETRY_AFTER_MAX_MS)
        throw new Error(`${message} and asked to wait ${Math.round(retryAfterMs / 1000)} s`);
      if (attempt === (net.attempts ?? ATTEMPTS_MAX)) throw new Error(attempt === 1 ? message : `${message} (tried ${attempt} times)`);
      await net.wait(retryDelayMs(retryAfterMs, attempt, net.random), net.stop);
    }
  }
}

async function downloadOnce(net: Net, request: DownloadRequest, partial: PartialFile, known?: FileValidators): Promise<DownloadResult> {
  const timer = startTimer(net);
  try {
    const tag = partial.bytes > 0 && request.headBytes === undefined ? partial.etag : undefined;
    const resumed = tag !== undefined;
    const conditions = {
      ...(resumed && { range: `bytes=${partial.bytes}-`, "if-range": tag }),
      ...(!resumed && request.isRange && { range: `bytes=0-${(request.headBytes ?? request.bytesMax) - 1}` }),
      ...(!resumed && known?.etag != null && { "if-none-match": known.etag }),
      ...(!resumed && known?.last_modified != null && { "if-modified-since": known.last_modified }),
    };
    const { response, cookies } = await fetchFollowingRedirects(net, request, conditions, timer);
    if (response.status === 304 && known !== undefined && !resumed) return { outcome: "unchanged" };
    if (request.isMissing?.(response) ?? response.status === 404) return { outcome: "missing" };
    requireStatus(response, resumed || request.isRange === true, partial, net.now(), request.busyMs);
    requireType(response, request);
    await prepareFile(partial, response, request);
    await saveBody(net, request, partial, response, timer);
    const validators = { etag: response.headers.get("etag"), last_modified: response.headers.get("last-modified") };
    return { outcome: "saved", validators, cookies };
  } finally {
    timer.end();
  }
}

/* The request */

/**
 * Follows redirects itself, to check each URL before, and because a session may begin with one. Its cookies go to its own host only.
 * `verbose: false` overrides BUN_CONFIG_VERBOSE_FETCH, which would print URL and headers.
 */
async function fetchFollowingRedirects(
  net: Net,
  { url, types, body, cookies, key, keyHeader }: DownloadRequest,
  conditions: Record<string, string>,
  timer: Timer,
): Promise<{ response: Response; cookies: string }> {
  const headers = {
    accept: types.join(", ") || "*/*",
    "accept-encoding": "identity",
    // The DoD portal rejects clients that do not look like a browser.
    "user-agent": `Mozilla/5.0 (compatible; fundfeed/${version}${net.contact === undefined ? "" : `; ${net.contact}`})`,
    ...conditions,
  };
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  const post = { method: "POST", body: isForm ? `${body}` : JSON.stringify(body), headers: { ...headers, "content-type": type } };
  const request = { ...(body === undefined ? { headers } : post), redirect: "manual", signal: timer.signal, verbose: false } as const;
  let address = url;
  let session = cookies ?? "";
  for (let hops = 0; ; hops++) {
    requireAllowed(address, net);
    await net.requirePermission?.(address);
    const isOwn = address.host === url.host;
    const secret = { ...(session !== "" && { cookie: session }), ...(keyHeader !== undefined && { [keyHeader]: key ?? "" }) };
    const sent = { ...request, headers: { ...request.headers, ...(isOwn && secret) } };
    const response = await withTimer(timer, (net.fetch ?? fetch)(address.href, sent));
    if (isOwn) session = withCookies(session, response);
    if (!REDIRECTS.includes(response.status)) return { response, cookies: session };
    if (hops === REDIRECTS_MAX) throw new Error(`it redirects more than ${REDIRECTS_MAX} times`);
    if (body !== undefined) throw new Error("it redirects a POST request");
    address = redirectTarget(response, address, net);
  }
}

function requireAllowed({ protocol, host }: URL, { allowHttp, hosts }: Net): void {
  if (protocol !== "https:" && !(allowHttp && protocol === "http:"))
    throw new Error(`${protocol}//${host} is not https; use --allow-http to fetch without TLS`);
  if (!hosts.includes(host)) throw new Error(`${host} is not one of the allowed hosts: ${hosts.join(", ")}`);
}

function redirectTarget(response: Response, from: URL, { hosts }: Net): URL {
  const to = URL.parse(response.headers.get("location") ?? "", from.href);
  if (to === null) throw new Error("it redirects without a valid address");
  if (from.protocol === "https:" && to.protocol !== "https:") throw new Error(`it redirects from https to ${to.protocol}//${to.host}`);
  if (!hosts.includes(to.host)) throw new Error(`it redirects to ${to.host}, which is not one of its hosts: ${hosts.join(", ")}`);
  return to;
}

/* The response */

function requireStatus({ status, headers }: Response, resumed: boolean, partial: PartialFile, now: number, busyMs?: number): void {
  if (status === 200 || (status === 206 && resumed)) return;
  if (status === 416 && resumed) throw restarting(partial, "it became shorter during the download");
  const standardMs = status === 429 ? busyMs : undefined;
  if (TEMPORARY.includes(status)) throw new TemporaryError(`it returned ${status}`, readRetryAfterMs(headers, now) ?? standardMs);
  throw new Error(`it returned ${status}`);
}

function restarting(partial: PartialFile, reason: string): TemporaryError {
  partial.etag = undefined;
  return new TemporaryError(reason);
}

/** The media type without parameters; "" if the response has none. */
export function mediaType({ headers }: Pick<Response, "headers">): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Pages such as "down for maintenance" often come with status 200. */
function requireType(response: Response, { types }: DownloadRequest): void {
  const type = mediaType(response);
  if (types.length > 0 && !types.includes(type))
    throw new Error(`it has ${type === "" ? "no content type" : `the content type ${type}`}, not ${types[0]}`);
}

async function prepareFile(partial: PartialFile, { status, headers }: Response, { bytesMax, headBytes }: DownloadRequest): Promise<void> {
  const etag = headers.get("etag") ?? undefined;
  const encoded = headers.has("content-encoding"); // Although we asked for none. Content-Length is of the encoded.
  if (status === 206 && headBytes === undefined) {
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
    if (encoded || Number(start) !== partial.bytes || Number(total) !== partial.total || etag !== partial.etag)
      throw restarting(partial, "it changed during the download");
    return;
  }
  await partial.file.truncate(0);
  partial.bytes = 0;
  const length = headers.get("content-length");
  partial.total = encoded || length === null ? undefined : Number(length);
  partial.etag = partial.total !== undefined && headers.get("accept-ranges") === "bytes" && etag?.startsWith('"') ? etag : undefined;
  if (headBytes === undefined && partial.total !== undefined && partial.total > bytesMax) throw tooLarge(bytesMax);
}

function tooLarge(bytesMax: number): Error {
  return new Error(`it has more than ${withCommas(bytesMax / 1024 ** 2)} MiB`);
}

async function saveBody(
  net: Net,
  { bytesMax, headBytes }: DownloadRequest,
  partial: PartialFile,
  { body }: Response,
  timer: Timer,
): Promise<void> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await withTimer(timer, reader.read());
    if (done) break;
    if (headBytes === undefined && partial.bytes + value.length > bytesMax) throw tooLarge(bytesMax);
    const wanted = headBytes === undefined ? value : value.subarray(0, headBytes - partial.bytes);
    await partial.file.appendFile(wanted);
    partial.bytes += wanted.length;
    net.progress(partial.bytes, partial.total);
    if (headBytes !== undefined && partial.bytes >= headBytes) return;
  }
  if (partial.total !== undefined && partial.bytes !== partial.total)
    throw new TemporaryError(`it ended after ${partial.bytes} of ${partial.total} bytes`);
}

function withCookies(session: string, { headers }: Response): string {
  const all = [...session.split("; "), ...headers.getSetCookie().map((cookie) => cookie.split(";", 1)[0]?.trim() ?? "")];
  const byName = new Map(all.filter((cookie) => cookie !== "").map((cookie) => [cookie.split("=", 1)[0], cookie]));
  return [...byName.values()].join("; ");
}

/* Time */

type Timer = { signal: AbortSignal; restart: () => void; end: () => void };

/** Aborts at silence, after the total time, or at `stop`. */
function startTimer({ timeouts, stop }: Net): Timer {
  const { responseMs, silenceMs, totalMs } = timeouts;
  const cut = new AbortController();
  const after = (ms: number, reason: string) => setTimeout(() => cut.abort(new TemporaryError(`${reason} ${ms / 1000} s`)), ms);
  const total = after(totalMs, "it took longer than");
  let silence = after(responseMs, "it did not respond within");
  return {
    signal: AbortSignal.any([cut.signal, stop]),
    restart: () => {
      clearTimeout(silence);
      silence = after(silenceMs, "it sent nothing for");
    },
    end: () => {
      clearTimeout(total);
      clearTimeout(silence);
      cut.abort(); // Discards the rest of the response.
    },
  };
}

/** Throws a TemporaryError for network failures that may pass. */
async function withTimer<T>(timer: Timer, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    timer.restart();
    return value;
  } catch (error) {
    if (timer.signal.aborted && timer.signal.reason instanceof TemporaryError) throw timer.signal.reason;
    const { reason, isFinal } = requestFailure(error);
    throw isFinal ? new Error(reason) : new TemporaryError(reason);
  }
}
