/** `import events`: events that another system recorded, one per line. They join a record's history without changing its `updated_at`. */

import { type Static, Type } from "@sinclair/typebox";
import type { CatalogSql } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import { insertEvent } from "../changes/commit.ts";
import { withoutContactValues } from "../changes/contacts.ts";
import { findByUpstreamId, hasEvent, nextInstant } from "../changes/stored.ts";
import { eventTypes, type OpportunityEvent, severities } from "../events/event.ts";
import { uuid5 } from "../opportunities/identity.ts";
import { type EpochMs, formatInstant, parseStoredMs } from "../text/instant.ts";
import {
  advance,
  digestsOf,
  failedAfter,
  type ImportContext,
  type ImportOptions,
  type ImportOutcome,
  type Opened,
  shareRead,
  withInputs,
} from "./context.ts";
import { objectLines } from "./formats/records.ts";
import { beginImport, emptySummary, finishImport, type Summary } from "./import-log.ts";
import type { Staging } from "./staging.ts";
import { Rejection, readerOf, refuseFuture, rejectionOf, requireName, sourceCodeOf, WORD_MAX } from "./validate.ts";

const CHUNK = 2000;
const REPORT_EVERY = 500;

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

/** `type` and `severity` are as given; the event has those that the API knows. */
type ValidEvent = { seq: number; type: string; severity: string; event: OpportunityEvent };

/** Imports event files as one unit, each event once. Throws if a file is refused as a whole. */
export async function importEvents(context: ImportContext, options: ImportOptions): Promise<ImportOutcome> {
  if (options.snapshot || options.asOf !== undefined)
    throw new Failure("Cannot import events with --snapshot or --as-of: each event states its own instant");
  return withInputs(context, { name: "events" }, options, async (opened) => {
    const { summary, sources } = await stageEvents(context, options, opened);
    const files = await digestsOf(opened.inputs);
    const begun = { format: "events", files, sources: [...sources].sort(), snapshot: false, asOf: undefined, startedAt: context.now() };
    const importId = options.dryRun ? undefined : await beginImport(context.db, begun);
    const stored = { events: 0 };
    try {
      await storeEvents(context, opened.staging, summary, importId, stored);
      if (importId !== undefined) await finishImport(context.db, importId, summary, context.now());
      return summary;
    } catch (error) {
      throw failedAfter(error, stored.events, opened.staging.counts().toWrite);
    }
  });
}

async function stageEvents(
  context: ImportContext,
  { redactContacts }: ImportOptions,
  { inputs, staging, rejects }: Opened,
): Promise<{ summary: Summary; sources: Set<string> }> {
  const summary: Summary = { ...emptySummary };
  const sources = new Set<string>();
  for await (const item of objectLines(inputs)) {
    summary.read++;
    if (summary.read % REPORT_EVERY === 0) await advance(context, { step: "reading", done: summary.read, share: shareRead(inputs) });
    try {
      if (item.kind === "rejected") throw new Rejection(item.reason);
      const valid = await validateEvent(context.db, item.record, sources, context.now());
      const event = redactContacts ? withoutContactValues(valid.event) : valid.event; // With the same id, so that it is stored once.
      staging.putEvent(event.id, JSON.stringify({ ...valid, event }));
    } catch (error) {
      rejects.add(item, rejectionOf(error));
      summary.rejected++;
    }
  }
  await advance(context, { step: "reading", done: summary.read, share: 1 });
  summary.unchanged = summary.read - summary.rejected - staging.counts().toWrite; // Repeated in the files.
  return { summary, sources };
}

/** Stores the new events. Without an `importId`, only counts them. `stored` counts those of committed transactions. */
async function storeEvents(
  context: ImportContext,
  staging: Staging,
  summary: Summary,
  importId: number | undefined,
  stored: { events: number },
): Promise<void> {
  const total = staging.counts().toWrite;
  const run = importId === undefined ? context.db.readTransaction : context.db.transaction;
  for (const chunk of staging.eventChunks(CHUNK)) {
    await run(async (sql) => {
      const imported_at = await nextInstant(sql, context.now());
      for (const json of chunk) {
        const { seq, event, ...given } = JSON.parse(json) as ValidEvent;
        const isNew =
          importId === undefined
            ? !(await hasEvent(sql, event.id))
            : await insertEvent(sql, seq, event, importId, { ...given, imported_at });
        summary[isNew ? "events" : "unchanged"]++;
      }
    });
    if (importId !== undefined) stored.events = summary.events;
    await advance(context, { step: "writing", done: summary.events, total, share: (summary.events + 1) / (total + 1) });
  }
}

/** Throws a Rejection if the event is invalid or its record is not stored. Adds its source to `sources`. */
async function validateEvent(sql: CatalogSql, line: unknown, sources: Set<string>, now: EpochMs): Promise<ValidEvent> {
  const given = readEvent(line, "");
  const { type, severity, summary, changed_fields, changes } = given;
  const code = sourceCodeOf(given.source.code);
  requireName(type, "type", WORD_MAX);
  requireName(severity, "severity", WORD_MAX);
  const record = await findByUpstreamId(sql, code, given.source.opportunity_id);
  if (record === undefined) throw new Rejection(`no ${code} record has the upstream id`, ` ${JSON.stringify(given.source.opportunity_id)}`);
  sources.add(code);
  const detectedAt = parseStoredMs(given.detected_at);
  if (detectedAt === undefined) throw new Rejection("detected_at must lie in the years 0000 to 9999 of UTC");
  refuseFuture("detected_at", detectedAt, now); // Copies of the catalog refuse events from the future.
  // A value that the API does not know is stored as given and served as `unknown`.
  const known = (all: readonly string[], value: string) => (all.includes(value) ? value : "unknown");
  const event: OpportunityEvent = {
    id: uuid5(`${record.id}\n${JSON.stringify([type, severity, summary, changed_fields, changes, given.detected_at])}`),
    opportunity_id: record.id,
    type: known(eventTypes, type),
    severity: known(severities, severity),
    summary,
    changed_fields,
    changes,
    detected_at: formatInstant(detectedAt),
  };
  return { seq: record.seq, type, severity, event };
}
