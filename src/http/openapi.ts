/** The description of the service, OpenAPI 3.1: made of the tables by which requests are routed, read, refused and answered. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Change, OpportunityEvent } from "../events/event.ts";
import { Contact, Funding, Opportunity, Source } from "../opportunities/opportunity.ts";
import { SourceEntry } from "../sources.ts";
import { operationExample, problemExample } from "./docs/examples.ts";
import { guideText } from "./docs/guide.ts";
import { samplesOf } from "./docs/samples.ts";
import { PageLinks, PageMeta, RequestMeta } from "./envelope.ts";
import { commonProblems, keyProblems, type Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { type ProblemCode, ProblemDetails, problems } from "./problem.ts";
import { LIST_ITEMS_MAX, type Parameter } from "./query.ts";
import { API_VERSION } from "./respond.ts";
import { getEvents } from "./routes/events.ts";
import { getMeta, ServiceMetadata } from "./routes/meta.ts";
import { getOpportunities, getOpportunity } from "./routes/opportunities.ts";
import { getSources } from "./routes/sources.ts";

type Members = { [name: string]: unknown };

/** The whole description for a public base address. */
export function openapiDocument(baseUrl: string): Members {
  return {
    openapi: "3.1.0",
    info: {
      title: "fundfeed",
      version: API_VERSION,
      summary: "US federal funding opportunities from every source, with their history. Read-only.",
      description: guideText(baseUrl),
      contact: { name: "Documentation", url: `${baseUrl}/docs` },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This service (production)", "x-internal": false }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(operations.map((operation) => [operation.path, { get: describeOperation(operation, baseUrl) }])),
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "A key, sent from a server: `Authorization: Bearer <API_KEY>`. Never from browser code, never in a URL.",
        },
      },
      schemas: mapped(schemas, describeNamed),
      headers: mapped<Header>(headers, describeHeader),
      responses: Object.fromEntries(sharedProblems.map((code) => [responseName(code), describeProblems([code], baseUrl)])),
    },
  };
}

const tags = {
  Opportunities: "Find opportunities, stay in step with them, and read what changed in each.",
  Sources: "Where the records come from.",
  Service: "The service itself: needs no key and is not counted.",
};

/** The group that an operation is shown in. */
export function tagOf({ path, needsKey }: Operation): keyof typeof tags {
  if (!needsKey) return "Service";
  return path.startsWith("/sources") ? "Sources" : "Opportunities";
}

function describeOperation(operation: Operation, baseUrl: string): Members {
  const { operationId, summary, description, needsKey, parameters } = operation;
  return {
    operationId,
    tags: [tagOf(operation)],
    summary,
    description,
    ...(!needsKey && { security: [] }),
    parameters: [
      ...Object.entries(parameters ?? {}).map(([name, parameter]) => describeParameter(name, parameter)),
      ...conditionsOf(operation),
    ],
    responses: describeResponses(operation, baseUrl),
    "x-codeSamples": samplesOf(operation, baseUrl),
  };
}

function describeParameter(name: string, parameter: Parameter<unknown>): Members {
  const { in: place, schema } = parameter;
  const isList = schema.type === "array";
  return {
    name,
    in: place,
    description: parameterText(parameter),
    required: place === "path",
    ...(isList && { style: "form", explode: false }),
    schema: describe(schema),
  };
}

/** What a parameter means, and what holds for every parameter of its kind (D-7, D-9, D-10, D-12). */
export function parameterText({ description, schema }: Parameter<unknown>): string {
  return `${description} ${ruleOf(schema)}`;
}

function ruleOf({ type, format, minimum, maximum, maxLength }: TSchema): string {
  if (type === "array")
    return `Comma-separated, repeated or both, at most ${LIST_ITEMS_MAX} values; blanks around them and repeats do not count.`;
  if (type === "integer") return `From ${minimum} to ${maximum}, in plain decimal digits, sent once.`;
  if (type === "boolean") return "`true` or `false`, sent once.";
  if (format === "date-time") return "An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`.";
  if (format === "uuid") return "A UUID, letters in either case.";
  return `At most ${maxLength} characters, sent once.`;
}

/** RFC 9110 §13.1: what an operation that answers 304 is asked with. Only a record has a time of its own beside its tag. */
function conditionsOf({ isConditional, needsKey }: Operation): Members[] {
  if (!isConditional) return [];
  return needsKey ? [ifNoneMatch, ifModifiedSince] : [ifNoneMatch];
}

const ifNoneMatch: Members = {
  name: "If-None-Match",
  in: "header",
  description: "An `ETag` that you hold, a list of them, or `*`. Where it matches the answer is 304.",
  required: false,
  schema: { type: "string", maxLength: 8192 },
};

const ifModifiedSince: Members = {
  name: "If-Modified-Since",
  in: "header",
  description: "A `Last-Modified` that you hold, as an HTTP date. It counts only where `If-None-Match` is not sent.",
  required: false,
  schema: { type: "string", maxLength: 64 },
};

function describeResponses(operation: Operation, baseUrl: string): Members {
  const { needsKey, isConditional, path } = operation;
  const byStatus = Map.groupBy(problemsOf(operation), (code) => problems[code].status);
  const responseHeaders = {
    ...referToHeaders(alwaysSent),
    ...(needsKey && referToHeaders(rateLimit)),
    ...(isConditional && referToHeaders(["ETag"])),
    ...(isConditional && needsKey && referToHeaders(["Last-Modified"])),
    ...(path === "/docs" && referToHeaders(["Content-Security-Policy"])),
  };
  return {
    200: {
      description: `${operation.summary}.`,
      headers: { ...responseHeaders, ...referToHeaders(["Content-Encoding"]) },
      content: describeContent(operation),
    },
    ...(isConditional && { 304: { description: "Unchanged since the validator that was sent. Empty.", headers: responseHeaders } }),
    ...Object.fromEntries(
      [...byStatus].map(([status, these]) => {
        const [code] = these;
        const isShared = these.length === 1 && code !== undefined && sharedProblems.includes(code);
        return [status, isShared ? { $ref: `#/components/responses/${responseName(code)}` } : describeProblems(these, baseUrl)];
      }),
    ),
  };
}

/** Every problem that an operation can be refused with. */
export function problemsOf({ problems, needsKey }: Operation): ProblemCode[] {
  return [...problems, ...(needsKey ? keyProblems : []), ...commonProblems];
}

function describeContent({ contentType, schema, operationId }: Operation): Members {
  const example = operationExample(operationId);
  const plain: Members =
    contentType === "application/json" ? { type: "object", additionalProperties: true } : { type: "string", contentMediaType: contentType };
  return { [contentType]: { schema: schema === null ? plain : describe(schema), ...(example !== undefined && { example }) } };
}

/** Problems that have a status for themselves and are the same in every operation. */
const sharedProblems: readonly ProblemCode[] = [...keyProblems, ...commonProblems, "not_found"];

function responseName(code: ProblemCode): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The answers of one status, which one or several problems have. */
function describeProblems(codes: readonly ProblemCode[], baseUrl: string): Members {
  const lines = codes.map((code) => `\`${code}\`: ${problems[code].description}`);
  const examples = codes.map((code) => [code, { summary: problems[code].title, value: problemExample(code, baseUrl) }]);
  return {
    description: lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join("\n"),
    headers: problemHeaders(codes),
    content: { "application/problem+json": { schema: describe(ProblemDetails), examples: Object.fromEntries(examples) } },
  };
}

function problemHeaders(codes: readonly ProblemCode[]): Members {
  const isAny = (...wanted: ProblemCode[]) => wanted.some((code) => codes.includes(code));
  const isRead = codes.some((code) => problems[code].status === 400) || isAny("not_found", "rate_limit_exceeded"); // A valid key was counted.
  return {
    ...referToHeaders([...alwaysSent, "Content-Encoding"]),
    ...(isRead && referToHeaders(rateLimit)),
    ...(isAny("internal_error", "service_unavailable") &&
      Object.fromEntries(rateLimit.map((name) => [name, describeHeader({ ...headers[name], required: false })]))),
    ...(isAny("rate_limit_exceeded", "service_unavailable") && referToHeaders(["Retry-After"])),
    ...(isAny("authentication_required") && referToHeaders(["WWW-Authenticate"])),
    ...(isAny("method_not_allowed") && referToHeaders(["Allow"])),
  };
}

type Header = { description: string; schema: TSchema; required?: boolean };

const headers = {
  "X-Request-Id": {
    description: "Identifies this request; the same as `request_id` in the body.",
    schema: Type.String({ pattern: "^[0-9a-f]{32}$" }),
  },
  "API-Version": { description: "Version of the API.", schema: Type.Literal(API_VERSION) },
  "X-Content-Type-Options": { description: "The content type holds: nothing is to be guessed.", schema: Type.Literal("nosniff") },
  Vary: { description: "What in a request the answer depends on.", schema: Type.Literal("Accept-Encoding") },
  "Content-Encoding": {
    description: "How a body over 1 KiB is compressed, where the request's `Accept-Encoding` asks for it.",
    schema: Type.String({ pattern: "^(gzip|zstd)$", maxLength: 4 }),
    required: false,
  },
  "Cache-Control": {
    description: "Who may keep the answer, and how long.",
    schema: Type.String({ maxLength: 100 }),
  },
  "RateLimit-Limit": {
    description: "Requests a day that the key has.",
    schema: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  },
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
  "Last-Modified": { description: "When the record last changed, to the second.", schema: Type.String({ pattern: "GMT$", maxLength: 29 }) },
  Allow: { description: "The methods that are accepted.", schema: Type.String({ maxLength: 100, pattern: "^GET, OPTIONS$" }) },
  "WWW-Authenticate": {
    description: 'RFC 6750 challenge; with `error="invalid_token"` where a key was sent.',
    schema: Type.String({ pattern: '^Bearer realm="', maxLength: 200 }),
  },
  "Content-Security-Policy": {
    description: "The page may load its own files only, and may connect to nothing.",
    schema: Type.String({ maxLength: 1000 }),
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof headers;

const alwaysSent = [
  "X-Request-Id",
  "API-Version",
  "X-Content-Type-Options",
  "Cache-Control",
  "Vary",
] as const satisfies readonly HeaderName[];
const rateLimit = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const satisfies readonly HeaderName[];

function referToHeaders(names: readonly HeaderName[]): Members {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function describeHeader({ description, required = true, schema }: Header): Members {
  return { description, required, schema: describe(schema) };
}

/** Schemas that bear a name in the description; what is nested in another and bears one is referred to. */
const schemas: Readonly<Record<string, TSchema>> = {
  OpportunityPage: getOpportunities.schema,
  OpportunityDetail: getOpportunity.schema,
  Opportunity,
  Source,
  Organization: Opportunity.properties.organization,
  Program: Opportunity.properties.program,
  Funding,
  Dates: Opportunity.properties.dates,
  Classifications: Opportunity.properties.classifications,
  Eligibility: Opportunity.properties.eligibility,
  Contact,
  Relationships: Opportunity.properties.relationships,
  OpportunityEventPage: getEvents.schema,
  OpportunityEvent,
  Change,
  SourceList: getSources.schema,
  SourceEntry,
  ServiceMetadataDetail: getMeta.schema,
  ServiceMetadata,
  RequestMeta,
  PageMeta,
  PageLinks,
  ProblemDetails,
  FieldError: ProblemDetails.properties.errors.items,
};

const names = new Map(Object.entries(schemas).map(([name, schema]) => [schema, name]));

/** A schema as JSON: by its name where it bears one. */
function describe(schema: TSchema): Members {
  const name = names.get(schema);
  return name === undefined ? describeNamed(schema) : { $ref: `#/components/schemas/${name}` };
}

function describeNamed({ anyOf, items, properties, ...rest }: TSchema): Members {
  const [first, second] = (anyOf ?? []) as TSchema[];
  const isNullable = anyOf?.length === 2 && second?.type === "null" && first?.type !== "object";
  if (isNullable && first !== undefined) return { ...describe(first), type: [first.type, "null"], ...rest };
  return {
    ...rest,
    ...(rest.type === "integer" && { format: rest.maximum > 2 ** 31 ? "int64" : "int32" }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(describe) }),
    ...(items !== undefined && { items: describe(items) }),
    ...(properties !== undefined && { properties: mapped(properties as Record<string, TSchema>, describeProperty) }),
  };
}

/**
 * A property that is always null is described as a string or null: openapi-fetch 0.17 drops a property whose type is null alone, and what
 * it returns then lacks a property that the named schema requires.
 */
function describeProperty(schema: TSchema): Members {
  return schema.type === "null" ? { ...schema, type: ["string", "null"] } : describe(schema);
}

function mapped<T>(table: Readonly<Record<string, T>>, describeOne: (member: T) => unknown): Members {
  return Object.fromEntries(Object.entries(table).map(([name, member]) => [name, describeOne(member)]));
}
