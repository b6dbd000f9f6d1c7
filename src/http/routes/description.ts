/** The description for programs, the page for people, and the files that the page loads. */
import { Elysia } from "elysia";
import { withoutKey } from "../admission.ts";
import type { ApiCall, StaticFile } from "../call.ts";
import { isNotModified } from "../etag.ts";
import { operation } from "../operation.ts";
import { noSuchPath } from "../problem.ts";
import { respond, respondOptions } from "../respond.ts";

export const descriptionRoutes = new Elysia({ tags: ["Service"] })
  .use(withoutKey)
  .get("/openapi.json", ({ call }) => respondFile(call, findFile(call, "/openapi.json")), {
    detail: operation({
      operationId: "getOpenApi",
      summary: "This description",
      description: "OpenAPI 3.1, generated from the server's routes.",
      security: [],
      response: "application/json",
      headers: ["ETag"],
    }),
  })
  .get("/docs", ({ call }) => respondFile(call, findFile(call, "/docs")), {
    detail: operation({
      operationId: "getDocs",
      summary: "The reference for people",
      description: "An HTML page that works without a network and never asks for a key.",
      security: [],
      response: "text/html",
      headers: ["ETag", "Content-Security-Policy"],
    }),
  })
  .all(
    "/docs/:file",
    ({ call, params: { file } }) => {
      const found = findFile(call, `/docs/${file}`);
      return call.method === "OPTIONS" ? respondOptions(call) : respondFile(call, found);
    },
    { detail: { hide: true } },
  );

function findFile({ service: { files, baseUrl } }: ApiCall, path: string): StaticFile {
  const file = files().get(path);
  if (file === undefined) throw noSuchPath(baseUrl);
  return file;
}

/** How long a file may be cached, unless its own headers say otherwise (D-20: at most a day). */
const MAX_AGE_SECONDS = 3600;

function respondFile(call: ApiCall, { etag, contentType, body, headers }: StaticFile) {
  const shared = { ETag: etag, "Cache-Control": `public, max-age=${MAX_AGE_SECONDS}`, ...headers };
  if (isNotModified(call.headers, { etag })) return respond(call, 304, shared, null);
  return respond(call, 200, { ...shared, "Content-Type": contentType }, body);
}
