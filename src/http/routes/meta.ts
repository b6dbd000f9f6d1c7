/** What needs no key: the service's own data, and its description as files that were made before. */
import { Type } from "@sinclair/typebox";
import { formatInstant } from "../../instant.ts";
import { detailOf } from "../envelope.ts";
import { isNotModified } from "../etag.ts";
import type { Operation, Route } from "../operation.ts";
import { API_VERSION, respond, respondJson } from "../respond.ts";

export const ServiceMetadata = Type.Object(
  {
    name: Type.String({ description: "Name of the service." }),
    version: Type.String({ description: "Version of the API; the same as `API-Version`." }),
    status: Type.String({ description: "Lifecycle stage of the service." }),
    service_time: Type.String({ format: "date-time", description: "The current server time." }),
  },
  { additionalProperties: false },
);

export const getMeta = {
  path: "/meta",
  operationId: "getMeta",
  summary: "Service name, version, status and clock",
  description: "Needs no key and is not counted. Use it as a health check.",
  needsKey: false,
  parameters: null,
  contentType: "application/json",
  schema: detailOf(ServiceMetadata),
  isConditional: false,
  problems: [],
} as const satisfies Operation;

export const getOpenApi = {
  path: "/openapi.json",
  operationId: "getOpenApi",
  summary: "This description",
  description: "OpenAPI 3.1, generated from the tables that the server itself reads requests by.",
  needsKey: false,
  parameters: null,
  contentType: "application/json",
  schema: null,
  isConditional: true,
  problems: [],
} as const satisfies Operation;

export const getDocs = {
  path: "/docs",
  operationId: "getDocs",
  summary: "The reference for people",
  description: "An HTML page that works without a network and never asks for a key.",
  needsKey: false,
  parameters: null,
  contentType: "text/html",
  schema: null,
  isConditional: true,
  problems: [],
} as const satisfies Operation;

export function metaRoute({ now }: { now: () => number }): Route {
  return {
    operation: getMeta,
    answer: (call) => {
      const data = { name: "fundfeed", version: API_VERSION, status: "preview", service_time: formatInstant(now()) };
      return respondJson(call, JSON.stringify({ data, meta: { request_id: call.id } }));
    },
  };
}

/** How long a public file may be kept, in seconds (D-20: at most a day). */
const ASSET_MAX_AGE_SECONDS = 3600;

/** A file of `/openapi.json` or `/docs`, the same for everybody. `path` is below the base path; `headers` come on top of the usual ones. */
export type Asset = { path: `/${string}`; contentType: string; body: Uint8Array<ArrayBuffer>; headers?: Record<string, string> };

export function assetRoute({ path, contentType, body, headers }: Asset): Route {
  // Weak: the same file may be sent in several codings.
  const etag = `W/"${Bun.CryptoHasher.hash("sha256", body, "hex").slice(0, 32)}"`;
  const shared = { ETag: etag, "Cache-Control": `public, max-age=${ASSET_MAX_AGE_SECONDS}`, ...headers };
  const operation = [getOpenApi, getDocs].find((known) => known.path === path) ?? { ...getDocs, path, contentType };
  return {
    operation,
    answer: (call) =>
      isNotModified(call.headers, { etag })
        ? respond(call, 304, { ...shared }, null)
        : respond(call, 200, { ...shared, "Content-Type": contentType }, body),
  };
}
