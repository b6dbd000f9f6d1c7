/**
 * What the client requires of a response: the schema of the API. Further members are accepted, because a newer server may send them.
 * (E-49)
 */
import { FormatRegistry, type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { nextPage } from "../opportunities/page.ts";
import { SourceEntry } from "../sources/entry.ts";
import { parseInstant } from "../text/instant.ts";

/** Returns the response with its type, or the path of the first member that does not meet the schema: `data.3.updated_at`. */
export type Expected<T> = (response: unknown) => { value: T } | { wrong: string };

/** The formats of the schemas below. Elysia's own meaning of `date-time` is wider. */
FormatRegistry.Set("date-time", (text) => parseInstant(text) !== undefined);
FormatRegistry.Set("uuid", (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text));

/** A page of a list of such items. */
export function pageOf<T extends TSchema>(item: T) {
  return expected(Type.Object({ data: Type.Array(item), meta: Type.Object(nextPage) }));
}

export const sourceList = expected(Type.Object({ data: Type.Array(SourceEntry) }));

function expected<T extends TSchema>(schema: T): Expected<Static<T>> {
  const check = TypeCompiler.Compile(withFurtherMembers(schema));
  return (response) => {
    if (check.Check(response)) return { value: response };
    return { wrong: check.Errors(response).First()?.path.slice(1).replaceAll("/", ".") ?? "" };
  };
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
