/** `/openapi.json`, OpenAPI 3.1: what @elysiajs/openapi makes of the routes, and what a route does not know. */
import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import { Elysia } from "elysia";
import { EXAMPLE_BASE_URL } from "./docs/examples.ts";
import { guideText } from "./docs/guide.ts";
import { type Sample, samplesOf } from "./docs/samples.ts";
import { describeSharedProblems } from "./operation.ts";
import { API_VERSION } from "./respond.ts";
import { describeNamedHeaders } from "./response-headers.ts";
import { routes } from "./routes.ts";
import { describeNamedSchemas } from "./schemas.ts";

/** As far as the service itself reads it. */
export type Document = {
  info: object;
  servers: [{ url: string }];
  paths: Paths;
  components: { responses: Record<string, DescribedResponse> };
};

type Paths = Record<string, { get: DescribedOperation }>;

export type DescribedOperation = {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  /** Left out where a key is needed. */
  security?: [];
  parameters: DescribedParameter[];
  responses: Record<string, DescribedResponse | { $ref: string }>;
  "x-codeSamples": Sample[];
};

export type DescribedParameter = {
  name: string;
  in: "path" | "query" | "header";
  description: string;
  required: boolean;
  schema: { type: string; default?: unknown; items?: { enum?: string[] } };
};

export type DescribedResponse = { headers: Record<string, unknown>; content?: Record<string, { examples?: Record<string, unknown> }> };

/** The whole document for a public base address. */
export function openapiDocument(baseUrl: string): Document {
  const document = {
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
    paths: describePaths(baseUrl),
    components: {
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: "A key, sent from a server: `Authorization: Bearer <API_KEY>`. Never from browser code, never in a URL.",
        },
      },
      schemas: describeNamedSchemas(),
      headers: describeNamedHeaders(),
      responses: describeSharedProblems(),
    },
  };
  return JSON.parse(JSON.stringify(document).replaceAll(EXAMPLE_BASE_URL, () => baseUrl));
}

const tags = {
  Opportunities: "Find opportunities, stay in step with them, and read what changed in each.",
  Sources: "Where the records come from.",
  Service: "The service itself: needs no key and is not counted.",
};

function describePaths(baseUrl: string): Paths {
  // In an instance of its own: the plugin asks for the routes of the outermost one, which in the service have a prefix.
  const generated = toOpenAPISchema(new Elysia().use(routes), { staticFile: false }, undefined, undefined, "3.1.0");
  const { paths }: { paths: PluginPaths } = JSON.parse(JSON.stringify(generated));
  return Object.fromEntries(Object.entries(paths).map(([path, { get }]) => [path, { get: completeOperation(path, get, baseUrl) }]));
}

/** As the plugin generates them. `staticFile: false` keeps a path with a dot, such as `/openapi.json`. */
type PluginPaths = Record<string, { get: PluginOperation }>;
type PluginOperation = Omit<DescribedOperation, "parameters" | "x-codeSamples"> & { parameters?: PluginParameter[] };
type PluginParameter = Omit<DescribedParameter, "description"> & { schema: { description: string } };

function completeOperation(path: string, generated: PluginOperation, baseUrl: string): DescribedOperation {
  const { parameters = [], responses, ...operation } = generated;
  return {
    ...operation,
    parameters: [...parameters.map(completeParameter), ...conditionsOf(responses)],
    responses,
    "x-codeSamples": samplesOf(path, generated, baseUrl),
  };
}

/** The plugin leaves the description in the schema, and does not say how a list is written. */
function completeParameter({ schema: { description, ...schema }, ...parameter }: PluginParameter): DescribedParameter {
  return {
    ...parameter,
    description,
    ...(schema.type === "array" && { style: "form", explode: false }),
    schema,
  };
}

/** RFC 9110 §13.1: the conditions that a request can make, by the validators that a 304 has. */
function conditionsOf({ 304: unchanged }: PluginOperation["responses"]): DescribedParameter[] {
  if (unchanged === undefined || "$ref" in unchanged) return [];
  return [...("ETag" in unchanged.headers ? [ifNoneMatch] : []), ...("Last-Modified" in unchanged.headers ? [ifModifiedSince] : [])];
}

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  description: "An `ETag` that you hold, a list of them, or `*`. Where it matches the answer is 304.",
  required: false,
  schema: { type: "string", maxLength: 8192 },
} as const;

const ifModifiedSince = {
  name: "If-Modified-Since",
  in: "header",
  description: "A `Last-Modified` that you hold, as an HTTP date. It counts only where `If-None-Match` is not sent.",
  required: false,
  schema: { type: "string", maxLength: 64 },
} as const;
