/** What the mirror requires of a response: the schema of the API, with an instant as `updated_at`. A newer server may send more members. */
import { FormatRegistry, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { OpportunityEvent } from "../events/event.ts";
import { Opportunity } from "../opportunities/opportunity.ts";
import { nextPage } from "../opportunities/page.ts";
import { SourceEntry } from "../sources/entry.ts";
import { parseInstant } from "../text/instant.ts";

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

/** Returns the path of the first member of a response that does not meet its schema: `data.3.updated_at`. `undefined` if all do. */
export function unexpectedMember(schema: string, response: unknown): string | undefined {
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
