/** The response headers in the OpenAPI description. */
import { type TSchema, Type } from "@sinclair/typebox";
import { type ProblemCode, problems } from "./problem.ts";
import { API_VERSION } from "./respond.ts";
import { describeSchema, type Members, mapMembers } from "./schemas.ts";

type Header = { description: string; schema: TSchema; required?: boolean };

const headers = {
  "X-Request-Id": {
    description: "Identifies this request; the same as `request_id` in the body.",
    schema: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  },
  "API-Version": { description: "Version of the API.", schema: Type.Literal(API_VERSION) },
  "X-Content-Type-Options": { description: "Clients must not guess another content type.", schema: Type.Literal("nosniff") },
  Vary: { description: "The request header that the response depends on.", schema: Type.Literal("Accept-Encoding") },
  "Content-Encoding": {
    description: "The compression of a body over 1 KiB, if `Accept-Encoding` asks for one.",
    schema: Type.String({ pattern: "^(gzip|zstd)$", maxLength: 4 }),
    required: false,
  },
  "Cache-Control": { description: "Who may cache the response, and for how long.", schema: Type.String({ maxLength: 100 }) },
  "RateLimit-Limit": { description: "Requests per day of the key.", schema: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }) },
  "RateLimit-Remaining": {
    description: "Requests left in the current daily window.",
    schema: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }),
  },
  "RateLimit-Reset": {
    description: "When the next daily window begins, 00:00 UTC, as a Unix timestamp.",
    schema: Type.Integer({ minimum: 0, maximum: 253_402_300_800 }),
  },
  "Retry-After": {
    description: "Seconds to wait before sending the request again.",
    schema: Type.Integer({ minimum: 1, maximum: 86_400 }),
  },
  ETag: { description: "Validator: send it as `If-None-Match`.", schema: Type.String({ pattern: '^(W/)?"[^"]+"$', maxLength: 100 }) },
  "Last-Modified": {
    description: "When the record last changed, in whole seconds. Prefer the `ETag`, which tells changes within a second apart.",
    schema: Type.String({ pattern: "GMT$", maxLength: 29 }),
  },
  Allow: { description: "The methods that the service accepts.", schema: Type.String({ maxLength: 100, pattern: "^GET, OPTIONS$" }) },
  "WWW-Authenticate": {
    description: 'RFC 6750 challenge, with `error="invalid_token"` if a key was sent.',
    schema: Type.String({ pattern: '^Bearer realm="', maxLength: 200 }),
  },
  "Content-Security-Policy": {
    description: "The page may load only its own files and connect to nothing.",
    schema: Type.String({ maxLength: 1000 }),
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;

const always = ["X-Request-Id", "API-Version", "X-Content-Type-Options", "Cache-Control", "Vary"] as const;
const rateLimit = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

export function describeNamedHeaders(): Members {
  return mapMembers<Header>(headers, describeHeader);
}

/** The headers of a 200 or 304: those of every response, with a key the limits, and `further` ones. */
export function successHeaders({ needsKey, further }: { needsKey: boolean; further: readonly HeaderName[] }) {
  return references([...always, ...(needsKey ? rateLimit : []), ...further]);
}

export function problemHeaders(codes: readonly ProblemCode[]) {
  const isAny = (...wanted: ProblemCode[]) => wanted.some((code) => codes.includes(code));
  // Problems that only a request with a valid key gets.
  const isCounted = codes.some((code) => problems[code].status === 400) || isAny("not_found", "rate_limit_exceeded");
  return {
    ...references([...always, "Content-Encoding"]),
    ...(isCounted && references(rateLimit)),
    ...(isAny("internal_error", "service_unavailable") && optionalRateLimit),
    ...(isAny("rate_limit_exceeded", "service_unavailable") && references(["Retry-After"])),
    ...(isAny("authentication_required") && references(["WWW-Authenticate"])),
    ...(isAny("method_not_allowed") && references(["Allow"])),
  };
}

const optionalRateLimit = Object.fromEntries(rateLimit.map((name) => [name, describeHeader({ ...headers[name], required: false })]));

function references(names: readonly HeaderName[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describeHeader({ description, required = true, schema }: Header) {
  return { description, required, schema: describeSchema(schema) };
}
