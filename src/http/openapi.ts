/** The OpenAPI 3.1 description: what @elysiajs/openapi generates from the routes, completed with what no single route knows. */
import { toOpenAPISchema } from "@elysiajs/openapi/openapi";
import { Elysia } from "elysia";
import { EXAMPLE_BASE_URL } from "./docs/examples.ts";
import { guideText } from "./docs/guide.ts";
import { type CodeSample, samplesOf } from "./docs/samples.ts";
import { describeSharedProblems } from "./operation.ts";
import { API_VERSION } from "./respond.ts";
import { describeNamedHeaders } from "./response-headers.ts";
import { routes } from "./routes.ts";
import { describeNamedSchemas } from "./schemas.ts";

export type ApiDescription = {
  info: object;
  servers: [{ url: string }];
  paths: Paths;
  components: { schemas: Record<string, DescribedSchema>; responses: Record<string, DescribedResponse> };
};

type Paths = Record<string, { get: DescribedOperation }>;

export type DescribedOperation = {
  operationId: string;
  tags: [string];
  summary: string;
  description: string;
  security?: [];
  parameters: DescribedParameter[];
  responses: Record<string, DescribedResponse | { $ref: string }>;
  "x-codeSamples": CodeSample[];
};

export type DescribedParameter = {
  name: string;
  in: "path" | "query" | "header";
  description: string;
  required: boolean;
  schema: { type: string; description?: string; maxLength?: number; default?: unknown; items?: { enum?: string[] } };
};

type DescribedResponse = {
  headers: Record<string, unknown>;
  content?: Record<string, { schema?: DescribedSchema; example?: unknown; examples?: Record<string, unknown> }>;
};

export type DescribedSchema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  anyOf?: DescribedSchema[];
  items?: DescribedSchema;
  properties?: Record<string, DescribedSchema>;
};

/** The whole description, for a public base address. */
export function openapiDocument(baseUrl: string): ApiDescription {
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
  Opportunities: "Find opportunities, keep a copy in sync, and read what changed.",
  Sources: "Where the records come from.",
  Service: "The service itself. Needs no key and is not counted.",
};

function describePaths(baseUrl: string): Paths {
  // The plugin reads the routes of the outermost Elysia instance. The one in `app.ts` has a prefix, so the routes get another one here.
  const generated = toOpenAPISchema(new Elysia().use(routes), { staticFile: false }, undefined, undefined, "3.1.0");
  const { paths }: { paths: Paths } = JSON.parse(JSON.stringify(generated));
  for (const [path, entry] of Object.entries(paths)) {
    const { parameters = [], responses, ...operation } = entry.get;
    const [success, unchanged] = [200, 304].map((status) => contentOf(responses[status]));
    const isJson = success?.content?.["application/json"] !== undefined;
    const samples = samplesOf(operation.operationId, { url: baseUrl + path, needsKey: operation.security === undefined, isJson });
    const described = [...parameters.map(completeParameter), ...conditionalHeaders(unchanged)];
    entry.get = { ...operation, parameters: described, responses, "x-codeSamples": samples };
  }
  return paths;
}

function contentOf(response: DescribedOperation["responses"][string] | undefined): DescribedResponse | undefined {
  return response === undefined || "$ref" in response ? undefined : response;
}

/** Moves the description out of the schema, where the plugin leaves it, and adds the style of lists. */
function completeParameter({ schema: { description = "", ...schema }, ...parameter }: DescribedParameter): DescribedParameter {
  return { ...parameter, description, ...(schema.type === "array" && { style: "form", explode: false }), schema };
}

function conditionalHeaders(unchanged: DescribedResponse | undefined): DescribedParameter[] {
  const sent = conditions.filter(({ validator }) => validator in (unchanged?.headers ?? {}));
  return sent.map(({ name, description, maxLength }) => {
    return { name, in: "header", description, required: false, schema: { type: "string", maxLength } };
  });
}

const conditions = [
  {
    name: "If-None-Match",
    validator: "ETag",
    description: "An `ETag` that you have, a list of them, or `*`. If one matches, the response is 304.",
    maxLength: 8192,
  },
  {
    name: "If-Modified-Since",
    validator: "Last-Modified",
    description: "A `Last-Modified` that you have, as an HTTP date. Ignored if `If-None-Match` is sent.",
    maxLength: 64,
  },
];
