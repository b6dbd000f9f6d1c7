/** The history of one opportunity. */
import { Elysia } from "elysia";
import { eventTypes } from "../../events/event.ts";
import { listOpportunityEvents } from "../../events/list.ts";
import { withKey } from "../admission.ts";
import { cursorScope, decodeCursor } from "../cursor.ts";
import { operation } from "../operation.ts";
import { flagParameter, idParameter, instantParameter, listParameter, pageParameters } from "../parameter-kinds.ts";
import { parameters } from "../parameters.ts";
import { respondPage } from "../respond.ts";
import { OpportunityEventPage } from "../schemas.ts";
import { noOpportunity } from "./opportunities.ts";

export const eventRoutes = new Elysia({ tags: ["Opportunities"] }).use(withKey).get(
  "/opportunities/:id/events",
  async ({ call, params: { id }, query: { limit, cursor, ...filter } }) => {
    const { model } = call.service;
    const scope = cursorScope(`/opportunities/${id}/events`, filter);
    const after = decodeCursor(model.cursorSecret, scope, cursor);

    const page = await listOpportunityEvents(model, id, filter, limit, after);
    if (page === undefined) throw noOpportunity(id);

    return respondPage(call, page, scope);
  },
  {
    ...parameters({
      params: { id: idParameter },
      query: {
        type: listParameter("Only these event types.", { allowed: eventTypes }),
        since: instantParameter("Only events detected after this instant (not at it)."),
        include_insignificant: flagParameter("Whether to include events of severity `noise` and `cosmetic`.", false),
        ...pageParameters,
      },
    }),
    detail: operation({
      operationId: "listOpportunityEvents",
      summary: "Change history of one opportunity",
      description:
        "Ordered by `detected_at`, newest first, then by `id`, descending. Events of severity `noise` and `cosmetic` are omitted unless `include_insignificant` is true.",
      response: OpportunityEventPage,
      problems: ["unsupported_parameter", "invalid_parameter", "invalid_cursor", "not_found"],
    }),
  },
);
