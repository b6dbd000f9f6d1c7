/** The bodies, queries and problem codes of the API, as its description has them. Written by a test of this repository. */
// biome-ignore-all format: the same.

export type OpportunityPage = {
  data: Opportunity[];
  meta: PageMeta;
  links: PageLinks;
};

export type OpportunityDetail = {
  data: Opportunity;
  meta: RequestMeta;
};

export type Opportunity = {
  /** Service identifier, the same in every installation. Not the upstream solicitation number. */
  id: string;
  source: Source;
  /** Title as published. */
  title: string;
  /** A short plain text. */
  summary: string | null;
  /** Upstream text. It may contain HTML: sanitize it before rendering. */
  description: string | null;
  /** Known values: `forecast`, `pre_release`, `open`, `closing_soon`, `closed`, `awarded`, `cancelled`, `archived`. Unknown values can appear; show them as they are. */
  status: string;
  /** The upstream's own word for the status. */
  status_display: string | null;
  organization: Organization;
  program: Program;
  /** Null when nothing is stated. */
  funding: Funding | null;
  dates: Dates;
  classifications: Classifications;
  eligibility: Eligibility;
  /** Official points of contact. Personal data. */
  contacts: Contact[];
  /** Reserved. Always null: not provided. */
  value_estimate: string | null;
  relationships: Relationships;
  /** When the service first stored the record. */
  created_at: string;
  /** When the record last changed here. Orders the list and drives `updated_since`. */
  updated_at: string;
};

export type Source = {
  /** Upstream source code. The set is open-ended: show a code even if the catalog does not list it. */
  code: string;
  /** Display name of the source. */
  name: string;
  /** Identifier used by the upstream source. */
  opportunity_id: string;
  /** The opportunity's page at the upstream source. */
  url: string | null;
};

export type Organization = {
  /** Department or independent agency. */
  agency: string | null;
  /** Bureau, command or office within the agency. */
  sub_agency: string | null;
  /** Office that issued the opportunity. */
  issuing_office: string | null;
};

export type Program = {
  /** Known values: `SBIR`, `STTR`, `BAA`, `RFI`, `RFP`, `OTA`, `GRANT`, `CONTRACT`, `PRIZE`, `CSO`, `CRADA`, `INDUSTRY_EVENT`, `OTHER`. */
  type: string | null;
  /** Solicitation or opportunity number. */
  solicitation_id: string | null;
  /** Title of the solicitation. */
  solicitation_title: string | null;
  /** Kind of contract, notice or phase, in the upstream's words. */
  contract_class: string | null;
};

export type Funding = {
  /** Always `USD`. */
  currency: "USD";
  /** Smallest award, a decimal string. */
  amount_min: string | null;
  /** Largest award, a decimal string. */
  amount_max: string | null;
  /** Funding as text for people. */
  display: string | null;
};

export type Dates = {
  /** When the opportunity was published. */
  posted_at: string | null;
  /** When submissions open. */
  opens_at: string | null;
  /** When submissions close. */
  closes_at: string | null;
  /** When responses are due. */
  response_at: string | null;
};

export type Classifications = {
  /** Keywords and category labels. */
  keywords: string[];
  /** Technology areas. */
  technology_areas: string[];
  /** Codes with their scheme: `ALN:93.242`, `FAC:ST`, `PSC:AC12`. */
  tech_taxonomy: string[];
  /** NAICS codes. */
  naics_codes: string[];
  /** Set-aside codes. */
  set_aside_types: string[];
};

export type Eligibility = {
  /** Who may apply, and under which conditions. */
  requirements: string | null;
  /** Place of performance or geographic limits. */
  geographic_scope: string | null;
};

export type Contact = {
  /** Name of the person or office. */
  name: string | null;
  /** E-mail address. */
  email: string | null;
  /** Telephone number. */
  phone: string | null;
  /** What the contact is for. */
  role: string | null;
};

export type Relationships = {
  /** Id of the opportunity that this one follows from. */
  parent_id: string | null;
  /** Id of the record that stands for the same opportunity across sources. */
  canonical_id: string | null;
};

export type OpportunityEventPage = {
  data: OpportunityEvent[];
  meta: PageMeta;
  links: PageLinks;
};

export type OpportunityEvent = {
  id: string;
  opportunity_id: string;
  /** Known values: `opportunity_added`, `opportunity_removed`, `status_changed`, `date_changed`, `funding_changed`, `description_changed`, `qanda_updated`, `attachments_changed`, `field_updated`, `unknown`. */
  type: string;
  /** Known values: `noise`, `cosmetic`, `informational`, `material`, `critical`, `unknown`. */
  severity: string;
  /** The change in a sentence. */
  summary: string | null;
  /** Dotted paths of the changed fields. */
  changed_fields: string[];
  /** The same fields, in the same order, with their values. */
  changes: Change[];
  /** When the change was stored: the record's `updated_at` of that change. */
  detected_at: string;
};

export type Change = {
  /** Dotted path of the field: `dates.closes_at`. */
  field: string;
  /** Value before, any JSON value. */
  previous: unknown;
  /** Value after, any JSON value. */
  current: unknown;
};

export type SourceList = {
  data: SourceEntry[];
  meta: RequestMeta;
};

export type SourceEntry = {
  /** Source code, as in an opportunity's `source.code` and the `source` filter. */
  code: string;
  /** Display name. */
  name: string;
  /** What the source publishes. */
  description: string;
};

export type ServiceMetadataDetail = {
  data: ServiceMetadata;
  meta: RequestMeta;
};

export type ServiceMetadata = {
  /** Name of the service. */
  name: string;
  /** Version of the API; the same as `API-Version`. */
  version: string;
  /** Lifecycle stage of the service. */
  status: string;
  /** The current server time. */
  service_time: string;
};

export type RequestMeta = {
  /** Identifies this request; the same as `X-Request-Id`. */
  request_id: string;
};

export type PageMeta = {
  /** Identifies this request; the same as `X-Request-Id`. */
  request_id: string;
  /** Number of items in this page. */
  count: number;
  /** Whether another page follows. */
  has_more: boolean;
  /** Send it as `cursor`, with the same filters, for the next page. Null on the last page. */
  next_cursor: string | null;
};

export type PageLinks = {
  /** This page, relative to the origin. */
  self: string;
  /** The next page, relative to the origin. Do not follow it as returned; build the next request on your base address. */
  next: string | null;
};

export type ProblemDetails = {
  /** Address of the description of this kind of problem. */
  type: string;
  /** Name of the kind of problem. It never varies. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** The kind of problem, for programs. */
  code: string;
  /** What is wrong with this request. */
  detail: string;
  /** Path of the request. */
  instance: string;
  /** The same as `X-Request-Id`. */
  request_id: string;
  /** Every invalid parameter. */
  errors?: FieldError[];
};

export type FieldError = {
  /** Name of the parameter. */
  field: string;
  /** What its value must be. */
  reason: string;
};

export type ListOpportunitiesQuery = {
  /** Only these statuses. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
  status?: readonly ("forecast" | "pre_release" | "open" | "closing_soon" | "closed" | "awarded" | "cancelled" | "archived")[] | undefined;
  /** Only these source codes, in upper or lower case. `OTHER` matches every source that is not in the source catalog. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
  source?: readonly string[] | undefined;
  /** Only if the agency's name contains this text, in upper or lower case. At most 200 characters, sent once. */
  agency?: string | undefined;
  /** Only these program types. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
  program_type?: readonly ("SBIR" | "STTR" | "BAA" | "RFI" | "RFP" | "OTA" | "GRANT" | "CONTRACT" | "PRIZE" | "CSO" | "CRADA" | "INDUSTRY_EVENT" | "OTHER")[] | undefined;
  /** Only the record that has or had this upstream identifier. Needs exactly one `source`. At most 256 characters, sent once. */
  source_opportunity_id?: string | undefined;
  /** Only records that changed after this instant (not at it). An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`. */
  updated_since?: string | undefined;
  /** Page size. From 1 to 100, in plain decimal digits, sent once. */
  limit?: number | undefined;
  /** `meta.next_cursor` of the previous page, with the same filters. At most 512 characters, sent once. */
  cursor?: string | undefined;
};

export type ListOpportunityEventsQuery = {
  /** Only these event types. Comma-separated, repeated or both; at most 50 values. Blanks around values and duplicates are ignored. */
  type?: readonly ("opportunity_added" | "opportunity_removed" | "status_changed" | "date_changed" | "funding_changed" | "description_changed" | "qanda_updated" | "attachments_changed" | "field_updated" | "unknown")[] | undefined;
  /** Only events detected after this instant (not at it). An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`. */
  since?: string | undefined;
  /** Whether to include events of severity `noise` and `cosmetic`. `true` or `false`, sent once. */
  include_insignificant?: boolean | undefined;
  /** Page size. From 1 to 100, in plain decimal digits, sent once. */
  limit?: number | undefined;
  /** `meta.next_cursor` of the previous page, with the same filters. At most 512 characters, sent once. */
  cursor?: string | undefined;
};

export type ProblemCode =
  /** A parameter has an invalid value. `errors` names each such parameter and says what its value must be. */
  | "invalid_parameter"
  /** The request has a query parameter that this operation does not support. No operation supports `q`, `sort` or `order`. */
  | "unsupported_parameter"
  /** The cursor is damaged, or it belongs to a request with other filters. Start again without it. */
  | "invalid_cursor"
  /** No key was sent, or the key is not valid. Send `Authorization: Bearer <API_KEY>`. */
  | "authentication_required"
  /** The key is valid, but its account has no active subscription. */
  | "insufficient_entitlement"
  /** No opportunity has that id, or the path does not exist. */
  | "not_found"
  /** The service is read-only: it accepts GET and OPTIONS. */
  | "method_not_allowed"
  /** The key has used up its requests for the day or the minute. Wait as many seconds as `Retry-After` says. */
  | "rate_limit_exceeded"
  /** The service failed unexpectedly. Quote `request_id` when you report it. */
  | "internal_error"
  /** The service cannot read its database at the moment. Wait as many seconds as `Retry-After` says. */
  | "service_unavailable";
