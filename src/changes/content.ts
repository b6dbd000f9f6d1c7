/** What one record says, apart from when it was stored: what an import brings, what change detection compares. */
import { hash } from "node:crypto";
import type { Attachment, Opportunity, Question } from "../opportunities/opportunity.ts";
import { type EpochMs, formatInstant, parseInstant } from "../text/instant.ts";

/** The served fields that come from upstream, and the two sidecar fields whose differences feed the history. Keys in this order, always. */
export type Content = Omit<Opportunity, "id" | "created_at" | "updated_at"> & { attachments: Attachment[]; questions: Question[] };

/** Whether the record stated its status, or its dates give it (D-37). */
export type StatusBasis = "stated" | "dates";

/** A record that passed validation. Ignore `content.status` while `status_basis` is `dates`, unless the record is being restored. */
export type ValidRecord = {
  lineage: string;
  earlier_ids: string[];
  status_basis: StatusBasis;
  content: Content;
  /** SHA-256 of the text it was read from (`import/source-digest.ts`), if its format provides one. */
  source_digest?: Uint8Array | undefined;
  /** The upstream's own history of the record, the oldest revision first and the present one last. */
  revisions?: Revision[];
  /** Its contacts were removed. Contacts in its stored history must be removed, too. */
  redacted?: true;
  /** The stored instants of a record that `export` wrote. An empty catalog restores them, others ignore them. */
  restored?: { created_at: EpochMs; updated_at: EpochMs };
};

/** The record as an import would have read it when this revision appeared, at `since`. */
export type Revision = { content: Content; status_basis: StatusBasis; since: EpochMs };

/** A valid record, rendered and hashed once, so that it can be staged, compared and stored without parsing it again. */
export type PreparedRecord = Omit<ValidRecord, "content"> & { indexed: IndexedFields; rendered: RenderedContent };

/** The fields with columns of their own, and the status and dates that `RenderedContent` lacks. */
export type IndexedFields = {
  source: Pick<Content["source"], "code" | "opportunity_id">;
  status: string;
  organization: Pick<Content["organization"], "agency">;
  program: Pick<Content["program"], "type" | "solicitation_id">;
  dates: Content["dates"];
  relationships: Pick<Content["relationships"], "canonical_id">;
};

/**
 * What the upstream says, as UTF-8 JSON: not a status that only the clock gave, nor the offset in which a date is written. It is made once
 * for all: its hash tells whether anything changed, and the document and the sidecar are cut out of it.
 */
export type RenderedContent = {
  text: Uint8Array;
  /** Where in the text the status begins and ends, then the dates, and where what is kept in the sidecar begins. */
  cuts: readonly [number, number, number, number, number];
  /** SHA-256 of the text. */
  hash: Uint8Array;
};

/** Renders and hashes a valid record. */
export function prepareRecord({ content, ...rest }: ValidRecord): PreparedRecord {
  return { ...rest, indexed: indexedFieldsOf(content), rendered: render(content, rest.status_basis) };
}

function indexedFieldsOf({ source, status, organization, program, dates, relationships }: Content): IndexedFields {
  return {
    source: { code: source.code, opportunity_id: source.opportunity_id },
    status,
    organization: { agency: organization.agency },
    program: { type: program.type, solicitation_id: program.solicitation_id },
    dates,
    relationships: { canonical_id: relationships.canonical_id },
  };
}

/** Its text has the keys in the order of `Content`: another order would be another hash for every record. */
export function render(content: Content, basis: StatusBasis): RenderedContent {
  const { source, title, summary, description, status, status_display, organization, program, funding, dates } = content;
  const { classifications, eligibility, contacts, value_estimate, relationships, attachments, questions } = content;
  const { posted_at, opens_at, closes_at, response_at } = dates;
  const compared = [posted_at, opens_at, closes_at, response_at].map((date) => (date === null ? null : canonical(date)));
  // A text with one character beyond Latin-1 takes four times as long to write, with all that is written in the same piece.
  const { bytes, ends } = joined([
    `{${fieldsOf({ source, title })},"summary":`,
    json(summary),
    ',"description":',
    json(description),
    ',"status":',
    basis === "dates" ? "null" : json(status),
    `,${fieldsOf({ status_display, organization, program, funding })},"dates":`,
    JSON.stringify(compared),
    `,${fieldsOf({ classifications, eligibility, contacts, value_estimate, relationships })}`,
    `,${fieldsOf({ attachments, questions })}}`,
  ]);
  return { text: bytes, cuts: ends.slice(4, -1) as [number, number, number, number, number], hash: hash("sha256", bytes, "buffer") };
}

/** Of a damaged record, a field may be missing. */
function json(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** JSON of an object's fields without its braces. */
function fieldsOf(object: Partial<Content>): string {
  return JSON.stringify(object).slice(1, -1);
}

/** The content that was rendered, given what its text leaves out. */
export function contentOf({ text }: RenderedContent, { status, dates }: Pick<Content, "status" | "dates">): Content {
  return { ...parseStored<Content>(text), status, dates };
}

/** What a document has beyond the text. Instants in milliseconds since 1970 UTC. */
type Stamped = Pick<Content, "status" | "dates"> & { id: string; createdAt: number; updatedAt: number };

/** The opportunity as the API returns it, UTF-8 JSON. */
export function documentOf({ text, cuts }: RenderedContent, { id, status, dates, createdAt, updatedAt }: Stamped): Buffer {
  const [head, state, middle, days, tail] = cuts;
  const { posted_at, opens_at, closes_at, response_at } = dates;
  return joined([
    `{"id":${JSON.stringify(id)},`,
    text.subarray(1, head),
    json(status),
    text.subarray(state, middle),
    JSON.stringify({ posted_at, opens_at, closes_at, response_at }),
    text.subarray(days, tail),
    `,"created_at":"${formatInstant(createdAt)}","updated_at":"${formatInstant(updatedAt)}"}`,
  ]).bytes;
}

/** UTF-8 JSON of what is kept beside the document. */
export function sidecarOf({ text, cuts }: RenderedContent): Buffer {
  return joined(["{", text.subarray(cuts[4] + 1)]).bytes;
}

/** UTF-8 of all in one piece, and where in it each ends. */
function joined(pieces: readonly (string | Uint8Array)[]): { bytes: Buffer; ends: number[] } {
  const most = pieces.reduce((sum, piece) => sum + (typeof piece === "string" ? piece.length * 3 : piece.length), 0);
  const place = most > room.length ? Buffer.allocUnsafe(most) : room;
  let end = 0;
  const ends = pieces.map((piece) => {
    if (typeof piece === "string") end += place.write(piece, end);
    else {
      place.set(piece, end);
      end += piece.length;
    }
    return end;
  });
  return { bytes: Buffer.from(place.subarray(0, end)), ends };
}

/** How long a text becomes is known when it is written, and to ask before would be to read it twice. */
const room = Buffer.allocUnsafe(64 * 1024);

export function isSameHash(hash: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(hash, other) === 0;
}

/** The content of a stored row. */
export function readContent(document: Uint8Array, sidecar: Uint8Array): Content {
  const { id: _id, created_at: _created, updated_at: _updated, ...served } = parseStored<Opportunity>(document);
  return { ...served, ...parseStored<Pick<Content, "attachments" | "questions">>(sidecar) };
}

/** What this program has stored as JSON. */
export function parseStored<T>(json: Uint8Array): T {
  return JSON.parse(utf8.decode(json)) as T;
}

const utf8 = new TextDecoder();

/** One spelling of each instant, whatever the offset. Of a damaged record, a date may be none. */
function canonical(date: string): string {
  const instant = parseInstant(date);
  return instant === undefined ? date : `${instant.ms}.${instant.beyond}`;
}
