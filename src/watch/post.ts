/** Posts JSON to somebody else's server. Its response is not read, and errors never have the whole URL, which may be a secret. */
import { type LookupAddress, lookup } from "node:dns";
import { request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { readRetryAfterMs } from "../../clients/typescript/src/backoff.ts";
import { codeOf } from "../../db/reason.ts";
import { version } from "../runtime/version.ts";
import type { EpochMs } from "../text/instant.ts";
import { noResponse, requestFailure } from "../text/request-failure.ts";
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

/** IANA's special-purpose addresses (RFC 6890) and multicast. */
const SPECIAL_RANGES = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Within the global unicast addresses 2000::/3: special purposes with Teredo, documentation and 6to4, which hold an IPv4 address.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
];

const blocked = new BlockList();
for (const range of SPECIAL_RANGES) {
  const [network = "", bits] = range.split("/");
  blocked.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address belongs to the public internet. An IPv4 address within IPv6 does not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !blocked.check(address, "ipv4");
  return version === 6 && globalUnicast.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

export const PRIVATE_ADDRESS = "EPRIVATEADDRESS";

type Resolve = (host: string, options: { all: true }, done: (error: Error | null, found: LookupAddress[]) => void) => void;

/** Finds public addresses only, and connects to those: a name server that answers differently the second time gains nothing. */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, "");
      const allowed = found.filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (first === undefined) return done(Object.assign(new Error("private address"), { code: PRIVATE_ADDRESS }), "");
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}
