/** Erases the contacts of stored records and of their history. The erased text stays in unused pages until `Engine.vacuum`. */
import { and, asc, eq, inArray, not, or, type Placeholder } from "drizzle-orm";
import type { Dialect } from "../../db/dialect.ts";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { atNextInstant, redactEvents, updateRecord, type Writing } from "./commit.ts";
import { readContent } from "./content.ts";
import { decideRedaction } from "./decide.ts";
import { getStored, listEventsWithContacts, type StoredRecord } from "./stored.ts";

/** Records redacted in one transaction. */
const CHUNK = 1000;

/** How many records, and how many events, had contacts. */
export type Redacted = { records: number; events: number };

/** Erases the contacts of these sources' records, or of all records. Each redacted record gets an event and a new `updated_at`. */
export async function redactStored(db: CatalogDb, sources: readonly string[] | undefined, now: EpochMs): Promise<Redacted> {
  const redacted: Redacted = { records: 0, events: 0 };
  const rows = await listCandidates(db, sources);
  for (let first = 0; first < rows.length; first += CHUNK) {
    await atNextInstant(db, now, async (writing) => {
      for (const seq of rows.slice(first, first + CHUNK)) await redactOne(writing, seq, redacted);
    });
  }
  return redacted;
}

/** What `redactStored` would return. Changes nothing. */
export async function rehearseRedaction(db: CatalogDb, sources: readonly string[] | undefined): Promise<Redacted> {
  return db.readTransaction(async (sql) => {
    const counted: Redacted = { records: 0, events: 0 };
    for (const seq of await listCandidates(sql, sources)) {
      counted.events += (await listEventsWithContacts(sql, seq)).length;
      if (hasContacts(await getStored(sql, seq))) counted.records++;
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

/** Text that shows that a record's document has no contacts, and text without which a detected event has none. */
const texts = { none: '"contacts":[]', changed: '"field":"contacts"' };
const textParameters = { none: parameter<string>(), changed: parameter<string>() };
const mayHaveContacts = ({ none, changed }: { none: Placeholder; changed: Placeholder }, { containsText }: Dialect) =>
  or(
    not(containsText(opportunities.document, none)),
    inArray(
      opportunities.seq,
      select({ seq: events.opportunity_seq })
        .from(events)
        .where(or(eq(events.origin, "imported"), containsText(events.document, changed))),
    ),
  );
const candidates = query(textParameters, (values, dialect) =>
  select({ seq: opportunities.seq }).from(opportunities).where(mayHaveContacts(values, dialect)).orderBy(asc(opportunities.seq)),
);
const candidatesOfSources = query({ ...textParameters, sources: listOf(opportunities.source) }, ({ sources, ...values }, dialect) =>
  select({ seq: opportunities.seq })
    .from(opportunities)
    .where(and(mayHaveContacts(values, dialect), inArray(opportunities.source, sources)))
    .orderBy(asc(opportunities.seq)),
);

/** Row numbers of all records that have contacts, or whose events may have some. */
async function listCandidates(sql: CatalogSql, sources: readonly string[] | undefined): Promise<number[]> {
  const rows = sources === undefined ? await sql.all(candidates, texts) : await sql.all(candidatesOfSources, { ...texts, sources });
  return rows.map(({ seq }) => seq);
}
