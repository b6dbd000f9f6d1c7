/** RFC 6750 bearer keys (D-21). Only the Authorization header is read, never the query or a cookie. */
import { type Access, findKey, type KnownKey } from "../accounts/access.ts";
import { Problem } from "./problem.ts";

const CHALLENGE = 'Bearer realm="fundfeed"';

/** The scheme in any letter case, one or more blanks, one token. Two header lines arrive as one value with a comma, which a token cannot contain. */
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The key that the request presents. Throws if there is none, or it is not valid. */
export function authenticate(access: Access, headers: Headers, now: number): KnownKey {
  const authorization = headers.get("authorization") ?? "";
  const sent = BEARER.exec(authorization)?.[1];
  const key = sent === undefined ? undefined : findKey(access, sent, now);
  if (key !== undefined) return key;

  const wasSent = /^bearer *[^ ]/i.test(authorization);
  throw new Problem("authentication_required", wasSent ? "The key is not valid." : "Send a key as Authorization: Bearer <API_KEY>.", {
    headers: { "WWW-Authenticate": wasSent ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE },
  });
}

/** Throws unless the account of the key has an active subscription. */
export function requireSubscription(key: KnownKey): void {
  if (!key.subscribed) throw new Problem("insufficient_entitlement", "The account of this key has no active subscription.");
}
