/** The description of the service, OpenAPI 3.1: made of the tables by which requests are routed, read, refused and answered. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Change, OpportunityEvent } from "../events/event.ts";
import { Contact, Funding, Opportunity, Source } from "../opportunities/opportunity.ts";
import { SourceEntry } from "../sources.ts";
import examples from "./docs/examples.json" with { type: "json" };
import { guideText } from "./docs/guide.ts";
import { samplesOf } from "./docs/samples.ts";
import { PageLinks, PageMeta, RequestMeta } from "./envelope.ts";
import { commonProblems, keyProblems, type Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { FieldError, type ProblemCode, ProblemDetails, problems, problemType } from "./problem.ts";
import type { Parameter } from "./query.ts";
import { LIST_ITEMS_MAX } from "./query.ts";
import { API_VERSION } from "./respond.ts";
import { getEvents } from "./routes/events.ts";
import { getMeta, ServiceMetadata } from "./routes/meta.ts";
import { getOpportunities, getOpportunity } from "./routes/opportunities.ts";
import { getSources } from "./routes/sources.ts";

/** Schemas that bear a name in the description. What is nested in them and bears one too is referred to. */
const schemas: Readonly<Record<string, TSchema>> = {
  Opportunity,
  Source,
  Organization: Opportunity.properties.organization,
  Program: Opportunity.properties.program,
  Funding,
  Dates: Opportunity.properties.dates,
  Classifications: Opportunity.properties.classifications,
  Eligibility: Opportunity.properties.eligibility,
  Contact,
  Relationships: Opportunity.properties.relationships,
  OpportunityEvent,
  Change,
  SourceEntry,
  ServiceMetadata,
  OpportunityPage: getOpportunities.schema,
  OpportunityDetail: getOpportunity.schema,
  OpportunityEventPage: getEvents.schema,
  SourceList: getSources.schema,
  ServiceMetadataDetail: getMeta.schema,
  RequestMeta,
  PageMeta,
  PageLinks,
  ProblemDetails,
  FieldError,
};
