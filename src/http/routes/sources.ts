/** The source catalogue. */
import type { ReadModel } from "../../opportunities/read-model.ts";
import { listSources, SourceEntry } from "../../sources.ts";
import { catalogOf } from "../envelope.ts";
import type { Operation, Route } from "../operation.ts";
import { readParameters } from "../query.ts";
import { respondJson } from "../respond.ts";

export const getSources = {
  path: "/sources",
  operationId: "listSources",
  summary: "Source catalog",
  description: "The named sources. The list is open-ended: records can have codes that it does not hold (`source=OTHER` finds them).",
  needsKey: true,
  parameters: {},
  contentType: "application/json",
  schema: catalogOf(SourceEntry),
  isConditional: false,
  problems: ["unsupported_parameter"],
} as const satisfies Operation;

export function sourcesRoute({ model }: { model: ReadModel }): Route {
  return {
    operation: getSources,
    answer: async (call) => {
      readParameters(call, getSources.parameters);

      const data = await listSources(model.db);

      return respondJson(call, JSON.stringify({ data, meta: { request_id: call.id } }));
    },
  };
}
