/** RFC 9457 problem details: every error a client can receive, in one table. */
import { Type } from "@sinclair/typebox";
import { isUnreadable } from "../../db/unavailable.ts";
import { object } from "../text/schema.ts";

export const problems = {
  invalid_parameter: {
    status: 400,
    title: "Invalid parameter",
    description: "A parameter has an invalid value. `errors` names each such parameter and says what its value must be.",
  },
  unsupported_parameter: {
    status: 400,
    title: "Unsupported parameter",
    description: "The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`.",
  },
  invalid_cursor: {
    status: 400,
    title: "Invalid cursor",
    description: "The cursor is damaged, or it belongs to a request with other filters. Start again without it.",
  },
  authentication_required: {
    status: 401,
    title: "Authentication required",
    description: "No key was sent, or the key is not valid. Send `Authorization: Bearer <API_KEY>`.",
  },
  insufficient_entitlement: {
    status: 403,
    title: "Insufficient entitlement",
    description: "The key is valid, but its account has no active subscription.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    description: "No opportunity has that id, or the path does not exist.",
  },
  method_not_allowed: {
    status: 405,
    title: "Method not allowed",
    description: "The service is read-only: it accepts GET and OPTIONS.",
  },
  rate_limit_exceeded: {
    status: 429,
    title: "Rate limit exceeded",
    description: "The key has used up its requests for the day or the minute. Wait as many seconds as `Retry-After` says.",
  },
  internal_error: {
    status: 500,
    title: "Internal error",
    description: "The service failed unexpectedly. Quote `request_id` when you report it.",
  },
  service_unavailable: {
    status: 503,
    title: "Service unavailable",
    description: "The service cannot read its database at the moment. Wait as many seconds as `Retry-After` says.",
  },
} as const satisfies Record<string, { status: number; title: string; description: string }>;

export type ProblemCode = keyof typeof problems;

export type FieldError = { field: string; reason: string };

export const ProblemDetails = object({
  type: Type.String({ format: "uri", description: "Address of the description of this kind of problem." }),
  title: Type.String({ description: "Name of the kind of problem. It never varies." }),
  status: Type.Integer({ minimum: 400, maximum: 599, description: "The HTTP status." }),
  code: Type.String({ description: "The kind of problem, for programs.", examples: Object.keys(problems) }),
  detail: Type.String({ description: "What is wrong with this request." }),
  instance: Type.String({ format: "uri-reference", description: "Path of the request." }),
  request_id: Type.String({ description: "The same as `X-Request-Id`." }),
  errors: Type.Optional(
    Type.Array(
      object({
        field: Type.String({ description: "Name of the parameter." }),
        reason: Type.String({ description: "What its value must be." }),
      }),
      { description: "Every invalid parameter." },
    ),
  ),
});

/** Thrown anywhere in `http/`. `app.ts` turns it into the response. `detail` is a sentence about this request, and never contains a key. */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly extra: { errors?: FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(detail);
  }
}

/** The `type` of a problem: an address that shows its description in a browser (D-22). */
export function problemType(baseUrl: string, code: ProblemCode): string {
  return `${baseUrl}/docs#${problemAnchor(code)}`;
}

export function problemAnchor(code: string): string {
  return `problem-${code}`;
}

/** `invalid_parameter`, for one or more parameters. */
export function invalidParameters(errors: FieldError[]): Problem {
  const [first] = errors;
  const detail =
    errors.length === 1 && first !== undefined
      ? `"${first.field}" ${first.reason}.`
      : `${errors.length} parameters are invalid: ${errors.map(({ field }) => field).join(", ")}.`;
  return new Problem("invalid_parameter", detail, { errors });
}

/** `not_found`, for a path without a route. */
export function noSuchPath(baseUrl: string): Problem {
  return new Problem("not_found", `There is nothing at this path. The API reference is at ${baseUrl}/docs.`);
}

const RETRY_UNAVAILABLE_SECONDS = 5;

/** The problem to send for anything that was thrown. Anything unknown is a bug of the service: `internal_error`. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnreadable(error)) {
    return new Problem("service_unavailable", "The database cannot be read at the moment.", {
      headers: { "Retry-After": String(RETRY_UNAVAILABLE_SECONDS) },
    });
  }
  return new Problem("internal_error", "The server failed to process the request. The request itself is not at fault.");
}
