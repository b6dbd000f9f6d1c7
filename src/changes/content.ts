/** The content of a record on its way into the catalog, and the texts that are compared, stored and served. (E-15) */
import { hash } from "node:crypto";
import type { StatusBasis, StatusTerms } from "../opportunities/clock.ts";
import {
  type LastSeen,
  noSidecar,
  type Opportunity,
  type Sidecar,
  servedEligibility,
  type WholeOpportunity,
  withNoteApart,
} from "../opportunities/opportunity.ts";
import { type EpochMs, formatInstant, parseInstant } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";

/** What comes from the upstream: fields that are served, and the sidecar. */
export type Content = Omit<Opportunity, "id" | "created_at" | "updated_at"> & Sidecar & StatusTerms & Linked;

export type Relationships = Opportunity["relationships"];

type Linked = { linked?: (keyof Relationships)[] };

/** The relationships that the source states. Found links are not compared, so that an import need not look them up. (E-74) */
export function statedRelationships({ relationships, linked = [] }: Pick<Content, "relationships"> & Linked): Relationships {
  const stated = (name: keyof Relationships) => (linked.includes(name) ? null : relationships[name]);
  return { parent_id: stated("parent_id"), canonical_id: stated("canonical_id") };
}

export function withFound<T extends Linked>(
  { linked: _linked, ...record }: T,
  stated: Relationships,
  found: Partial<Relationships>,
): Omit<T, "linked"> & { relationships: Relationships } & Linked {
  const linked = relationshipNames.filter((name) => stated[name] === null && found[name] != null);
  const relationships = { ...stated };
  for (const name of linked) relationships[name] = found[name] ?? null;
  return { ...record, relationships, ...(linked.length === 0 ? {} : { linked }) };
}

const relationshipNames = ["parent_id", "canonical_id"] as const satisfies readonly (keyof Relationships)[];

export function withStatusTerms(content: Content, terms: StatusTerms): Content {
  const { stated: _stated, status_until: _until, archives_at: _archives, ...rest } = content;
  return { ...rest, ...statusTermsOf(terms) };
}

function statusTermsOf({ stated, status_until, archives_at }: StatusTerms): StatusTerms {
  return {
    ...(stated === undefined ? {} : { stated }),
    ...(status_until === undefined ? {} : { status_until }),
    ...(archives_at === undefined ? {} : { archives_at }),
  };
}

/** An opportunity in the form in which changes are detected. */
export function contentOfWhole({ sidecar, last_seen: _, silent_since: __, ...opportunity }: WholeOpportunity): Content {
  return { ...opportunity, ...sidecar };
}

/** The opportunity with another content, whose stored fields go into the sidecar. */
export function wholeOfContent({ id, created_at, updated_at, sidecar }: WholeOpportunity, content: Content): WholeOpportunity {
  const inSidecar = { ...noSidecar, ...sidecar };
  const [stored, served] = [true, false].map((isStored) =>
    Object.fromEntries(Object.entries(content).filter(([name]) => Object.hasOwn(inSidecar, name) === isStored)),
  );
  return { ...served, id, created_at, updated_at, sidecar: { ...noSidecar, ...stored } } as WholeOpportunity;
}

/** Ignore `content.status` while `status_basis` is `dates`, unless the record is being restored. */
export type ValidRecord = {
  lineage: string;
  earlier_ids: string[];
  status_basis: StatusBasis;
  content: Content;
  source_digest?: Uint8Array | undefined;
  /** The upstream's own history, the oldest revision first and the present one last. */
  revisions?: ValidRevision[];
  /** Contacts were removed, and must be from its stored history, too. */
  redacted?: true;
  /** What `export` wrote. An empty catalog restores it, others ignore it. */
  restored?: { created_at: EpochMs; updated_at: EpochMs; last_seen?: LastSeen };
};

export type ValidRevision = { content: Content; status_basis: StatusBasis; since: EpochMs };

/** A valid record, rendered and hashed once. */
export type PreparedRecord = Omit<ValidRecord, "content"> & { indexed: IndexedFields; rendered: RenderedContent };

export type IndexedFields = StatusTerms &
  Linked &
  Pick<Content, "title" | "status" | "status_display" | "organization" | "dates" | "relationships" | "due_dates" | "agency_codes"> & {
    source: Pick<Content["source"], "code" | "opportunity_id" | "url">;
    program: Pick<Content["program"], "type" | "solicitation_id" | "contract_class">;
  };

/**
 * A record's content as JSON, whose hash shows whether anything changed; document and sidecar are made of its parts. As another spelling is
 * no change, values that the clock determines are null, dates are instants without offsets, and relationships the stated ones.
 */
export type RenderedContent = {
  text: Uint8Array;
  /** The JSON before the status, from its display to the dates, between dates and relationships, and of the sidecar. */
  parts: { beforeStatus: Span; beforeDates: Span; afterDates: Span; sidecar: Span };
  hash: Uint8Array;
};

type Span = { start: number; end: number };

export function prepareRecord({ content, ...rest }: ValidRecord): PreparedRecord {
  return { ...rest, indexed: indexedFieldsOf(content), rendered: render(content, rest.status_basis) };
}

function indexedFieldsOf(content: Content): IndexedFields {
  const { source, title, status, status_display, organization, program, dates, relationships, linked, due_dates, agency_codes } = content;
  return {
    ...statusTermsOf(content),
    ...(linked === undefined ? {} : { linked }),
    source: { code: source.code, opportunity_id: source.opportunity_id, url: source.url },
    title,
    status,
    status_display,
    organization,
    program: { type: program.type, solicitation_id: program.solicitation_id, contract_class: program.contract_class },
    dates,
    relationships,
    due_dates,
    agency_codes,
  };
}

/** The content as text. Its keys must keep this order: another one would change every stored hash. */
export function render(content: Content, basis: StatusBasis): RenderedContent {
  const { status, status_display } = content;
  const isOfClock = content.stated !== undefined;
  let json = "";
  let length = 0;
  const append = (piece: string): Span => {
    const start = length;
    json += piece;
    length += Buffer.byteLength(piece);
    return { start, end: length };
  };

  const { source, title, organization, program, funding, classifications, contacts, value_estimate } = content;
  const { summary = null, description = null } = content; // A damaged record may lack them, and `check` renders it.
  const eligibility = content.eligibility && servedEligibility(content.eligibility, content.deadline_note ?? null);
  append("{");
  const beforeStatus = append(`${membersOf({ source, title, summary, description })},"status":`);
  append(basis === "dates" || isOfClock ? "null" : jsonOf(status));
  append(`,"status_display":${isOfClock ? "null" : JSON.stringify(status_display)}`);
  const beforeDates = append(`,${membersOf({ organization, program, funding })},"dates":`);
  append(jsonOf(comparedDates(content)));
  const afterDates = append(`,${membersOf({ classifications, eligibility, contacts, value_estimate })},"relationships":`);
  append(`${jsonOf(statedRelationships(content))},`);
  const sidecar = append(membersOf({ ...sidecarFieldsOf(content), ...statusTermsOf(content) }));
  append("}");
  const text = Buffer.from(json);
  return { text, parts: { beforeStatus, beforeDates, afterDates, sidecar }, hash: hash("sha256", text, "buffer") };
}

function sidecarFieldsOf(content: Content): Partial<Sidecar> {
  const { attachments, questions } = content;
  const others = sidecarNames.filter((name) => content[name] != null && (content[name] as { length?: number }).length !== 0);
  return { attachments, questions, ...Object.fromEntries(others.map((name) => [name, content[name]])) };
}

const sidecarNames = (Object.keys(noSidecar) as (keyof Sidecar)[]).filter((name) => name !== "deadline_note");

function membersOf(object: Partial<Content>): string {
  return JSON.stringify(object).slice(1, -1);
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** Which due date is the next depends on the clock, so it is not a change. */
function comparedDates({ dates: { posted_at, opens_at, closes_at, response_at }, due_dates }: Content): (string | null)[] {
  const next = due_dates.length === 0 ? response_at : null;
  return [posted_at, opens_at, closes_at, next].map((date) => (date === null ? null : instantText(date)));
}

/** Equal for all spellings of an instant. A damaged record may have none. */
function instantText(date: string): string {
  const instant = parseInstant(date);
  return instant === undefined ? date : `${instant.ms}.${instant.beyond}`;
}

type Unrendered = Pick<Content, "status" | "status_display" | "dates" | "relationships"> & Linked;

/** The content of a text, which lacks the clock's status, dates as written, and found links. */
export function contentOf({ text }: RenderedContent, { status, status_display, dates, relationships, linked }: Unrendered): Content {
  const shown = { status, status_display, dates, relationships, ...(linked === undefined ? {} : { linked }) };
  return { ...noSidecar, ...withNoteApart(parseStored<Content>(text)), ...shown };
}

type DocumentFields = Omit<Unrendered, "linked"> & { id: string; createdAt: EpochMs; updatedAt: EpochMs };

/** The opportunity as the API returns it, UTF-8 JSON. */
export function documentOf({ text, parts }: RenderedContent, fields: DocumentFields): Buffer {
  const { id, status, status_display, dates, relationships, createdAt, updatedAt } = fields;
  const { posted_at, opens_at, closes_at, response_at } = dates;
  const { parent_id, canonical_id } = relationships;
  const instants = `"created_at":"${formatInstant(createdAt)}","updated_at":"${formatInstant(updatedAt)}"`;
  return Buffer.concat([
    Buffer.from(`{"id":${jsonOf(id)},`),
    slice(text, parts.beforeStatus),
    Buffer.from(`${jsonOf(status)},"status_display":${JSON.stringify(status_display)}`),
    slice(text, parts.beforeDates),
    Buffer.from(jsonOf({ posted_at, opens_at, closes_at, response_at })),
    slice(text, parts.afterDates),
    Buffer.from(`${jsonOf({ parent_id, canonical_id })},${instants}}`),
  ]);
}

/** The fields that are stored and not served, UTF-8 JSON. */
export function sidecarOf({ text, parts }: RenderedContent, { linked }: Linked): Buffer {
  const end = linked === undefined ? "}" : `,"linked":${JSON.stringify(linked)}}`;
  return Buffer.concat([Buffer.from("{"), slice(text, parts.sidecar), Buffer.from(end)]);
}

/** The members of a sidecar that change without events, as JSON. */
export function unreported(sidecar: Uint8Array): string {
  const { attachments: _attachments, questions: _questions, ...rest } = parseStored<Sidecar>(sidecar);
  return JSON.stringify(rest);
}

function slice(text: Uint8Array, { start, end }: Span): Uint8Array {
  return text.subarray(start, end);
}

export function isSameHash(hash: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(hash, other) === 0;
}

/** The content of a stored record. Throws if its JSON is damaged. */
export function readContent(document: Uint8Array, sidecar: Uint8Array): Content {
  const { id: _id, created_at: _created, updated_at: _updated, ...served } = parseStored<Opportunity>(document);
  const { deadline_note, ...content } = withNoteApart(served);
  return { ...content, ...noSidecar, ...parseStored<Partial<Sidecar> & StatusTerms & Linked>(sidecar), deadline_note };
}
