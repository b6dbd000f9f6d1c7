/** `redact`: the contacts of stored records and of their whole history are erased, also from the file's unused pages. */
import type { CatalogDb } from "../../db/open.ts";
import { atNextInstant, decideRedaction, getStored, update, withholdContacts } from "./commit.ts";

/** Records in one transaction. */
const CHUNK = 1000;

export type Redacted = { records: number; events: number };

/** Erases the contacts of the records of these sources, or of all. Clients learn of it as of any change: by `updated_at` and an event. */
export async function redactStored(db: CatalogDb, sources: readonly string[] | undefined, now: number): Promise<Redacted> {
  const redacted: Redacted = { records: 0, events: 0 };
  const rows = listNaming(db, sources);
  for (let first = 0; first < rows.length; first += CHUNK) {
    atNextInstant(db, now, (instant) => {
      for (const row of rows.slice(first, first + CHUNK)) redactOne(db, row, instant, redacted);
    });
  }
  return redacted;
}

/** Rewrites the file, so that what was erased is in none of its unused pages. False while a reader keeps the old ones in the log. */
export function dropUnusedPages({ sqlite }: CatalogDb): boolean {
  sqlite.run("vacuum");
  return sqlite.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy === 0;
}

function redactOne(db: CatalogDb, row: number, instant: number, redacted: Redacted): void {
  redacted.events += withholdContacts(db, row);
  const stored = getStored(db, row);
  const decision = decideRedaction(stored, instant);
  if (decision.outcome === "unchanged") return;
  update(db, stored, decision, [], instant, null);
  redacted.records++;
}

/** Row numbers of the records that have contacts, or a history that may tell of some. */
function listNaming({ sqlite }: CatalogDb, sources: readonly string[] | undefined): number[] {
  return sqlite
    .query<{ seq: number }, [string | null]>(
      `select seq from opportunities
       where (?1 is null or source in (select value from json_each(?1)))
       and (instr(document, '"contacts":[]') = 0
         or seq in (select opportunity_seq from events where instr(document, '"field":"contacts"') > 0))
       order by seq`,
    )
    .all(sources === undefined ? null : JSON.stringify(sources))
    .map(({ seq }) => seq);
}
