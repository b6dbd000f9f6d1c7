/** Checks responses against the OpenAPI description: status, headers and body. */
import { expect } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { EXAMPLE_BASE_URL } from "../../src/http/docs/examples.ts";
import { openapiDocument } from "../../src/http/openapi.ts";
import { pathStart } from "../../src/http/query-text.ts";

type Described = {
  description: string;
  headers: Record<string, Header | { $ref: string }>;
  content?: Record<string, unknown>;
};
type Header = { required: boolean; schema: { type?: string } };
type Responses = Record<string, Described | { $ref: string }>;
type Description = {
  paths: Record<string, { get: { responses: Responses } }>;
  components: { responses: Record<string, Described>; headers: Record<string, Header> };
};

const description: Description = JSON.parse(JSON.stringify(openapiDocument(EXAMPLE_BASE_URL)));
const ajv = addFormats(new Ajv({ strict: false, validateSchema: false, allErrors: true, coerceTypes: false }));
ajv.addSchema(description, "description");

const routes = Object.keys(description.paths).map((path) => ({ path, pattern: new RegExp(`^/v1${path.replace(/\{\w+\}/g, "[^/]+")}$`) }));

/** Returns the response unchanged. Throws if the description does not allow its status, its headers or its body. */
export async function expectDescribed({ method, url, headers }: Request, response: Response): Promise<Response> {
  const path = url.slice(pathStart(url)).replace(/\?.*$/s, "");
  if (path.startsWith("/v1/docs/")) return response; // A file of the page, not an operation.
  const isMisdirected = headers.get("host")?.includes(","); // With two Host lines, every path is refused like an unknown one.
  const described = describedResponse(method, isMisdirected ? "/" : path, response.status);
  const where = `${method} ${path} ${response.status}`;
  if (described === undefined) throw new Error(`The API description has no response for ${where}`);
  expectHeaders(described.headers, response.headers, where);
  expectBody(described, response.headers, await decodedText(response), where);
  return response;
}

/** Returns the decoded body of a response that the app returned directly, without a connection: only `fetch()` over a connection decodes it. The response stays readable. */
export async function decodedText(response: Response): Promise<string> {
  const body = await response.clone().bytes();
  const coding = response.headers.get("content-encoding");
  const decode = { gzip: gunzipSync, zstd: zstdDecompressSync }[coding ?? ""];
  if (coding !== null && decode === undefined) throw new Error(`Unexpected Content-Encoding: ${coding}`);
  return new TextDecoder().decode(decode === undefined ? body : decode(body));
}

/** Returns the response in the description and its path there; `undefined` if there is none. */
function describedResponse(method: string, path: string, status: number): (Described & { path: string[] }) | undefined {
  const shared = (name: string) => ({ ...(description.components.responses[name] as Described), path: ["components", "responses", name] });
  if (method !== "GET" && method !== "OPTIONS") return status === 405 ? shared("MethodNotAllowed") : undefined;
  const route = routes.find(({ pattern }) => pattern.test(path));
  if (route === undefined) return status === 404 || status === 400 ? withoutRateLimit(shared("NotFound")) : undefined;
  if (method === "OPTIONS") return status === 204 ? { ...withoutRateLimit(shared("MethodNotAllowed")), content: {} } : undefined;

  const response = description.paths[route.path]?.get.responses[status];
  if (response === undefined) return undefined;
  if ("$ref" in response) return shared(response.$ref.replace(/^.*\//, ""));
  return { ...response, path: ["paths", route.path, "get", "responses", String(status)] };
}

/** Unknown paths and OPTIONS need no key, so their responses have no rate limit. */
function withoutRateLimit<T extends Described>(described: T): T {
  return { ...described, headers: Object.fromEntries(Object.entries(described.headers).filter(([name]) => !name.startsWith("RateLimit"))) };
}

function expectHeaders(described: Described["headers"], sent: Headers, where: string): void {
  for (const [name, known] of Object.entries(description.components.headers)) {
    const header = described[name];
    const value = sent.get(name);
    if (header === undefined) expect({ where, name, value }).toEqual({ where, name, value: null });
    else if (value !== null)
      expectValid(["components", "headers", name, "schema"], known.schema.type === "integer" ? Number(value) : value, where);
    else if ("$ref" in header ? known.required : header.required) throw new Error(`The response to ${where} lacks the header ${name}`);
  }
}

function expectBody({ content = {}, path }: Described & { path: string[] }, headers: Headers, body: string, where: string): void {
  const [type] = Object.keys(content);
  if (type === undefined) {
    expect({ where, body }).toEqual({ where, body: "" });
    return;
  }
  expect(headers.get("content-type")?.replace(/;.*$/, "")).toBe(type);
  expectValid([...path, "content", type, "schema"], type.endsWith("json") ? JSON.parse(body) : body, where);
}

/** Checks a value against the schema at a path in the description. */
function expectValid(path: readonly string[], value: unknown, where: string): void {
  const pointer = path.map((name) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`description#/${pointer}`);
  if (validate === undefined) throw new Error(`The API description has no schema at ${pointer}`);
  const isValid = validate(value);
  expect({ where, errors: isValid ? null : validate.errors }).toEqual({ where, errors: null });
}
