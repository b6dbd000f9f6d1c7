/**
 * Who may call a route. Every route file uses one of these two. Both run before Elysia validates parameters, so a request without a valid
 * key learns nothing about its parameters (D-2).
 */
import { Elysia } from "elysia";
import { addUse, refresh } from "../accounts/access.ts";
import { authenticate, requireSubscription } from "./authenticate.ts";
import type { Call, PathParameters } from "./call.ts";
import { callOf, validatedFrom } from "./quirks.ts";
import { requireAllowance } from "./rate-limit.ts";

/** Key (401), subscription (403), rate limit (429). */
export const withKey = new Elysia().derive({ as: "scoped" }, async ({ request, route, params }) => {
  const call = routed(request, route, params);
  const { access } = call.service;
  // Usually there is nothing to wait for, here and below, and an await is not free.
  const updating = refresh(access);
  if (updating !== undefined) await updating;
  call.key = authenticate(access, call.headers, call.startedAt);
  requireSubscription(call.key);
  const allowance = addUse(access, call.key, call.startedAt);
  call.allowance = allowance instanceof Promise ? await allowance : allowance;
  requireAllowance(call.allowance);
  return validatedFrom(call);
});

/** Open to everyone, not counted, and parameters are ignored (D-6). */
export const withoutKey = new Elysia().derive({ as: "scoped" }, ({ request, route, params }) => ({ call: routed(request, route, params) }));

/** The call of a request for which a route was found. */
export function routed(request: Request, route: string, params: PathParameters): Call {
  const call = callOf(request);
  call.route = route;
  call.params = params;
  return call;
}
