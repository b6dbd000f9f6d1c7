/** The source catalog. */
import { Elysia } from "elysia";
import { noNewsInWords, readSilentSources } from "../../sources/freshness.ts";
import { listSources } from "../../sources/source.ts";
import { capitalized } from "../../text/in-words.ts";
import { withKey } from "../admission.ts";
import { operation } from "../operation.ts";
import { parameters } from "../parameters.ts";
import { respondJson } from "../respond.ts";
import { SourceList } from "../schemas.ts";

export const sourceRoutes = new Elysia({ tags: ["Sources"] }).use(withKey).get(
  "/sources",
  async ({ call }) => {
    const { model, now } = call.service;
    const silent = await readSilentSources(model.db, now());
    const data = (await listSources(model.db)).map(({ code, name, description }) => {
      const since = silent.get(code);
      return { code, name, description: since === undefined ? description : `${description} ${capitalized(noNewsInWords(since, code))}.` };
    });

    return respondJson(call, JSON.stringify({ data, meta: { request_id: call.id } }));
  },
  {
    ...parameters({ query: {} }),
    detail: operation({
      operationId: "listSources",
      summary: "Source catalog",
      description:
        "The named sources. Records can have codes that are not in this list; `source=OTHER` finds them. The description of a source that is silent ends with the day of its last news.",
      response: SourceList,
      problems: ["unsupported_parameter"],
    }),
  },
);
