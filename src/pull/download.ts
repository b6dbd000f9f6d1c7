/**
 * One answer of an upstream, saved to a file: asked for again where that helps, resumed where the upstream lets us (RFC 9110 §13, §14),
 * and refused by name where it is not what it should be. Addresses are shown without their query: keys travel there.
 */
import { type FileHandle, open, rm } from "node:fs/promises";
import { messageOf } from "../../db/reason.ts";
import { readRetryAfterMs, retryDelayMs } from "../runtime/retry.ts";
import { version } from "../runtime/version.ts";
import { publicUrl, requestFailure, withoutKey } from "../text/request-failure.ts";

export type Wanted = {
  url: URL;
  /** Media types that the answer may have. */
  types: readonly string[];
  bytesMax: number;
  /** JSON to post; without it the request is a GET. */
  body?: object;
  /** The key in `url`, if it has one: no message repeats it. */
  key?: string | undefined;
};

/** Where a download may go, how long it may take, and what it has of the outside. */
export type Net = {
  /** The only hosts that are asked, redirects included; with the port unless it is the scheme's own. */
  hosts: readonly string[];
  allowHttp: boolean;
  timeouts: Timeouts;
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** Returns early when `stop` says so. */
  wait: (ms: number, stop: AbortSignal) => Promise<void>;
  stop: AbortSignal;
  /** Called for each piece of a response; `place` counts the responses of one visit, of `planned` in all. */
  progress: (bytes: number, total: number | undefined, place?: number, planned?: number) => void;
};

/** Until an answer begins, between two pieces of it, and for all of it. */
export type Timeouts = { answerMs: number; silenceMs: number; totalMs: number };

/** What tells an unchanged file, as the upstream gave it. */
export type Validators = { etag: string | null; last_modified: string | null };

export type Answer = { outcome: "saved"; validators: Validators } | { outcome: "unchanged" | "missing" };

const ATTEMPTS_MAX = 5;
/** An upstream that wants to be left alone for longer is taken at its word: the pull ends. */
const RETRY_AFTER_MAX_MS = 5 * 60_000;
const REDIRECTS_MAX = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
const PASSING: readonly number[] = [408, 425, 429, 500, 502, 503, 504];
/** The DoD portal refuses what does not look like a browser. */
const USER_AGENT = `Mozilla/5.0 (compatible; fundfeed/${version})`;

/** Saves to a new file at `path`, of which nothing stays unless the answer is "saved". `known` makes the request conditional. */
export async function download(net: Net, wanted: Wanted, path: string, known?: Validators): Promise<Answer> {
  const file = await open(path, "ax", 0o600);
  let answer: Answer | undefined;
  try {
    answer = await persist(net, wanted, { file, bytes: 0, total: undefined, etag: undefined }, known);
    return answer;
  } catch (error) {
    // Without a cause, and with a new stack: both would hold what the runtime said.
    throw new Error(withoutKey(`Cannot fetch ${publicUrl(wanted.url)}: ${messageOf(error)}`, wanted.key));
  } finally {
    await file.close();
    if (answer?.outcome !== "saved") await rm(path);
  }
}

/** Something that may well be otherwise the next time. */
class Passing extends Error {
  constructor(
    reason: string,
    readonly retryAfterMs?: number,
  ) {
    super(reason);
  }
}

/** What has been saved so far; `etag` where the rest can be asked for. */
type Copy = { file: FileHandle; bytes: number; total: number | undefined; etag: string | undefined };

async function persist(net: Net, wanted: Wanted, copy: Copy, known: Validators | undefined): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    if (net.stop.aborted) throw new Error("it was stopped");
    try {
      return await askOnce(net, wanted, copy, known);
    } catch (error) {
      if (!(error instanceof Passing)) throw error;
      const { message, retryAfterMs } = error;
      if (attempt === ATTEMPTS_MAX) throw new Error(`${message} (tried ${attempt} times)`);
      if (retryAfterMs !== undefined && retryAfterMs > RETRY_AFTER_MAX_MS)
        throw new Error(`${message}, and asks to be left alone for ${Math.round(retryAfterMs / 1000)} s`);
      await net.wait(retryDelayMs(retryAfterMs, attempt, net.random), net.stop);
    }
  }
}

async function askOnce(net: Net, wanted: Wanted, copy: Copy, known: Validators | undefined): Promise<Answer> {
  const watch = watchOver(net);
  try {
    const tag = copy.bytes > 0 ? copy.etag : undefined;
    const resumed = tag !== undefined;
    const conditions = resumed ? { range: `bytes=${copy.bytes}-`, "if-range": tag } : conditionsOf(known);
    const answer = await follow(net, wanted, conditions, watch);
    if (answer.status === 304 && known !== undefined && !resumed) return { outcome: "unchanged" };
    if (answer.status === 404) return { outcome: "missing" };
    refuseStatus(answer, resumed, copy, net.now());
    refuseType(answer, wanted);
    await begin(copy, answer, wanted);
    await save(net, wanted, copy, answer, watch);
    return { outcome: "saved", validators: validatorsOf(answer) };
  } finally {
    watch.end();
  }
}

/* The request */

/**
 * Follows redirects by hand: each hop is checked before it is asked. `verbose: false` overrides BUN_CONFIG_VERBOSE_FETCH, which prints the
 * address and all headers.
 */
async function follow(net: Net, { url, types, body }: Wanted, conditions: Record<string, string>, watch: Watch): Promise<Response> {
  const headers = { accept: types.join(", "), "accept-encoding": "identity", "user-agent": USER_AGENT, ...conditions };
  const post = { method: "POST", body: JSON.stringify(body), headers: { ...headers, "content-type": "application/json" } };
  const request = { ...(body === undefined ? { headers } : post), redirect: "manual", signal: watch.signal, verbose: false } as const;
  let address = url;
  for (let hops = 0; ; hops++) {
    refuseAddress(address, net);
    const answer = await heard(watch, fetch(address.href, request));
    if (!REDIRECTS.includes(answer.status)) return answer;
    if (hops === REDIRECTS_MAX) throw new Error(`it redirects more than ${REDIRECTS_MAX} times`);
    if (body !== undefined) throw new Error("it redirects what is posted");
    address = redirectOf(answer, address, net);
  }
}

function refuseAddress({ protocol, host }: URL, { allowHttp, hosts }: Net): void {
  if (protocol !== "https:" && !(allowHttp && protocol === "http:"))
    throw new Error(`${protocol}//${host} is not https; use --allow-http to fetch without TLS`);
  if (!hosts.includes(host)) throw new Error(`${host} is not one of the hosts that it may be fetched from: ${hosts.join(", ")}`);
}

function redirectOf(answer: Response, from: URL, { hosts }: Net): URL {
  const to = URL.parse(answer.headers.get("location") ?? "", from.href);
  if (to === null) throw new Error("it redirects to nowhere");
  if (from.protocol === "https:" && to.protocol !== "https:") throw new Error(`it redirects from https to ${to.protocol}//${to.host}`);
  if (!hosts.includes(to.host)) throw new Error(`it redirects to ${to.host}, which is not one of its hosts: ${hosts.join(", ")}`);
  return to;
}

function conditionsOf(known: Validators | undefined): Record<string, string> {
  return {
    ...(known?.etag != null && { "if-none-match": known.etag }),
    ...(known?.last_modified != null && { "if-modified-since": known.last_modified }),
  };
}

/* The answer */

function refuseStatus({ status, headers }: Response, resumed: boolean, copy: Copy, now: number): void {
  if (status === 200 || (status === 206 && resumed)) return;
  if (status === 416 && resumed) throw restarting(copy, "it has become shorter while it was read");
  if (PASSING.includes(status)) throw new Passing(`it answered ${status}`, readRetryAfterMs(headers, now));
  throw new Error(`it answered ${status}`);
}

function restarting(copy: Copy, reason: string): Passing {
  copy.etag = undefined;
  return new Passing(reason);
}

/** A page that says "down for maintenance" comes with 200 often enough. */
function refuseType({ headers }: Response, { types }: Wanted): void {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!types.includes(type)) throw new Error(`it is ${type || "of no stated type"}, not ${types[0]}`);
}

/** Goes on where the copy ends when that is what came, else begins anew. */
async function begin(copy: Copy, { status, headers }: Response, { bytesMax }: Wanted): Promise<void> {
  const etag = headers.get("etag") ?? undefined;
  const encoded = headers.has("content-encoding"); // Against our wish, and then its length is not that of what we read.
  if (status === 206) {
    const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get("content-range") ?? "") ?? [];
    if (encoded || Number(start) !== copy.bytes || Number(total) !== copy.total || etag !== copy.etag)
      throw restarting(copy, "it changed while it was read");
    return;
  }
  await copy.file.truncate(0);
  copy.bytes = 0;
  const length = headers.get("content-length");
  copy.total = encoded || length === null ? undefined : Number(length);
  copy.etag = copy.total !== undefined && headers.get("accept-ranges") === "bytes" && etag?.startsWith('"') ? etag : undefined;
  if (copy.total !== undefined && copy.total > bytesMax) throw new Error(`it has ${copy.total} bytes, more than ${bytesMax}`);
}

async function save(net: Net, { bytesMax }: Wanted, copy: Copy, { body }: Response, watch: Watch): Promise<void> {
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await heard(watch, reader.read());
    if (done) break;
    if (copy.bytes + value.length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
    await copy.file.appendFile(value);
    copy.bytes += value.length;
    net.progress(copy.bytes, copy.total);
  }
  if (copy.total !== undefined && copy.bytes !== copy.total) throw new Passing(`it broke off after ${copy.bytes} of ${copy.total} bytes`);
}

function validatorsOf({ headers }: Response): Validators {
  return { etag: headers.get("etag"), last_modified: headers.get("last-modified") };
}

/* Time */

type Watch = { signal: AbortSignal; heard: () => void; end: () => void };

/** Cuts a request off that is silent for too long, takes too long, or is no longer wanted. */
function watchOver({ timeouts, stop }: Net): Watch {
  const { answerMs, silenceMs, totalMs } = timeouts;
  const cut = new AbortController();
  const after = (ms: number, reason: string) => setTimeout(() => cut.abort(new Passing(`${reason} ${ms / 1000} s`)), ms);
  const total = after(totalMs, "it took longer than");
  let silence = after(answerMs, "it did not answer within");
  return {
    signal: AbortSignal.any([cut.signal, stop]),
    heard: () => {
      clearTimeout(silence);
      silence = after(silenceMs, "it fell silent for");
    },
    end: () => {
      clearTimeout(total);
      clearTimeout(silence);
      cut.abort(); // What is left of the answer is not wanted.
    },
  };
}

/** Most of what the network does may pass. */
async function heard<T>(watch: Watch, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    watch.heard();
    return value;
  } catch (error) {
    if (watch.signal.aborted && watch.signal.reason instanceof Passing) throw watch.signal.reason;
    const { reason, isFinal } = requestFailure(error);
    throw isFinal ? new Error(reason) : new Passing(reason);
  }
}
