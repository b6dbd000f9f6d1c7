/** The opportunity resource. Imports validate it, responses contain it, and the API description documents it, all from this schema. */
import { type Static, Type } from "@sinclair/typebox";
import type { EpochMs } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { parseStored } from "../text/stored-json.ts";

export const statuses = ["forecast", "pre_release", "open", "closing_soon", "closed", "awarded", "cancelled", "archived"] as const;

export const programTypes = [
  "SBIR",
  "STTR",
  "BAA",
  "RFI",
  "RFP",
  "OTA",
  "GRANT",
  "CONTRACT",
  "PRIZE",
  "CSO",
  "CRADA",
  "INDUSTRY_EVENT",
  "OTHER",
] as const;

export type Status = (typeof statuses)[number];
export type ProgramType = (typeof programTypes)[number];

const text = (description: string) => nullable(Type.String(), description);
const instant = (description: string) => nullable(Type.String({ format: "date-time" }), description);
/** A decimal as text, never a float (D-36). */
const amount = (description: string) => nullable(Type.String({ pattern: "^-?[0-9]+(\\.[0-9]+)?$", maxLength: 100 }), description);
const texts = (description: string) => Type.Array(Type.String(), { description });

export const Source = object({
  code: Type.String({ description: "Upstream source code. The set is open-ended: show a code even if the catalog does not list it." }),
  name: Type.String({ description: "Display name of the source." }),
  opportunity_id: Type.String({ description: "Identifier used by the upstream source." }),
  url: text("The opportunity's page at the upstream source."),
});

export const Funding = object({
  currency: Type.Literal("USD", { description: "Always `USD`." }),
  amount_min: amount("Smallest award, a decimal string."),
  amount_max: amount("Largest award, a decimal string."),
  display: text("Funding as text for people."),
});

export const Contact = object({
  name: text("Name of the person or office."),
  email: text("E-mail address."),
  phone: text("Telephone number."),
  role: text("What the contact is for."),
});

export const Opportunity = object({
  id: Type.String({
    format: "uuid",
    description: "Service identifier, the same in every installation. Not the upstream solicitation number.",
  }),
  source: Source,
  title: Type.String({ description: "Title as published." }),
  summary: text("A short plain text."),
  description: text("Upstream text. It may contain HTML: sanitize it before rendering."),
  status: Type.String({
    description: `Known values: ${statuses.map((status) => `\`${status}\``).join(", ")}. Unknown values can appear; show them as they are.`,
    examples: [...statuses],
  }),
  status_display: text("The upstream's own word for the status."),
  organization: object({
    agency: text("Department or independent agency."),
    sub_agency: text("Bureau, command or office within the agency."),
    issuing_office: text("Office that issued the opportunity."),
  }),
  program: object({
    type: text(`Known values: ${programTypes.map((type) => `\`${type}\``).join(", ")}.`),
    solicitation_id: text("Solicitation or opportunity number."),
    solicitation_title: text("Title of the solicitation."),
    contract_class: text("Kind of contract, notice or phase, in the upstream's words."),
  }),
  funding: nullable(Funding, "Null when nothing is stated."),
  dates: object({
    posted_at: instant("When the opportunity was published."),
    opens_at: instant("When submissions open."),
    closes_at: instant("When submissions close."),
    response_at: instant("When responses are due."),
  }),
  classifications: object({
    keywords: texts("Keywords and category labels."),
    technology_areas: texts("Technology areas."),
    tech_taxonomy: texts("Codes with their scheme: `ALN:93.242`, `FAC:ST`, `PSC:AC12`."),
    naics_codes: texts("NAICS codes."),
    set_aside_types: texts("Set-aside codes."),
  }),
  eligibility: object({
    requirements: text("Who may apply, and under which conditions."),
    geographic_scope: text("Place of performance or geographic limits."),
  }),
  contacts: Type.Array(Contact, { description: "Official points of contact. Personal data." }),
  value_estimate: Type.Null({ description: "Reserved. Always null: not provided." }),
  relationships: object({
    parent_id: text("Id of the opportunity that this one follows from."),
    canonical_id: text("Id of the record that stands for the same opportunity across sources."),
  }),
  created_at: Type.String({ format: "date-time", description: "When the service first stored the record." }),
  updated_at: Type.String({
    format: "date-time",
    description: "When the record last changed here. Orders the list and drives `updated_since`.",
  }),
});

/** Not served by `/v1`. Only attachments, questions and the deadline note have events. (E-56) */
export const Sidecar = object({
  attachments: Type.Array(
    object({
      name: text("File or link name."),
      url: text("Address."),
      kind: Type.Optional(Type.String({ description: "What it is, in the upstream's words." })),
      size: Type.Optional(Type.Integer({ minimum: 0, description: "Bytes, as the upstream states them." })),
    }),
  ),
  questions: Type.Array(object({ question: text("Question as asked."), answer: text("Answer as published.") })),
  questions_read: nullable(
    Type.Literal(true),
    "A file had the questions, or said that there are none. Only of a source that has layouts without them.",
  ),
  agency_codes: texts("The upstream's own codes of the agency."),
  due_dates: Type.Array(object({ at: Type.String({ format: "date-time" }), words: text("The upstream's words for it.") }), {
    description: "All due dates that the upstream lists, in its order.",
  }),
  expires_at: instant("When the announcement expires, if the upstream also lists due dates."),
  deadline_note: text("What the upstream says about the deadline, in words."),
  applicant_types: texts("The upstream's codes of who may apply."),
  place: nullable(object({ city: text("City."), state: text("State."), country: text("Country.") }), "Place of performance, as published."),
  award: nullable(
    object({ number: text("Award number."), date: text("Date."), amount: amount("A decimal string."), awardee: text("Who won.") }),
    "The award that the upstream states.",
  ),
});

/** What a line of `export` has besides, so that `import records` can restore the record. */
export const onlyExported = {
  lineage: Type.String({ description: "Stays the same while a source gives an amended record new ids." }),
  earlier_ids: texts("The upstream ids that the record had before."),
  status_basis: Type.Union([Type.Literal("stated"), Type.Literal("dates")], {
    description: "Whether the upstream stated the status, or the dates determine it.",
  }),
  stated: object(
    { status: text("The stated status."), status_display: text("The upstream's own word for it.") },
    "What the source stated, where `status` is what holds now.",
  ),
  status_until: Type.String({ format: "date-time", description: "Until when the stated status holds." }),
  archives_at: Type.String({ format: "date-time", description: "From when on the record is archived." }),
  linked: Type.Array(Type.Union([Type.Literal("parent_id"), Type.Literal("canonical_id")]), {
    description: "Which relationships fundfeed found. The others are stated.",
  }),
  last_seen: object(
    {
      at: Type.String({ format: "date-time", description: "When an import last contained it." }),
      missed_at: instant("When a whole import first lacked it; null if none has since."),
    },
    "Of a record that is open and states no date.",
  ),
  as_stored: object(
    { status: Type.String(), status_display: text("The upstream's own word."), response_at: instant("When responses are due.") },
    "What is stored, where the clock is about to change it.",
  ),
};

const { lineage, earlier_ids, status_basis, ...sometimes } = onlyExported;

export const ExportedRecord = Type.Composite(
  [
    Opportunity,
    Type.Partial(Type.Omit(Sidecar, ["deadline_note"])),
    object({ lineage, earlier_ids, status_basis }),
    Type.Partial(object(sometimes)),
  ],
  { additionalProperties: false },
);

export const noSidecar: Sidecar = {
  attachments: [],
  questions: [],
  questions_read: null,
  agency_codes: [],
  due_dates: [],
  expires_at: null,
  deadline_note: null,
  applicant_types: [],
  place: null,
  award: null,
};

export type Opportunity = Static<typeof Opportunity>;
export type Sidecar = Static<typeof Sidecar>;

/** `last_seen` if nothing else would end it (E-205). `silent_since` is a day (E-219). */
export type WholeOpportunity = Opportunity & { sidecar: Sidecar; last_seen?: LastSeen; silent_since?: string };

/** `missed_at` is the first whole import since that lacked it. */
export type LastSeen = { at: EpochMs; missed_at: EpochMs | null };

type StoredWhole = { document: Uint8Array; sidecar: Uint8Array; seen_at?: EpochMs | null; missed_at?: EpochMs | null };

/** The opportunity with its sidecar, from the bytes that are stored. Throws if they are damaged. */
export function wholeOpportunity(stored: StoredWhole): WholeOpportunity {
  const { seen_at = null, missed_at = null } = stored;
  const { deadline_note, ...opportunity } = withNoteApart(parseStored<Opportunity>(stored.document));
  const sidecar = { ...noSidecar, ...parseStored<Partial<Sidecar>>(stored.sidecar), deadline_note };
  return { ...opportunity, sidecar, ...(seen_at !== null && { last_seen: { at: seen_at, missed_at } }) };
}

export function withoutSidecar({ sidecar, last_seen: _, silent_since: __, ...opportunity }: WholeOpportunity): Opportunity {
  return { ...opportunity, eligibility: servedEligibility(opportunity.eligibility, sidecar.deadline_note) };
}

// ---- The deadline note. The API has no field for it, and serves it as the last line of `eligibility.requirements`.
// Stored documents are as they are served, so no catalog got an event for it.

type Eligibility = Opportunity["eligibility"];

const NOTE = /(?:^|\n)Deadline note: (.*)$/;
/** How `status_display` names a letter of NSF: it announces interest, and one applies to a program. */
export const LETTER = "Dear Colleague Letter";
/** What NSF says in a field of its own. It is served as it is. */
export const ANYTIME_NOTE = "Proposals accepted anytime";

/** The eligibility as it is served: the deadline note is its last line. */
export function servedEligibility({ requirements, geographic_scope }: Eligibility, note: string | null): Eligibility {
  const line = note === null || note === "" ? null : `Deadline note: ${note.replaceAll(/\s+/g, " ")}`;
  const only = note === ANYTIME_NOTE ? note : line;
  return { requirements: line === null ? requirements : requirements === null ? only : `${requirements}\n${line}`, geographic_scope };
}

/** A document with the deadline note apart from who may apply. */
export function withNoteApart<T extends { eligibility: Eligibility }>(document: T): T & { deadline_note: string | null } {
  const { requirements = null, geographic_scope = null } = document.eligibility ?? {}; // A damaged record may lack it.
  const { index = 0, 1: note = null } = requirements === ANYTIME_NOTE ? { 1: ANYTIME_NOTE } : (NOTE.exec(requirements ?? "") ?? {});
  if (note === null) return { ...document, deadline_note: null };
  return { ...document, eligibility: { requirements: requirements?.slice(0, index) || null, geographic_scope }, deadline_note: note };
}

/** Upstream ids that only machines use: numbers of a database, hexadecimal ids, addresses. */
const INTERNAL = /^(\d+|[0-9a-f-]{32,36}|https?:.*)$/i;

/** The number by which people know it: the upstream id if people use it, else the solicitation number; null if it has neither. */
export function numberOf({ source, program }: Pick<Opportunity, "source" | "program">): string | null {
  const upstreamId = source.opportunity_id.trim();
  return INTERNAL.test(upstreamId) ? program.solicitation_id?.trim() || null : upstreamId;
}

/** The number for tables and headings: "–" if there is none. */
export function numberInWords(opportunity: Pick<Opportunity, "source" | "program">): string {
  return numberOf(opportunity) ?? "–";
}

/** A number as it is compared: in upper case, and without anything but letters and digits. People write dashes or leave them out. */
export function numberKeyOf(number: string): string {
  return number.toUpperCase().replace(/[^0-9A-Z]/g, "");
}
