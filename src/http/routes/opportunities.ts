/** The list, and one opportunity. */

import { fold } from "../../opportunities/facets.ts";
import { findOpportunity } from "../../opportunities/find.ts";
import { type Filter, listOpportunities } from "../../opportunities/list.ts";
import { Opportunity, programTypes, statuses } from "../../opportunities/opportunity.ts";
import type { ReadModel } from "../../opportunities/read-model.ts";
import { cursorScope, decodeCursor } from "../cursor.ts";
import { detailEnvelope, detailOf, pageOf } from "../envelope.ts";
import { isNotModified, validatorsOf } from "../etag.ts";
import type { Operation, Route } from "../operation.ts";
import { respondPage } from "../page.ts";
import { Problem } from "../problem.ts";
import { cursor, instant, integer, listOf, pathId, readParameters, text } from "../query.ts";
import { respond } from "../respond.ts";

export const getOpportunities = {
  path: "/opportunities",
  operationId: "listOpportunities",
  summary: "List opportunities",
  description:
    "Ordered by `updated_at`, newest first, then by `id`, descending. Different filters combine with and, values of one filter with or.",
  needsKey: true,
  parameters: {
    status: listOf({ description: "Only these statuses.", allowed: statuses }),
    source: listOf({
      description: "Only these source codes, in any letter case. `OTHER` stands for every source that the catalog does not name.",
      upperCase: true,
      example: "GRANTS_GOV",
    }),
    agency: text({ description: "Only where the agency's name contains this text, in any letter case.", lengthMax: 200, example: "NASA" }),
    program_type: listOf({ description: "Only these program types.", allowed: programTypes }),
    source_opportunity_id: text({
      description: "Only the record that bears or bore this upstream identifier. Needs exactly one `source`.",
      lengthMax: 256,
      withOne: "source",
    }),
    updated_since: instant({ description: "Only records that changed after this instant (not at it)." }),
    limit: integer({ description: "Page size.", min: 1, max: 100, fallback: 25 }),
    cursor: cursor({ description: "`meta.next_cursor` of the page before, sent with the same filters." }),
  },
  contentType: "application/json",
  schema: pageOf(Opportunity),
  isConditional: false,
  problems: ["unsupported_parameter", "invalid_parameter", "invalid_cursor"],
} as const satisfies Operation;

export const getOpportunity = {
  path: "/opportunities/{id}",
  operationId: "getOpportunity",
  summary: "One opportunity",
  description: "Send the `ETag` you hold as `If-None-Match`: the answer is 304 without a body while the record is unchanged.",
  needsKey: true,
  parameters: { id: pathId({ description: "The service's id of the opportunity." }) },
  contentType: "application/json",
  schema: detailOf(Opportunity),
  isConditional: true,
  problems: ["unsupported_parameter", "invalid_parameter", "not_found"],
} as const satisfies Operation;

export function opportunitiesRoute({ model }: { model: ReadModel }): Route {
  return {
    operation: getOpportunities,
    answer: async (call) => {
      const { limit, cursor, ...filter } = readParameters(call, getOpportunities.parameters);
      const scope = cursorScope(getOpportunities.path, sameFilter(filter));
      const after = decodeCursor(model.cursorSecret, scope, cursor);

      const page = await listOpportunities(model, filter, limit, after);

      return respondPage(call, page, { cursorSecret: model.cursorSecret, scope });
    },
  };
}

export function opportunityRoute({ model }: { model: ReadModel }): Route {
  return {
    operation: getOpportunity,
    answer: async (call) => {
      const { id } = readParameters(call, getOpportunity.parameters);

      const found = await findOpportunity(model, id);
      if (found === undefined) throw noOpportunity(id);

      const { etag, lastModified } = validatorsOf(found);
      const headers = { ETag: etag, "Last-Modified": lastModified, "Cache-Control": "private, no-cache" };
      if (isNotModified(call.headers, { etag, lastModified })) return respond(call, 304, headers, null);
      return respond(call, 200, { ...headers, "Content-Type": "application/json" }, detailEnvelope(found.document, call.id));
    },
  };
}

export function noOpportunity(id: string): Problem {
  return new Problem("not_found", `There is no opportunity with the id ${id}.`);
}

/** D-15: the letter case of an agency does not make another filter. */
function sameFilter(filter: Filter): Filter {
  return filter.agency === undefined ? filter : { ...filter, agency: fold(filter.agency) };
}
