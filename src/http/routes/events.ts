/** The history of one opportunity. */

import { eventTypes, OpportunityEvent } from "../../events/event.ts";
import { listOpportunityEvents } from "../../events/list.ts";
import type { ReadModel } from "../../opportunities/read-model.ts";
import { cursorScope, decodeCursor } from "../cursor.ts";
import { pageOf } from "../envelope.ts";
import type { Operation, Route } from "../operation.ts";
import { respondPage } from "../page.ts";
import { cursor, flag, instant, integer, listOf, pathId, readParameters } from "../query.ts";
import { noOpportunity } from "./opportunities.ts";

export const getEvents = {
  path: "/opportunities/{id}/events",
  operationId: "listOpportunityEvents",
  summary: "Change history of one opportunity",
  description:
    "Ordered by `detected_at`, newest first, then by `id`, descending. Events of severity `noise` and `cosmetic` are left out unless asked for.",
  needsKey: true,
  parameters: {
    id: pathId({ description: "The service's id of the opportunity." }),
    type: listOf({ description: "Only these event types.", allowed: eventTypes }),
    since: instant({ description: "Only events detected after this instant (not at it)." }),
    include_insignificant: flag({ description: "Whether events of severity `noise` and `cosmetic` are listed too.", fallback: false }),
    limit: integer({ description: "Page size.", min: 1, max: 100, fallback: 25 }),
    cursor: cursor({ description: "`meta.next_cursor` of the page before, sent with the same filters." }),
  },
  contentType: "application/json",
  schema: pageOf(OpportunityEvent),
  isConditional: false,
  problems: ["unsupported_parameter", "invalid_parameter", "invalid_cursor", "not_found"],
} as const satisfies Operation;

export function eventsRoute({ model }: { model: ReadModel }): Route {
  return {
    operation: getEvents,
    answer: async (call) => {
      const { id, limit, cursor, ...filter } = readParameters(call, getEvents.parameters);
      const scope = cursorScope(`/opportunities/${id}/events`, filter);
      const after = decodeCursor(model.cursorSecret, scope, cursor);

      const page = await listOpportunityEvents(model, id, filter, limit, after);
      if (page === undefined) throw noOpportunity(id);

      return respondPage(call, page, { cursorSecret: model.cursorSecret, scope });
    },
  };
}
