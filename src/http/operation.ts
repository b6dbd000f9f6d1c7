/** An operation: what a route does, as data. The server routes by it, and the description of the service is generated from it. */
import type { TSchema } from "@sinclair/typebox";
import type { Call } from "./call.ts";
import type { ProblemCode } from "./problem.ts";
import type { Parameters } from "./query.ts";
import type { Answer } from "./respond.ts";

export type Operation = {
  /** Below the base address; `{id}` is a variable part. */
  path: `/${string}`;
  operationId: string;
  summary: string;
  description: string;
  /** Whether it needs a key; those that do are counted against its limits. */
  needsKey: boolean;
  /** `null`: it ignores parameters (D-6). */
  parameters: Parameters | null;
  contentType: string;
  /** The body of a 200; `null` where it is not JSON of ours. */
  schema: TSchema | null;
  /** Whether it carries validators and answers 304. */
  isConditional: boolean;
  /** Problems of its own; those that any operation has are in `commonProblems` and `keyProblems`. */
  problems: readonly ProblemCode[];
};

/** What any request can meet. */
export const commonProblems = ["method_not_allowed", "internal_error"] as const satisfies readonly ProblemCode[];

/** What a request that needs a key can meet before it is read. */
export const keyProblems = [
  "authentication_required",
  "insufficient_entitlement",
  "rate_limit_exceeded",
  "service_unavailable",
] as const satisfies readonly ProblemCode[];

/** An operation that the server can carry out. */
export type Route = { operation: Operation; answer: (call: Call) => Answer };
