/** An event explained: the record before and after it, rules and import. */
import { and, desc, eq, gte } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { pick, query, select, selectSome } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { events, imports, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { CONTACT_FIELD, type OpportunityEvent } from "../events/event.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { classify } from "./classify.ts";
import { type Content, readContent } from "./content.ts";
import { unapply } from "./detect.ts";
import { added, type Rule, removed, ruleFor } from "./rules.ts";

export type Explanation = {
  event: OpportunityEvent;
  /** Before the change set, which may have other events. `null` for an addition. */
  before: Content | null;
  after: Content;
  /** For each changed field; null for a rule about the record. Empty for imported events: another system chose. */
  rules: { field: string | null; type: string; severity: string; when: string }[];
  origin: "detected" | "imported";
  /** `null` for a status turn and for `redact`. */
  import: { id: number; format: string; files: string; started_at: EpochMs; as_of: EpochMs | null } | null;
};

const eventById = selectSome(events, ["opportunity_seq", "detected_at", "origin", "import_id", "document"], "id");
const contentBySeq = selectSome(opportunities, ["document", "sidecar"], "seq");
const detectedSince = query(pick(events, "opportunity_seq", "detected_at"), ({ opportunity_seq, detected_at }) =>
  select(pick(events, "detected_at", "document"))
    .from(events)
    .where(and(eq(events.opportunity_seq, opportunity_seq), eq(events.origin, "detected"), gte(events.detected_at, detected_at)))
    .orderBy(desc(events.detected_at), desc(events.seq)),
);
const importById = selectSome(imports, ["id", "format", "files", "started_at", "as_of"], "id");

/** Explains an event; `undefined` if there is none with this id. Throws if its record is missing. */
export async function explain(db: CatalogDb, eventId: string): Promise<Explanation | undefined> {
  return db.readTransaction(async (sql) => {
    const row = await sql.get(eventById, { id: eventId.toLowerCase() });
    if (row === undefined) return undefined;
    const event = parseStored<OpportunityEvent>(row.document);
    const record = await sql.get(contentBySeq, { seq: row.opportunity_seq });
    if (record === undefined)
      throw new Failure(`Cannot explain event ${eventId}: its record is missing. Run fundfeed check to see what else is wrong`);
    const since = await sql.all(detectedSince, { opportunity_seq: row.opportunity_seq, detected_at: row.detected_at });
    const undo = (content: Content, { document }: { document: Uint8Array }) =>
      unapply(content, parseStored<OpportunityEvent>(document).changes);
    const present = readContent(record.document, record.sidecar);
    const after = since.filter(({ detected_at }) => detected_at > row.detected_at).reduce(undo, present);
    const isDetected = row.origin === "detected";
    const before = isDetected ? since.reduce(undo, present) : after;
    return {
      event,
      before: event.type === "opportunity_added" ? null : before,
      after,
      rules: isDetected ? rulesOf(event, row.import_id === null) : [],
      origin: row.origin,
      import: row.import_id === null ? null : ((await sql.get(importById, { id: row.import_id })) ?? null),
    };
  });
}

/** Whether time caused an event without an import. Otherwise `redact` did, which only concerns contacts. */
export function isOfClock({ changed_fields }: OpportunityEvent): boolean {
  return !changed_fields.some((field) => CONTACT_FIELD.test(field));
}

function rulesOf(event: OpportunityEvent, isWithoutImport: boolean): Explanation["rules"] {
  const ruleOf = (field: string | null, { type, severity, when }: Rule) => ({ field, type, severity, when });
  if (event.type === "opportunity_added") return [ruleOf(null, added)];
  if (event.type === "opportunity_removed") return [ruleOf(null, removed)];
  for (const cause of isWithoutImport ? (["foreseen", undefined] as const) : ([undefined, "foreseen", "listed", "first read"] as const)) {
    const causesOf = new Map(cause === undefined ? [] : event.changed_fields.map((field) => [field, cause]));
    const events = classify(event.opportunity_id, event.changes, 0, causesOf);
    if (events.some(({ type, severity }) => type === event.type && severity === event.severity))
      return event.changes.map((change) => ruleOf(change.field, ruleFor(change, cause)));
  }
  return []; // By the rules of an older version, or contacts were erased since.
}
