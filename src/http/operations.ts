/** All operations, in the order in which the description of the service lists them. */
import type { Operation } from "./operation.ts";
import { getEvents } from "./routes/events.ts";
import { getDocs, getMeta, getOpenApi } from "./routes/meta.ts";
import { getOpportunities, getOpportunity } from "./routes/opportunities.ts";
import { getSources } from "./routes/sources.ts";

export const operations: readonly Operation[] = [getMeta, getSources, getOpportunities, getOpportunity, getEvents, getOpenApi, getDocs];
