/** What a change of a record will store: content and events. Pure functions; `stored.ts` reads, `commit.ts` writes. (E-15) */
import type { Change, OpportunityEvent } from "../events/event.ts";
import { clockedAt, type StatusBasis } from "../opportunities/clock.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { type EpochMs, parseInstantMs } from "../text/instant.ts";
import { type Causes, classify, recordEvent } from "./classify.ts";
import { erasure } from "./contacts.ts";
import {
  type Content,
  contentOf,
  documentOf,
  type IndexedFields,
  type PreparedRecord,
  type Relationships,
  type RenderedContent,
  readContent,
  render,
  statedRelationships,
  withFound,
  withStatusTerms,
} from "./content.ts";
import { apply, detect } from "./detect.ts";
import { added, removed } from "./rules.ts";
import type { StoredRecord } from "./stored.ts";

type Instants = { instant: EpochMs; now: EpochMs };

export type Decision = {
  outcome: "added" | "changed" | "unchanged";
  id: string;
  /** A date that changed only in its offset keeps its old spelling. */
  indexed: IndexedFields;
  rendered: RenderedContent;
  status_basis: StatusBasis;
  source_digest?: Uint8Array | undefined;
  events: OpportunityEvent[];
  foreseen: ReadonlySet<string>;
};

/** An imported record with found links: added if `stored` is `undefined`. `redactsHistory` if contacts will be erased from its history. */
export function decideImport(
  stored: StoredRecord | undefined,
  record: PreparedRecord,
  { instant, now }: Instants,
  found: Partial<Relationships> = {},
  redactsHistory = false,
): Decision {
  const { rendered, status_basis, source_digest, restored } = record;
  // A restored record stays as it was, with the links that it had.
  const isAsItWas = restored !== undefined && record.indexed.status !== "";
  const timed = isAsItWas ? record.indexed : { ...record.indexed, ...clockedAt(record.indexed, status_basis, now) };
  const indexed = restored === undefined ? withFound(timed, statedRelationships(timed), found) : timed;
  if (stored === undefined) {
    const id = opportunityId(indexed.source.code, record.lineage);
    const events = [recordEvent(added, id, [], restored?.created_at ?? instant)];
    return { outcome: "added", id, indexed, rendered, status_basis, source_digest, events, foreseen: new Set() };
  }
  const { id } = stored;
  const previous = readContent(stored.document, stored.sidecar);
  const current = contentOf(rendered, indexed);
  const changes = detect(previous, current);
  const foreseen = foreseenIn(changes, previous, stored.status_basis, now);
  const announced = changes.length === 0 && redactsHistory ? [erasure] : changes;
  return {
    outcome: announced.length === 0 ? "unchanged" : "changed",
    id,
    indexed: withFound(
      { ...withStatusTerms(apply(previous, changes), current), due_dates: current.due_dates, agency_codes: current.agency_codes },
      statedRelationships(current),
      current.relationships,
    ),
    rendered,
    status_basis,
    source_digest,
    events: classify(
      id,
      announced,
      instant,
      new Map([...listedIn(changes, previous, current), ...firstReadIn(changes, previous, current), ...causedBy(foreseen)]),
    ),
    foreseen,
  };
}

/** A record that a snapshot lacks: archived, and without the upstream's word for its former status (D-34). */
export function decideRemoval(stored: StoredRecord, instant: EpochMs): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, status: "archived", status_display: null });
  const events = [recordEvent(removed, stored.id, changes, instant)];
  return { ...decisionOf(stored, withStatusTerms(previous, {}), changes, "stated", events), outcome: "changed" };
}

/** A record whose contacts are erased. Always an event, so that clients read it again. */
export function decideRedaction(stored: StoredRecord, instant: EpochMs): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  return decisionOf(stored, previous, [erasure], stored.status_basis, classify(stored.id, [erasure], instant));
}

/** A record whose parent is now known, as if its source stated it, or for which the rules find other links. */
export function decideRelationships(
  stored: StoredRecord,
  { parent_id, found }: { parent_id?: string; found?: Partial<Relationships> },
  instant: EpochMs,
): Decision {
  const before = readContent(stored.document, stored.sidecar);
  const { linked: _linked, ...previous } = before;
  const stated = { ...statedRelationships(before), ...(parent_id !== undefined && { parent_id }) };
  const content = withFound(before, stated, found ?? before.relationships);
  const changes = detect(before, content);
  const marked = content.linked === undefined ? previous : { ...previous, linked: content.linked };
  return decisionOf(stored, marked, changes, stored.status_basis, classify(stored.id, changes, instant));
}

/** A record whose status may turn, or whose next due date may have passed (D-37). */
export function decideStatusTurn(stored: StoredRecord, { instant, now }: Instants): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = changesOfClock(previous, stored.status_basis, now);
  const foreseen = new Set(changes.map(({ field }) => field));
  return decisionOf(stored, previous, changes, stored.status_basis, classify(stored.id, changes, instant, causedBy(foreseen)), foreseen);
}

function changesOfClock(previous: Content, basis: StatusBasis, now: EpochMs): Change[] {
  return detect(previous, { ...previous, ...clockedAt(previous, basis, now) });
}

/** What time passing would have changed to the same values: a date passed before the import. */
function foreseenIn(changes: readonly Change[], previous: Content, basis: StatusBasis, now: EpochMs): ReadonlySet<string> {
  const expected = new Map(changesOfClock(previous, basis, now).map(({ field, current }) => [field, current]));
  return new Set(changes.filter(({ field, current }) => expected.has(field) && expected.get(field) === current).map(({ field }) => field));
}

function causedBy(foreseen: ReadonlySet<string>): Causes {
  return new Map([...foreseen].map((field) => [field, "foreseen"]));
}

/** The source now lists due dates, where only the expiry or one of them was known. No deadline moved. */
function listedIn(changes: readonly Change[], previous: Content, current: Content): Causes {
  if (previous.due_dates.length > 0 || current.due_dates.length === 0) return new Map();
  const known = [current.expires_at, ...current.due_dates.map(({ at }) => at)].map((at) => parseInstantMs(at));
  const isListed = ({ field, previous: before }: Change) =>
    (field === "dates.closes_at" || field === "dates.response_at") && typeof before === "string" && known.includes(parseInstantMs(before));
  return new Map(changes.filter(isListed).map(({ field }) => [field, "listed"]));
}

/** This import is the first to read set-aside codes for the same words, or questions that no earlier layout had. */
function firstReadIn(changes: readonly Change[], previous: Content, current: Content): Causes {
  const isFirst = ({ field, previous: before }: Change) => {
    if (!Array.isArray(before) || before.length > 0) return false;
    const { requirements } = previous.eligibility;
    if (field === "classifications.set_aside_types")
      return requirements !== null && /^Set-aside: /m.test(requirements) && requirements === current.eligibility.requirements;
    return field === "questions" && current.questions_read === true && previous.questions_read !== true;
  };
  return new Map(changes.filter(isFirst).map(({ field }) => [field, "first read"]));
}

/** The stored record as it is once its status has turned. */
export function afterStatusTurn(stored: StoredRecord, now: EpochMs): StoredRecord {
  return { ...stored, document: decidedDocument(decideStatusTurn(stored, { instant: now, now }), stored.created_at, now) };
}

export function decidedDocument({ id, indexed, rendered }: Decision, createdAt: EpochMs, updatedAt: EpochMs): Buffer {
  const { status, status_display, dates, relationships } = indexed;
  return documentOf(rendered, { id, status, status_display, dates, relationships, createdAt, updatedAt });
}

function decisionOf(
  { id }: StoredRecord,
  previous: Content,
  changes: readonly Change[],
  status_basis: StatusBasis,
  events: OpportunityEvent[],
  foreseen: ReadonlySet<string> = new Set(),
): Decision {
  const content = apply(previous, changes);
  const outcome = changes.length === 0 ? "unchanged" : "changed";
  return { outcome, id, indexed: content, rendered: render(content, status_basis), status_basis, events, foreseen };
}
