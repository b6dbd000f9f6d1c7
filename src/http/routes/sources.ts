/** The source catalog. */
import { Elysia } from "elysia";
import { listSources } from "../../sources/source.ts";
import { withKey } from "../admission.ts";
import { operation } from "../operation.ts";
import { parameters } from "../parameters.ts";
import { respondJson } from "../respond.ts";
import { SourceList } from "../schemas.ts";

export const sourceRoutes = new Elysia({ tags: ["Sources"] }).use(withKey).get(
  "/sources",
  async ({ call }) => {
    const data = await listSources(call.service.model.db);

    return respondJson(call, JSON.stringify({ data, meta: { request_id: call.id } }));
  },
  {
    ...parameters({ query: {} }),
    detail: operation({
      operationId: "listSources",
      summary: "Source catalog",
      description: "The named sources. Records can have codes that are not in this list; `source=OTHER` finds them.",
      response: SourceList,
      problems: ["unsupported_parameter"],
    }),
  },
);
