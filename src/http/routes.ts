/** All routes below the base path, in the order of `/openapi.json`. */
import { Elysia } from "elysia";
import { descriptionRoutes } from "./routes/description.ts";
import { eventRoutes } from "./routes/events.ts";
import { metaRoutes } from "./routes/meta.ts";
import { opportunityRoutes } from "./routes/opportunities.ts";
import { sourceRoutes } from "./routes/sources.ts";

export const routes = new Elysia().use(metaRoutes).use(sourceRoutes).use(opportunityRoutes).use(eventRoutes).use(descriptionRoutes);
