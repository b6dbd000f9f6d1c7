/** The list, and one opportunity. */
import { Elysia } from "elysia";
import { type ListFilter, listOpportunities } from "../../opportunities/list.ts";
import { programTypes, statuses } from "../../opportunities/opportunity.ts";
import { getOpportunity } from "../../opportunities/read-model.ts";
import { fold } from "../../text/fold.ts";
import { withKey } from "../admission.ts";
import { cursorScope, decodeCursor } from "../cursor.ts";
import { isNotModified, validatorsOf } from "../etag.ts";
import { operation } from "../operation.ts";
import { idParameter, instantParameter, listParameter, pageParameters, textParameter } from "../parameter-kinds.ts";
import { parameters } from "../parameters.ts";
import { Problem } from "../problem.ts";
import { detailEnvelope, respond, respondPage } from "../respond.ts";
import { OpportunityDetail, OpportunityPage } from "../schemas.ts";

export const opportunityRoutes = new Elysia({ tags: ["Opportunities"] })
  .use(withKey)
  .get(
    "/opportunities",
    async ({ call, query: { limit, cursor, ...filter } }) => {
      const { model } = call.service;
      const scope = cursorScope("/opportunities", filterForScope(filter));
      const after = decodeCursor(model.cursorSecret, scope, cursor);

      const page = await listOpportunities(model, filter, limit, after);

      return respondPage(call, page, scope);
    },
    {
      ...parameters({
        query: {
          status: listParameter("Only these statuses.", { allowed: statuses }),
          source: listParameter(
            "Only these source codes, in upper or lower case. `OTHER` matches every source that is not in the source catalog.",
            { upperCase: true, example: "GRANTS_GOV" },
          ),
          agency: textParameter("Only if the agency's name contains this text, in upper or lower case.", {
            lengthMax: 200,
            example: "NASA",
          }),
          program_type: listParameter("Only these program types.", { allowed: programTypes }),
          source_opportunity_id: textParameter("Only the record that has or had this upstream identifier. Needs exactly one `source`.", {
            lengthMax: 256,
            needsOne: "source",
          }),
          updated_since: instantParameter("Only records that changed after this instant (not at it)."),
          ...pageParameters,
        },
      }),
      detail: operation({
        operationId: "listOpportunities",
        summary: "List opportunities",
        description:
          "Ordered by `updated_at`, newest first, then by `id`, descending. Different filters combine with and, values of one filter with or.",
        response: OpportunityPage,
        problems: ["unsupported_parameter", "invalid_parameter", "invalid_cursor"],
      }),
    },
  )
  .get(
    "/opportunities/:id",
    async ({ call, params: { id } }) => {
      const found = await getOpportunity(call.service.model, id);
      if (found === undefined) throw noOpportunity(id);

      const validators = validatorsOf(found, call.startedAt);
      const headers = { ETag: validators.etag, "Last-Modified": validators.lastModified, "Cache-Control": "private, no-cache" };
      if (isNotModified(call.headers, validators)) return respond(call, 304, headers, null);
      return respond(call, 200, { ...headers, "Content-Type": "application/json" }, detailEnvelope(found.document, call.id));
    },
    {
      ...parameters({ params: { id: idParameter } }),
      detail: operation({
        operationId: "getOpportunity",
        summary: "One opportunity",
        description: "Send the `ETag` that you have as `If-None-Match`. While the record is unchanged, the response is 304 without a body.",
        response: OpportunityDetail,
        headers: ["ETag", "Last-Modified"],
        problems: ["unsupported_parameter", "invalid_parameter", "not_found"],
      }),
    },
  );

export function noOpportunity(id: string): Problem {
  return new Problem("not_found", `There is no opportunity with the id ${id}.`);
}

/** The filter that a cursor is bound to. An agency in another letter case is the same filter (D-15). */
function filterForScope(filter: ListFilter): ListFilter {
  return filter.agency === undefined ? filter : { ...filter, agency: fold(filter.agency) };
}
