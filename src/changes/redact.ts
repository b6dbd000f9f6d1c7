/** `redact`: the contacts of stored records and of their whole history are erased. Unused pages still hold them: `Engine.vacuum`. */
import { and, asc, eq, inArray, not, or, type Placeholder } from "drizzle-orm";
import type { Dialect } from "../../db/dialect.ts";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { atNextInstant, countNaming, decideRedaction, getStored, type Stored, updateRecord, withholdContacts } from "./commit.ts";
import { readContent } from "./content.ts";

/** Records in one transaction. */
const CHUNK = 1000;

export type Redacted = { records: number; events: number };

/** Erases the contacts of the records of these sources, or of all. Clients learn of it as of any change: by `updated_at` and an event. */
export async function redactStored(db: CatalogDb, sources: readonly string[] | undefined, now: number): Promise<Redacted> {
  const redacted: Redacted = { records: 0, events: 0 };
  const rows = await listNaming(db, sources);
  for (let first = 0; first < rows.length; first += CHUNK) {
    await atNextInstant(db, now, async (sql, instant) => {
      for (const seq of rows.slice(first, first + CHUNK)) await redactOne(sql, seq, instant, redacted);
    });
  }
  return redacted;
}

/** What `redactStored` would return, with nothing changed. */
export async function rehearseRedaction(db: CatalogDb, sources: readonly string[] | undefined): Promise<Redacted> {
  return db.readTransaction(async (sql) => {
    const counted: Redacted = { records: 0, events: 0 };
    for (const seq of await listNaming(sql, sources)) {
      counted.events += await countNaming(sql, seq);
      if (hasContacts(await getStored(sql, seq))) counted.records++;
    }
    return counted;
  });
}

async function redactOne(sql: CatalogSql, seq: number, instant: number, redacted: Redacted): Promise<void> {
  const erased = await withholdContacts(sql, seq);
  const stored = await getStored(sql, seq);
  const isNaming = hasContacts(stored);
  redacted.events += erased;
  if (isNaming) redacted.records++;
  if (isNaming || erased > 0) await updateRecord(sql, stored, decideRedaction(stored, instant), [], instant, null);
}

function hasContacts({ document, sidecar }: Stored): boolean {
  return readContent(document, sidecar).contacts.length > 0;
}

const naming = ({ none, changed }: { none: Placeholder; changed: Placeholder }, { containsText }: Dialect) =>
  or(
    not(containsText(opportunities.document, none)),
    inArray(
      opportunities.seq,
      select({ seq: events.opportunity_seq })
        .from(events)
        .where(or(eq(events.origin, "imported"), containsText(events.document, changed))),
    ),
  );
const texts = { none: parameter<string>(), changed: parameter<string>() };
const namingRecords = query(texts, (values, dialect) =>
  select({ seq: opportunities.seq }).from(opportunities).where(naming(values, dialect)).orderBy(asc(opportunities.seq)),
);
const namingRecordsOfSources = query({ ...texts, sources: listOf(opportunities.source) }, ({ sources, ...values }, dialect) =>
  select({ seq: opportunities.seq })
    .from(opportunities)
    .where(and(naming(values, dialect), inArray(opportunities.source, sources)))
    .orderBy(asc(opportunities.seq)),
);

/** Row numbers of the records that have contacts, or a history that may tell of some. */
async function listNaming(db: CatalogSql, sources: readonly string[] | undefined): Promise<number[]> {
  const texts = { none: '"contacts":[]', changed: '"field":"contacts"' };
  const rows = sources === undefined ? await db.all(namingRecords, texts) : await db.all(namingRecordsOfSources, { ...texts, sources });
  return rows.map(({ seq }) => seq);
}
