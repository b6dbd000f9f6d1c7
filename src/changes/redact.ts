/** `redact`: the contacts of stored records and of their whole history are erased. Unused pages still hold them: `Engine.dropUnusedPages`. */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { atNextInstant, decideRedaction, getStored, update, withholdContacts } from "./commit.ts";

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

async function redactOne(sql: CatalogSql, seq: number, instant: number, redacted: Redacted): Promise<void> {
  redacted.events += await withholdContacts(sql, seq);
  const stored = await getStored(sql, seq);
  const decision = decideRedaction(stored, instant);
  if (decision.outcome === "unchanged") return;
  await update(sql, stored, decision, [], instant, null);
  redacted.records++;
}

/** Row numbers of the records that have contacts, or a history that may tell of some. */
async function listNaming({ all, dialect }: CatalogDb, sources: readonly string[] | undefined): Promise<number[]> {
  const rows = await all<{ seq: number }>(
    `select seq from opportunities
     where (not (${dialect.contains("document")}) or seq in (select opportunity_seq from events where ${dialect.contains("document")}))
     ${sources === undefined ? "" : `and source in (select value from ${dialect.elements("?")})`}
     order by seq`,
    '"contacts":[]',
    '"field":"contacts"',
    ...(sources === undefined ? [] : [JSON.stringify(sources)]),
  );
  return rows.map(({ seq }) => seq);
}
