/** The service's own data. */
import { Elysia } from "elysia";
import { formatInstant } from "../../text/instant.ts";
import { withoutKey } from "../admission.ts";
import { operation } from "../operation.ts";
import { API_VERSION, respondJson } from "../respond.ts";
import { ServiceMetadataDetail } from "../schemas.ts";

export const metaRoutes = new Elysia({ tags: ["Service"] }).use(withoutKey).get(
  "/meta",
  ({ call }) => {
    const data = { name: "fundfeed", version: API_VERSION, status: "preview", service_time: formatInstant(call.service.now()) };
    return respondJson(call, JSON.stringify({ data, meta: { request_id: call.id } }));
  },
  {
    detail: operation({
      operationId: "getMeta",
      summary: "Service name, version, status and clock",
      description: "Needs no key and is not counted. Use it as a health check.",
      security: [],
      response: ServiceMetadataDetail,
    }),
  },
);
