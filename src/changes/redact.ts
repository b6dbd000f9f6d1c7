/** Erases contacts of stored records and their history. The text stays in unused pages until `Engine.vacuum`. */
import { and, asc, eq, exists as existsIn, gt, lte, max, not, or, type Placeholder } from "drizzle-orm";
import type { Dialect } from "../../db/dialect.ts";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { exists, parameter, pick, query, select } from "../../db/query.ts";
import { failureWith } from "../../db/reason.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { atNextInstant, redactEvents, updateRecord, type Writing } from "./commit.ts";
import { readContent } from "./content.ts";
import { decideRedaction } from "./decide.ts";
import { getStored, listEventsWithContacts, type StoredRecord } from "./stored.ts";

const CHUNK = 1000;

/** How many records, and how many events, had contacts. */
export type Redacted = { records: number; events: number };

type Report = (done: number, total: number) => void;
type Sources = readonly string[] | undefined;

/** Erases contacts of these sources, or of all. Each redacted record gets an event and a new `updated_at`. */
export async function redactStored(db: CatalogDb, sources: Sources, now: EpochMs, report: Report = () => {}): Promise<Redacted> {
  const redacted: Redacted = { records: 0, events: 0 };
  let committed = redacted;
  try {
    for await (const rows of candidatesIn(db, sources, report)) {
      await atNextInstant(db, now, async (writing) => {
        for (const seq of rows) await redactOne(writing, seq, redacted);
      });
      committed = { ...redacted };
    }
  } catch (error) {
    if (committed === redacted) throw error;
    const done = `contacts of ${committed.records} records and ${committed.events} events are erased`;
    throw failureWith(error, `${done}; the same command erases the rest`);
  }
  return redacted;
}

/** What `redactStored` would return. Changes nothing. */
export async function rehearseRedaction(db: CatalogDb, sources: Sources, report: Report = () => {}): Promise<Redacted> {
  return db.readTransaction(async (sql) => {
    const counted: Redacted = { records: 0, events: 0 };
    for await (const rows of candidatesIn(sql, sources, report)) {
      for (const seq of rows) {
        counted.events += (await listEventsWithContacts(sql, seq)).length;
        if (hasContacts(await getStored(sql, seq))) counted.records++;
      }
    }
    return counted;
  });
}

async function redactOne(writing: Writing, seq: number, redacted: Redacted): Promise<void> {
  const { sql, instant } = writing;
  const events = await redactEvents(sql, seq);
  const stored = await getStored(sql, seq);
  const recordHasContacts = hasContacts(stored);
  redacted.events += events;
  if (recordHasContacts) redacted.records++;
  if (recordHasContacts || events > 0) await updateRecord(writing, stored, decideRedaction(stored, instant), [], null);
}

function hasContacts({ document, sidecar }: StoredRecord): boolean {
  return readContent(document, sidecar).contacts.length > 0;
}

/** Texts that show that a document has no contacts, and without which a detected event has none. */
const texts = { none: '"contacts":[]', changed: '"field":"contacts"' };
const rowRange = { after: opportunities.seq, until: opportunities.seq };
const textParameters = { none: parameter<string>(), changed: parameter<string>() };
const mayHaveContacts = ({ none, changed }: { none: Placeholder; changed: Placeholder }, { containsText }: Dialect) =>
  or(
    not(containsText(opportunities.document, none)),
    existsIn(
      select(exists)
        .from(events)
        .where(
          and(eq(events.opportunity_seq, opportunities.seq), or(eq(events.origin, "imported"), containsText(events.document, changed))),
        ),
    ),
  );
const candidates = query({ ...textParameters, ...rowRange }, ({ after, until, ...values }, dialect) =>
  select(pick(opportunities, "seq", "source"))
    .from(opportunities)
    .where(and(gt(opportunities.seq, after), lte(opportunities.seq, until), mayHaveContacts(values, dialect)))
    .orderBy(asc(opportunities.seq)),
);
const lastRow = query({}, () => select({ seq: max(opportunities.seq) }).from(opportunities));

/** Row numbers of records that have contacts, or whose events may have some. Reads each once. */
async function* candidatesIn(sql: CatalogSql, sources: Sources, report: Report): AsyncIterable<number[]> {
  const last = (await sql.get(lastRow))?.seq ?? 0;
  for (let after = 0; after < last; after += CHUNK) {
    const rows = await sql.all(candidates, { ...texts, after, until: after + CHUNK });
    const wanted = rows.filter(({ source }) => sources === undefined || sources.includes(source));
    if (wanted.length > 0) yield wanted.map(({ seq }) => seq);
    report(Math.min(after + CHUNK, last), last);
  }
}
