/** The description for programs, the page for people, and the files that the page loads. */
import { Elysia } from "elysia";
import { withoutKey } from "../admission.ts";
import { operation } from "../operation.ts";
import { respondOptions } from "../respond.ts";
import { findFile, respondFile } from "../static-files.ts";

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
