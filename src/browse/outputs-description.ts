/** The OpenAPI description of the searches for other programs, made from the table that serves them. */
import { type TSchema, Type } from "@sinclair/typebox";
import { fields } from "../filter/filter.ts";
import { API_VERSION } from "../http/respond.ts";
import { object } from "../text/schema.ts";
import { eventsOutput } from "./events-output.ts";
import { outputs, type SearchOutput } from "./outputs.ts";
import { allSourcesField } from "./search-form.tsx";

const SearchProblem = object({
  title: Type.String({ description: "Name of the kind of problem." }),
  status: Type.Integer({ description: "The HTTP status." }),
  detail: Type.String({ description: "What is wrong with this request." }),
  errors: Type.Array(object({ field: Type.String(), reason: Type.String() }), { description: "Every parameter that was refused." }),
});

const ABOUT = `Search by words and filters, as on the pages at this address. \`/v1\` is for copies and for reading by id, and takes no words.

The parameters are those of the pages, so the query of a page works here. A list is written with commas. Times such as \`30d\` count from the moment of each
request. Where there are pages, a \`Link\` header leads to the next one. On \`fundfeed up\`, send \`Authorization: Bearer <API_KEY>\`; each request counts as
one of the key's. \`fundfeed browse\` needs no key.`;

/** The whole description. */
export function outputsDescription(): object {
  const description = {
    openapi: "3.1.0",
    info: { title: "fundfeed search", version: API_VERSION, description: ABOUT, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{}, { apiKey: [] }],
    paths: Object.fromEntries([
      ...outputs.map((output) => [output.path, { get: operationOf(output, { ...fields, ...output.own, all_sources: allSourcesField }) }]),
      [eventsOutput.path, { get: operationOf(eventsOutput, eventsOutput.own) }],
    ]),
    components: {
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "A key, sent from a server, never in a URL." } },
    },
  };
  return JSON.parse(JSON.stringify(description)); // Schemas have members that JSON has not.
}

function operationOf(
  { operationId, summary, description, contentType, schema = Type.String() }: Omit<SearchOutput, "path" | "own" | "write">,
  parameters: Readonly<Record<string, { schema: TSchema }>>,
): object {
  const isLinked = "after" in parameters && parameters.after !== eventsOutput.own.after;
  const headers = {
    ETag: { description: "Send it as `If-None-Match`, for a 304 if nothing changed.", schema: { type: "string" } },
    ...(isLinked && { Link: { description: "The next page, as `rel=next`. Absent on the last one.", schema: { type: "string" } } }),
  };
  return {
    operationId,
    summary,
    description,
    parameters: Object.entries(parameters).map(([name, field]) => parameterOf(name, field)),
    responses: {
      200: { description: `${summary}.`, headers, content: { [contentType.replace(/;.*/, "")]: { schema } } },
      304: { description: "Unchanged: you have the current version. The body is empty." },
      400: { description: "A parameter was refused.", content: { "application/problem+json": { schema: SearchProblem } } },
    },
  };
}

function parameterOf(name: string, { schema }: { schema: TSchema }): object {
  const { description, ...rest } = schema;
  return { name, in: "query", description, required: false, ...(rest.type === "array" && { style: "form", explode: false }), schema: rest };
}
