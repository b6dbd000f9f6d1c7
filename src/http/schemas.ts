/** The schemas of response bodies, and their form in the OpenAPI description. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Change, OpportunityEvent } from "../events/event.ts";
import { Contact, Funding, Opportunity, Source } from "../opportunities/opportunity.ts";
import { nextPage } from "../opportunities/page.ts";
import { SourceEntry } from "../sources/entry.ts";
import { nullable, object } from "../text/schema.ts";
import { ProblemDetails } from "./problem.ts";

const requestId = Type.String({ description: "Identifies this request; the same as `X-Request-Id`." });

const RequestMeta = object({ request_id: requestId });

const PageMeta = object({
  request_id: requestId,
  count: Type.Integer({ minimum: 0, description: "Number of items in this page." }),
  ...nextPage,
});

const PageLinks = object({
  self: Type.String({ format: "uri-reference", description: "This page, relative to the origin." }),
  next: nullable(
    Type.String({ format: "uri-reference" }),
    "The next page, relative to the origin. Do not follow it as returned; build the next request on your base address.",
  ),
});

const detailOf = <T extends TSchema>(data: T) => object({ data, meta: RequestMeta });
const listOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: RequestMeta });
const pageOf = <T extends TSchema>(item: T) => object({ data: Type.Array(item), meta: PageMeta, links: PageLinks });

const ServiceMetadata = object({
  name: Type.String({ description: "Name of the service." }),
  version: Type.String({ description: "Version of the API; the same as `API-Version`." }),
  status: Type.String({ description: "Lifecycle stage of the service." }),
  service_time: Type.String({ format: "date-time", description: "The current server time." }),
});

export const OpportunityPage = pageOf(Opportunity);
export const OpportunityDetail = detailOf(Opportunity);
export const OpportunityEventPage = pageOf(OpportunityEvent);
export const SourceList = listOf(SourceEntry);
export const ServiceMetadataDetail = detailOf(ServiceMetadata);

/** The schemas under `components`. If one of them is nested in another, the description has a reference. */
const namedSchemas: Readonly<Record<string, TSchema>> = {
  OpportunityPage,
  OpportunityDetail,
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
  OpportunityEventPage,
  OpportunityEvent,
  Change,
  SourceList,
  SourceEntry,
  ServiceMetadataDetail,
  ServiceMetadata,
  RequestMeta,
  PageMeta,
  PageLinks,
  ProblemDetails,
  FieldError: ProblemDetails.properties.errors.items,
};

const names = new Map(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]));

export type Members = { [name: string]: unknown };

export function describeNamedSchemas(): Members {
  return mapMembers(namedSchemas, describeWhole);
}

/** A schema in the description: a reference, if the schema has a name. */
export function describeSchema(schema: TSchema): Members {
  const name = names.get(schema);
  return name === undefined ? describeWhole(schema) : { $ref: `#/components/schemas/${name}` };
}

function describeWhole({ anyOf, items, properties, ...rest }: TSchema): Members {
  const [first, second] = (anyOf ?? []) as TSchema[];
  const isNullable = anyOf?.length === 2 && second?.type === "null" && first?.type !== "object";
  if (isNullable && first !== undefined) return { ...describeSchema(first), type: [first.type, "null"], ...rest };
  return {
    ...rest,
    ...(rest.type === "integer" && { format: rest.maximum > 2 ** 31 ? "int64" : "int32" }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(describeSchema) }),
    ...(items !== undefined && { items: describeSchema(items) }),
    ...(properties !== undefined && { properties: mapMembers(properties as Record<string, TSchema>, describeProperty) }),
  };
}

/** Describes a property that is always null as a string or null: openapi-fetch 0.17 drops properties of type null. */
function describeProperty(schema: TSchema): Members {
  return schema.type === "null" ? { ...schema, type: ["string", "null"] } : describeSchema(schema);
}

export function mapMembers<T>(table: Readonly<Record<string, T>>, describe: (member: T) => unknown): Members {
  return Object.fromEntries(Object.entries(table).map(([name, member]) => [name, describe(member)]));
}
