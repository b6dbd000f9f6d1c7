/** Posts JSON to somebody else's server. Its response is not read, and errors never have the whole URL, which may be a secret. */
import { request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIP } from "node:net";
import { readRetryAfterMs } from "../../clients/typescript/src/backoff.ts";
import { codeOf } from "../../db/reason.ts";
import { version } from "../runtime/version.ts";
import type { EpochMs } from "../text/instant.ts";
import { noResponse, requestFailure } from "../text/request-failure.ts";
import { isPublicAddress, PRIVATE_ADDRESS, publicLookup } from "./addresses.ts";
import { DeliveryError, STOPPED } from "./attempts.ts";

type Posting = {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
  allowPrivate: boolean;
  allowHttp: boolean;
  now: EpochMs;
  stop: AbortSignal;
  timeoutMs?: number | undefined;
};

const TIMEOUT_MS = 30_000;

const PRIVATE = "its address is private; --allow-private allows that";

/** Returns once the receiver has accepted the message with a status of 2xx. Throws a DeliveryError if it did not. */
export async function post(posting: Posting): Promise<void> {
  const { url, allowPrivate, allowHttp, now } = posting;
  const host = url.host;
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:"))
    throw new DeliveryError(`Cannot deliver to ${host}: its URL is not https; --allow-http allows that`);
  if (!allowPrivate && isPrivateLiteral(url)) throw new DeliveryError(`Cannot deliver to ${host}: ${PRIVATE}`);
  const { status, headers } = await send(posting).catch((error: unknown) => {
    throw new DeliveryError(`Cannot deliver to ${host}: ${whyNotPosted(error, posting)}`);
  });
  if (status >= 200 && status <= 299) return;
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfterMs(headers, now) : undefined;
  throw new DeliveryError(`Cannot deliver to ${host}: it returned ${status}${meaning(status)}`, retryAfterMs, status === 410);
}

/** For a host that is an address, no lookup is made. */
function isPrivateLiteral({ hostname }: URL): boolean {
  const address = hostname.replace(/^\[|\]$/g, "");
  return isIP(address) !== 0 && !isPublicAddress(address);
}

async function send({ url, headers, body, allowPrivate, stop, timeoutMs = TIMEOUT_MS }: Posting) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; headers: Headers }>();
  const start = url.protocol === "https:" ? requestSecurely : requestPlainly;
  const own = { "content-type": "application/json", "content-length": Buffer.byteLength(body), "user-agent": `fundfeed/${version}` };
  const options = {
    method: "POST",
    headers: { ...own, ...headers },
    agent: false, // A connection for this message only, without a proxy.
    signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]),
    ...(!allowPrivate && { lookup: publicLookup() }),
  };
  const request = start(url, options, ({ statusCode = 0, headers }) => {
    resolve({ status: statusCode, headers: new Headers({ "retry-after": headers["retry-after"] ?? "" }) });
    request.destroy();
  });
  request.on("error", reject);
  request.on("close", () => reject(noResponse()));
  request.end(body);
  return promise;
}

function whyNotPosted(error: unknown, { stop, timeoutMs = TIMEOUT_MS }: Posting): string {
  if (stop.aborted) return STOPPED;
  if (codeOf(error) === PRIVATE_ADDRESS) return PRIVATE;
  if (error instanceof Error && /^(TimeoutError|AbortError)$/.test(error.name)) return `it did not respond within ${timeoutMs / 1000} s`;
  return requestFailure(error).reason;
}

function meaning(status: number): string {
  if (status >= 300 && status <= 399) return ", a redirect, which is not followed";
  return status === 410 ? ", so it wants no more messages" : "";
}
