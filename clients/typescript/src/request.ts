/** One request: sent again after temporary failures, as often and as late as the server wants, and to no other address. */

import { readRetryAfterMs, retryDelayMs } from "./backoff.ts";
import { ConnectionError, FundfeedError, ProblemError, ResponseError, TooLongError } from "./errors.ts";
import { hideKey } from "./hide-key.ts";
import { parseBounded } from "./json-scan.ts";
import type { ProblemDetails } from "./schemas.ts";

/** Where to send requests, and how. */
export type RequestOptions = {
  /** The address of the API with its version: `https://api.example.org/v1`. */
  baseUrl: string;
  /** The API key. `getMeta` needs none, nor does a server of your own that adds it. */
  key?: string;
  /** Further headers of every request. */
  headers?: Readonly<Record<string, string>>;
  /** Ends requests and waits. What it is aborted with is thrown. */
  signal?: AbortSignal;
  /** How long a response may take; 60,000 unless given. */
  timeoutMs?: number;
  /** How often a request that fails for a time is sent; six times unless given. Waiting for a rate limit is no failure. */
  attempts?: number;
  /** The longest wait. If the server wants a longer one, its error is thrown at once. Two minutes unless given: a day's quota is not waited for. */
  waitMaxMs?: number;
  /** Called before each wait. */
  onWait?: (ms: number, error: FundfeedError) => void;
  /** Sends a request, without following redirects; the `fetch` of the platform unless given. */
  fetch?: (request: Request) => Promise<Response>;
  /** Returns after so many milliseconds, or when the signal is aborted. */
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to 1, which keeps clients that failed together from returning together. */
  random?: () => number;
};

/** A JSON object. */
export type JsonMembers = Record<string, unknown>;

/** A response with its body; `undefined` if it is 304. */
export type Answer = { body: JsonMembers | undefined; headers: Headers };

const TIMEOUT_MS = 60_000;
const ATTEMPTS = 6;
const WAIT_MAX_MS = 120_000;
/** The most bytes of a response, decompressed. A line of an import has at most 16 MiB, so one record alone fits. */
const RESPONSE_BYTES_MAX = 64 * 1024 ** 2;
/** The most characters of a server's own words in a message. */
const QUOTED_MAX = 300;
/** Codes of a certificate that is not trusted, which another attempt does not change. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ALTNAME|HOSTNAME_MISMATCH|^INVALID_(CA|PURPOSE)$/;

/** Sends a GET request until it has a response with status 200 or 304. Throws a FundfeedError for any other. */
export async function request(options: RequestOptions, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { attempts = ATTEMPTS, waitMaxMs = WAIT_MAX_MS, signal, wait = sleep, random = Math.random } = options;
  for (let failures = 0; ; ) {
    signal?.throwIfAborted();
    try {
      return await requestOnce(options, path, headers);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof FundfeedError && error.isTemporary)) throw error;
      const retryAfterMs = error instanceof ProblemError ? error.retryAfterMs : undefined;
      const isLimit = error instanceof ProblemError && error.status === 429 && retryAfterMs !== undefined; // Waiting always helps.
      if (retryAfterMs !== undefined && retryAfterMs > waitMaxMs) throw error;
      if (!isLimit && ++failures >= attempts) {
        if (failures > 1) error.message += ` (tried ${failures} times)`;
        throw error;
      }
      const ms = Math.min(retryDelayMs(retryAfterMs, failures, random), waitMaxMs);
      options.onWait?.(ms, error);
      signal?.throwIfAborted();
      await wait(ms, signal);
    }
  }
}

async function requestOnce(options: RequestOptions, path: string, headers: Record<string, string>): Promise<Answer> {
  const response = await exchange(options, path, headers);
  if (response.status === 304) return { body: undefined, headers: response.headers };
  const body = parsed(response.text);
  if (response.status === 200) {
    if (body === undefined) throw new ResponseError("the response is incomplete or not JSON", true);
    return { body, headers: response.headers };
  }
  // Redirects are not followed: the key must go to this address only. A browser tells nothing about them but that they are.
  if (response.status < 400)
    throw new ResponseError(`the server redirects to ${targetOf(response, options.key)}; use that URL instead`, false);
  throw problemError(response, withoutKey(body ?? {}, options.key));
}

/** The body of an error without the key, which a server may repeat, however its JSON spells it. Nothing of a body that is nested too deep. */
function withoutKey(body: JsonMembers, key: string | undefined): JsonMembers {
  try {
    return parsed(hideKey(JSON.stringify(body), key)) ?? {};
  } catch {
    return {};
  }
}

function problemError({ status, headers }: Pick<Response, "status" | "headers">, body: JsonMembers): ProblemError {
  const problem = problemOf(body);
  const said = problem.detail === undefined ? "" : `: ${quoted(problem.detail)}`;
  const id = problem.request_id === undefined ? "" : ` (request ${problem.request_id})`;
  const code = problem.code === undefined ? "" : ` ${problem.code}`;
  const retryAfterMs = readRetryAfterMs(headers, Date.parse(headers.get("date") ?? "")); // By the server's clock.
  return new ProblemError(`the server returned ${status}${code}${said}${id}`, { status, problem, retryAfterMs });
}

/** The members of a problem that have the right type. Code and request id stand in messages without quotes, so they are words. */
function problemOf({ errors, status, ...body }: JsonMembers): Partial<ProblemDetails> {
  const texts = (["type", "title", "code", "detail", "instance", "request_id"] as const).filter((name) => {
    const value = body[name];
    return typeof value === "string" && (!/^(code|request_id)$/.test(name) || /^[\w-]{1,64}$/.test(value));
  });
  return {
    ...(Object.fromEntries(texts.map((name) => [name, body[name]])) as Partial<ProblemDetails>),
    ...(typeof status === "number" && { status }),
    ...(Array.isArray(errors) && { errors: errors.filter((each) => isJsonObject(each) && typeof each.field === "string") }),
  };
}

/** The server's words in quotes, on one line, without characters that hide or reorder text: they must not pass for ours. */
function quoted(text: string): string {
  const visible = text.replace(/[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]+/gu, " ").trim();
  return JSON.stringify(visible.length > QUOTED_MAX ? `${visible.slice(0, QUOTED_MAX).replace(/[\ud800-\udbff]$/, "")}…` : visible);
}

/** The address without credentials, query and fragment. */
function targetOf({ headers, url }: Received, key: string | undefined): string {
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, url)) return "an unknown address";
  const { origin, pathname } = new URL(location, url);
  return quoted(hideKey(origin + pathname, key));
}

type Received = { status: number; headers: Headers; text: string; url: string };

async function exchange(options: RequestOptions, path: string, headers: Record<string, string>): Promise<Received> {
  const { baseUrl, key, fetch: send = (request) => fetch(request), signal, timeoutMs = TIMEOUT_MS } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const request = new Request(baseUrl.replace(/\/+$/, "") + path, {
    headers: { ...options.headers, ...headers, Accept: "application/json", ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
    redirect: "manual",
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  });
  try {
    const response = await send(request);
    const text = await wholeText(response);
    return { status: response.status, headers: response.headers, text, url: request.url };
  } catch (error) {
    if (error instanceof FundfeedError) throw error;
    if (timeout.aborted) throw new ConnectionError(`the server sent no whole response within ${timeoutMs / 1000} s`, true);
    const code = codeOf(error); // The runtime's message may repeat the whole request.
    throw new ConnectionError(`the request failed${code === "" ? "" : ` (${code})`}`, !CERTIFICATE.test(code), { cause: error });
  }
}

/** The code of a failed request. Node wraps the error that has it. */
function codeOf(error: unknown): string {
  for (let each = error; each instanceof Error; each = each.cause)
    if ("code" in each && /^\w{1,60}$/.test(String(each.code))) return String(each.code);
  return "";
}

/** The text of a response. Stops reading, and ends the connection, where it is too long: a few MB can decompress to gigabytes. */
async function wholeText({ body }: Response): Promise<string> {
  const reader = body?.getReader(); // Not every browser can iterate over a stream.
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { value, done = true } = (await reader?.read()) ?? {};
    if (done) return text + decoder.decode();
    bytes += value?.length ?? 0;
    if (bytes > RESPONSE_BYTES_MAX) {
      await reader?.cancel();
      throw new TooLongError(`the response has more than ${RESPONSE_BYTES_MAX / 1024 ** 2} MiB`, false);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** The object of a JSON text; `undefined` if it is none. */
function parsed(text: string): JsonMembers | undefined {
  try {
    const value: unknown = parseBounded(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}
