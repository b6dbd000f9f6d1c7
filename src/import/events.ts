/** `import events`: events that another system recorded, one per line. They join a record's history without changing its `updated_at`. */
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogSql } from "../../db/engine.ts";
import { insertImportedEvent } from "../changes/commit.ts";
import { withoutContactValues } from "../changes/contacts.ts";
import { findByUpstreamId, hasEvent } from "../changes/stored.ts";
import { eventTypes, type OpportunityEvent, severities } from "../events/event.ts";
import { uuid5 } from "../opportunities/identity.ts";
import { type EpochMs, formatInstant, parseStoredMs } from "../text/instant.ts";
import { advance, digestsOf, type ImportContext, type Options, type Outcome, shareRead, withInputs } from "./context.ts";
import { objectLines } from "./formats/records.ts";
import { beginImport, emptySummary, finishImport, type Summary } from "./import-log.ts";
import { Rejection, readerOf, rejectionOf, requireName, WORD_MAX } from "./validate.ts";

const CHUNK = 2000;

const EventLine = Type.Object({
  source: Type.Object({ code: Type.String(), opportunity_id: Type.String() }),
  type: Type.String(),
  severity: Type.String(),
  summary: Type.Union([Type.String(), Type.Null()]),
  changed_fields: Type.Array(Type.String()),
  changes: Type.Array(Type.Object({ field: Type.String(), previous: Type.Unknown(), current: Type.Unknown() })),
  detected_at: Type.String({ format: "date-time" }),
});

const readEvent = readerOf(EventLine) as (value: unknown, path: string) => Static<typeof EventLine>;

/** A valid event with the row number of its record. `type` and `severity` are as given; the event has those that the API knows. */
type ValidEvent = { seq: number; type: string; severity: string; detected_at: EpochMs; event: OpportunityEvent };

/** Imports event files as one unit. The same event, all members equal, is stored once. */
export async function importEvents(context: ImportContext, options: Options): Promise<Outcome> {
  if (options.snapshot || options.asOf !== undefined)
    throw new Error("Cannot import events with --snapshot or --as-of: each event states its own instant");
  return withInputs(context, { name: "events" }, options, async ({ inputs, staging, rejects }) => {
    const summary: Summary = { ...emptySummary };
    const sources = new Set<string>();
    for await (const item of objectLines(inputs)) {
      summary.read++;
      if (summary.read % 500 === 0) await advance(context, { step: "reading", done: summary.read, share: shareRead(inputs) });
      try {
        if (item.kind === "rejected") throw new Rejection(item.reason);
        const valid = await validateEvent(context.db, item.record, sources);
        const event = options.redactContacts ? withoutContactValues(valid.event) : valid.event; // With the same id, so that it is stored once.
        staging.putEvent(event.id, JSON.stringify({ ...valid, event }));
      } catch (error) {
        rejects.add(item, rejectionOf(error));
        summary.rejected++;
      }
    }
    await advance(context, { step: "reading", done: summary.read, share: 1 });
    const { toWrite } = staging.counts();
    summary.unchanged = summary.read - summary.rejected - toWrite; // Repeated in the files. Those that are stored already are added below.
    const files = await digestsOf(inputs);
    const begun = { format: "events", files, sources: [...sources].sort(), snapshot: false, asOf: undefined, startedAt: context.now() };
    const store = options.dryRun ? context.db.readTransaction : context.db.transaction;
    const importId = options.dryRun ? 0 : await beginImport(context.db, begun);
    for (const chunk of staging.eventChunks(CHUNK)) {
      await store(async (sql) => {
        for (const json of chunk) {
          const valid = JSON.parse(json) as ValidEvent;
          const isNew = options.dryRun ? !(await hasEvent(sql, valid.event.id)) : await storeEvent(sql, valid, importId);
          summary[isNew ? "events" : "unchanged"]++;
        }
      });
      const made = { step: "writing", done: summary.events, total: toWrite, share: (summary.events + 1) / (toWrite + 1) } as const;
      await advance(context, made, options.dryRun ? 0 : summary.events);
    }
    if (!options.dryRun) await finishImport(context.db, importId, summary, context.now());
    return summary;
  });
}

/** Throws a Rejection if the event is not valid, or its record is not stored. Adds its source to `sources`. */
async function validateEvent(sql: CatalogSql, line: unknown, sources: Set<string>): Promise<ValidEvent> {
  const given = readEvent(line, "");
  const { type, severity, summary, changed_fields, changes } = given;
  const code = given.source.code.toUpperCase();
  requireName(type, "type", WORD_MAX);
  requireName(severity, "severity", WORD_MAX);
  const record = await findByUpstreamId(sql, code, given.source.opportunity_id);
  if (record === undefined) throw new Rejection(`no ${code} record has the upstream id`, ` ${JSON.stringify(given.source.opportunity_id)}`);
  sources.add(code);
  const detectedAt = parseStoredMs(given.detected_at);
  if (detectedAt === undefined) throw new Rejection("detected_at must lie in the years 0000 to 9999 of UTC");
  const event: OpportunityEvent = {
    id: uuid5(`${record.id}\n${JSON.stringify([type, severity, summary, changed_fields, changes, given.detected_at])}`),
    opportunity_id: record.id,
    type: knownOr(eventTypes, type),
    severity: knownOr(severities, severity),
    summary,
    changed_fields,
    changes,
    detected_at: formatInstant(detectedAt),
  };
  return { seq: record.seq, type, severity, detected_at: detectedAt, event };
}

async function storeEvent(sql: CatalogSql, { seq, event, type, severity, detected_at }: ValidEvent, importId: number): Promise<boolean> {
  return insertImportedEvent(sql, seq, event, { type, severity, detected_at }, importId);
}

/** A value that the API does not know is stored as given and served as `unknown`. */
function knownOr(known: readonly string[], value: string): string {
  return known.includes(value) ? value : "unknown";
}
