/** The schemas of response bodies, and how `/openapi.json` describes schemas. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Change, OpportunityEvent } from "../events/event.ts";
import { Contact, Funding, Opportunity, Source } from "../opportunities/opportunity.ts";
import { SourceEntry } from "../sources/source.ts";
import { catalogOf, detailOf, PageLinks, PageMeta, pageOf, RequestMeta } from "./envelope.ts";
import { ProblemDetails } from "./problem.ts";

export const ServiceMetadata = Type.Object(
  {
    name: Type.String({ description: "Name of the service." }),
    version: Type.String({ description: "Version of the API; the same as `API-Version`." }),
    status: Type.String({ description: "Lifecycle stage of the service." }),
    service_time: Type.String({ format: "date-time", description: "The current server time." }),
  },
  { additionalProperties: false },
);

export const OpportunityPage = pageOf(Opportunity);
export const OpportunityDetail = detailOf(Opportunity);
export const OpportunityEventPage = pageOf(OpportunityEvent);
export const SourceList = catalogOf(SourceEntry);
export const ServiceMetadataDetail = detailOf(ServiceMetadata);

/** The schemas under `components`. Where one of them is nested in another, the document has a reference. */
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

/** A JSON object. */
export type Members = { [name: string]: unknown };

/** `components.schemas` of the document. */
export function describeNamedSchemas(): Members {
  return mapMembers(namedSchemas, describeWhole);
}

/** A schema as the document has it: a reference, if the schema has a name. */
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

/**
 * A property that is always null is described as a string or null: openapi-fetch 0.17 drops a property whose type is null alone, and what
 * it returns then lacks a property that the named schema requires.
 */
function describeProperty(schema: TSchema): Members {
  return schema.type === "null" ? { ...schema, type: ["string", "null"] } : describeSchema(schema);
}

export function mapMembers<T>(table: Readonly<Record<string, T>>, describe: (member: T) => unknown): Members {
  return Object.fromEntries(Object.entries(table).map(([name, member]) => [name, describe(member)]));
}
