/** The client with which a mirror reads a server, that of `clients/typescript`. It accepts what the schemas allow, and more members of a newer server. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import {
  type ApiClient,
  type ApiClientOptions,
  ConnectionError,
  createClient,
  FundfeedError,
} from "../../clients/typescript/src/fundfeed.ts";
import { reasonOf } from "../../db/reason.ts";
import { OpportunityEvent } from "../events/event.ts";
import { Opportunity } from "../opportunities/opportunity.ts";
import { nextPage } from "../opportunities/page.ts";
import { version } from "../runtime/version.ts";
import { SourceEntry } from "../sources/entry.ts";
import { HOUR_MS, parseInstant } from "../text/instant.ts";
import { requestFailure } from "../text/request-failure.ts";

export type ServerOptions = Omit<ApiClientOptions, "check" | "headers" | "waitMaxMs">;

/** The longest wait: after that, a new daily window has begun. */
const WAIT_MAX_MS = 25 * HOUR_MS;

/** A client of the server. It accepts only responses that meet the schema of the API. */
export function clientOf(options: ServerOptions): ApiClient {
  return createClient({ ...options, waitMaxMs: WAIT_MAX_MS, headers: { "User-Agent": `fundfeed/${version}` }, check: unexpectedMember });
}

/** Why the server could not be read. A failed connection is described for people. */
export function mirrorReason(error: unknown): string {
  if (error instanceof DOMException && error.name === "AbortError") return "it was stopped";
  if (!(error instanceof ConnectionError) || error.cause === undefined) return reasonOf(error);
  return error.message.replace(/^the request failed( \(\w+\))?/, () => requestFailure(error.cause).reason);
}

/** Whether the same request would fail again, unless somebody changes something. */
export function isFinal(error: unknown): boolean {
  return error instanceof FundfeedError && !(error instanceof ConnectionError) && !error.isTemporary;
}

/** The formats of the schemas below. Elysia's own meaning of `date-time` is wider. */
FormatRegistry.Set("date-time", (text) => parseInstant(text) !== undefined);
FormatRegistry.Set("uuid", (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text));

const required: Readonly<Record<string, (response: unknown) => string | undefined>> = {
  OpportunityPage: expected(Type.Object({ data: Type.Array(Opportunity), meta: Type.Object(nextPage) })),
  OpportunityEventPage: expected(Type.Object({ data: Type.Array(OpportunityEvent), meta: Type.Object(nextPage) })),
  EventPage: expected(
    Type.Object({
      data: Type.Array(OpportunityEvent),
      meta: Type.Object({ has_more: nextPage.has_more, next_cursor: Type.Union([Type.String(), Type.Null()]) }),
    }),
  ),
  SourceList: expected(Type.Object({ data: Type.Array(SourceEntry) })),
};

/** The path of the first member of a response that does not meet its schema: `data.3.updated_at`. */
function unexpectedMember(schema: string, response: unknown): string | undefined {
  return required[schema]?.(response);
}

function expected(schema: TSchema): (response: unknown) => string | undefined {
  const check = TypeCompiler.Compile(withFurtherMembers(schema));
  return (response) => (check.Check(response) ? undefined : (check.Errors(response).First()?.path.slice(1).replaceAll("/", ".") ?? ""));
}

function withFurtherMembers<T extends TSchema>(schema: T): T {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      additionalProperties: true,
      properties: Object.fromEntries(Object.entries<TSchema>(properties).map(([name, each]) => [name, withFurtherMembers(each)])),
    }),
    ...(items !== undefined && { items: withFurtherMembers(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(withFurtherMembers) }),
  };
}
