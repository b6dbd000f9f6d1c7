/** Who may call a route. Both run before parameters are read (D-2). @elysiajs/bearer knows no `bearer` in lower case, and reads keys from queries. */
import { Elysia } from "elysia";
import { type Access, addUse, findKey, type KnownKey, updateAccess } from "../accounts/access.ts";
import { isExpired } from "../accounts/key.ts";
import type { Allowance } from "../quota/allowance.ts";
import { dateAt, type EpochMs } from "../text/instant.ts";
import type { ApiCall, PathParameters } from "./call.ts";
import { Problem } from "./problem.ts";
import { callOf } from "./quirks.ts";

/** Key (401), subscription (403), rate limit (429). */
export const withKey = new Elysia().derive({ as: "scoped" }, async ({ request, route, params }) => {
  const call = completeCall(request, route, params);
  const { access } = call.service;
  // Usually neither of the two is a promise, and an unneeded await costs time at every request.
  const updating = updateAccess(access);
  if (updating !== undefined) await updating;
  call.key = findSentKey(access, call.headers);
  requireActive(call.key, call.startedAt); // After `call.key` is set, so that the log names the key that was refused.
  requireSubscription(call.key);
  const allowance = addUse(access, call.key, call.startedAt);
  call.allowance = allowance instanceof Promise ? await allowance : allowance;
  requireAllowance(call.allowance);
  return { call };
});

/** The key of a request that may call: it is active, and its account has a subscription. Throws a Problem otherwise. */
export async function admitKey(access: Access, headers: Headers, now: EpochMs): Promise<KnownKey> {
  await updateAccess(access);
  const key = findSentKey(access, headers);
  requireActive(key, now);
  requireSubscription(key);
  return key;
}

/** Counts a request as this many uses of a key. Throws a Problem if one of its limits refuses it. */
export async function admitUse(access: Access, key: KnownKey, now: EpochMs, uses = 1): Promise<void> {
  requireAllowance(await addUse(access, key, now, uses), uses);
}

/** Open to everyone and not counted. Parameters are ignored (D-6). */
export const withoutKey = new Elysia().derive({ as: "scoped" }, ({ request, route, params }) => ({
  call: completeCall(request, route, params),
}));

/** The call of a request, completed by the route that was found. */
export function completeCall(request: Request, route: string, params: PathParameters): ApiCall {
  const call = callOf(request);
  call.route = route;
  call.params = params;
  return call;
}

const CHALLENGE = 'Bearer realm="fundfeed"';

/** RFC 6750: the scheme in any letter case, blanks, one token. Two header lines arrive as one value with a comma, which no token contains. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The key of a request. Throws `authentication_required` if there is none, or if it is unknown. Reads no other header (D-21). */
function findSentKey(access: Access, headers: Headers): KnownKey {
  const authorization = headers.get("authorization") ?? "";
  const sent = BEARER.exec(authorization)?.[1];
  const key = sent === undefined ? undefined : findKey(access, sent);
  if (key !== undefined) return key;
  if (/^bearer *[^ ]/i.test(authorization)) throw refusedKey("The key is not valid.");
  throw new Problem("authentication_required", "Send a key as Authorization: Bearer <API_KEY>.", {
    headers: { "WWW-Authenticate": CHALLENGE },
  });
}

/** Throws `authentication_required` for a key that is revoked or has expired. The detail may say so, because its sender holds the key. */
function requireActive({ revoked_at, expires_at }: KnownKey, now: EpochMs): void {
  if (revoked_at !== null) throw refusedKey(`The key was revoked on ${dateAt(revoked_at)}.`);
  if (isExpired(expires_at, now)) throw refusedKey(`The key expired on ${dateAt(expires_at)}.`);
}

function refusedKey(detail: string): Problem {
  return new Problem("authentication_required", detail, { headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` } });
}

function requireSubscription(key: KnownKey): void {
  if (!key.subscribed) throw new Problem("insufficient_entitlement", "The account of this key has no active subscription.");
}

/** Throws `rate_limit_exceeded` if the request was over one of the limits of its key (D-23). */
function requireAllowance({ remaining, limit, retryAfterSeconds }: Allowance, uses = 1): void {
  if (retryAfterSeconds === 0) return;
  const used = remaining < uses ? `${limit} requests for today` : "requests for this minute";
  const wait = retryAfterSeconds === 1 ? "1 second" : `${retryAfterSeconds} seconds`;
  throw new Problem("rate_limit_exceeded", `The key has used up its ${used}. Wait ${wait}.`, {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
