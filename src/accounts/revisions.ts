/**
 * Revisions: one number that grows with every change of a key, an account or a plan, and one that grows whenever use is stored. A server
 * compares them with one small read to find out what other processes changed.
 */
import { sql as fragment } from "drizzle-orm";
import type { StateSql } from "../../db/engine.ts";
import { query, selectAll } from "../../db/query.ts";
import { revisions } from "../../db/schema/sqlite/state.ts";

export type Revisions = { keys: number; use: number };

const allRevisions = query({}, () => selectAll(revisions));
const incrementRevision = query(
  { name: revisions.name },
  ({ name }) => fragment<{ number: number }>`
    insert into ${revisions} (name, number) values (${name}, 1)
    on conflict (name) do update set number = ${revisions.number} + 1 returning number`,
);

/** The newest committed revisions; 0 before the first change. */
export async function findRevisions(sql: StateSql): Promise<Revisions> {
  const rows = await sql.all(allRevisions);
  const numberOf = (name: keyof Revisions) => rows.find((row) => row.name === name)?.number ?? 0;
  return { keys: numberOf("keys"), use: numberOf("use") };
}

/** Increments a revision and returns it. Call it in the transaction of the change, so that both are committed together. */
export async function nextRevision(sql: StateSql, name: keyof Revisions): Promise<number> {
  const [next] = await sql.all(incrementRevision, { name });
  return next?.number ?? 0;
}
