/** What one record says, apart from when it was stored: what an import brings, what change detection compares. */
import { hash } from "node:crypto";
import { parseInstant } from "../instant.ts";
import type { Attachment, Opportunity, Question } from "../opportunities/opportunity.ts";

/** The served fields that come from upstream, and the two sidecar fields whose differences feed the history. Keys in this order, always. */
export type Content = Omit<Opportunity, "id" | "created_at" | "updated_at"> & { attachments: Attachment[]; questions: Question[] };

/** Whether the record stated its status, or its dates give it (D-37). */
export type StatusBasis = "stated" | "dates";

/** One judged record on its way in. `status` is meaningless while `status_basis` is `dates`, unless the record is being restored. */
export type Incoming = {
  lineage: string;
  earlier_ids: string[];
  status_basis: StatusBasis;
  content: Content;
  /** `hashOf` the content, where it was computed already. */
  hash?: Uint8Array;
  /** Of what it was read from (`import/reading.ts`), where its format can tell. */
  reading?: Uint8Array | undefined;
  /** Earlier states that the upstream itself tells of, the oldest first; each until (ms) it was superseded. */
  past?: PastState[];
  /** Its contacts were kept out, and are to be kept out of its history. */
  redacted?: true;
  /** Of a record that `export` wrote: restored into an empty catalogue, otherwise ignored. */
  restored?: { created_at: number; updated_at: number };
};

/** With what is compared of its content, and the hash of that. */
export type Hashed = Incoming & { comparable: string; hash: Buffer };

export type PastState = { content: Content; status_basis: StatusBasis; until: number };

/** What the upstream says, as JSON: not a status that only the clock gave, nor the offset in which a date is written. */
export function comparableOf(content: Content, basis: StatusBasis): string {
  const { posted_at, opens_at, closes_at, response_at } = content.dates;
  return JSON.stringify({
    ...content,
    status: basis === "dates" ? null : content.status,
    dates: [posted_at, opens_at, closes_at, response_at].map((date) => (date === null ? null : (canonicalInstant(date) ?? date))),
  });
}

/** The content that something comparable was made of, given what that leaves out. */
export function contentOf(comparable: string, { status, dates }: Pick<Content, "status" | "dates">): Content {
  return { ...(JSON.parse(comparable) as Content), status, dates };
}

/** SHA-256 of `comparableOf` a content. */
export function hashOfComparable(comparable: string): Buffer {
  return hash("sha256", comparable, "buffer");
}

export function hashOf(content: Content, basis: StatusBasis): Buffer {
  return hashOfComparable(comparableOf(content, basis));
}

/** The opportunity as the API returns it, UTF-8 JSON. */
export function renderDocument(id: string, content: Content, createdAt: string, updatedAt: string): Buffer {
  const { attachments: _attachments, questions: _questions, ...served } = content;
  return Buffer.from(JSON.stringify({ id, ...served, created_at: createdAt, updated_at: updatedAt } satisfies Opportunity));
}

/** UTF-8 JSON of what is kept beside the document. */
export function renderSidecar({ attachments, questions }: Content): Buffer {
  return Buffer.from(JSON.stringify({ attachments, questions }));
}

/** The content of a stored row. */
export function readContent(document: Uint8Array, sidecar: Uint8Array): Content {
  const { id: _id, created_at: _created, updated_at: _updated, ...served } = parseJson<Opportunity>(document);
  return { ...served, ...parseJson<Pick<Content, "attachments" | "questions">>(sidecar) };
}

function parseJson<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as T; // Written by the renderers above.
}

/** One spelling of each instant, whatever the offset; `undefined` where the text is no RFC 3339 date-time. */
export function canonicalInstant(date: string): string | undefined {
  const known = canonicalInstants.get(date);
  if (known !== undefined) return known;
  const instant = parseInstant(date);
  if (instant === undefined) return undefined;
  if (canonicalInstants.size === INSTANTS_KEPT) canonicalInstants.clear();
  const canonical = `${instant.ms}.${instant.beyond}`;
  canonicalInstants.set(date, canonical);
  return canonical;
}

/** An import repeats a few thousand dates, and asks for each of a record's several times. */
const canonicalInstants = new Map<string, string>();
const INSTANTS_KEPT = 20_000;
