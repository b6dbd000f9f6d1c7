/**
 * Revisions: numbers that grow with every change of a key, an account or a plan, and whenever use is written. By them a server knows,
 * with one small read, that another process did either.
 */
import type { Sql, StateTables } from "../../db/engine.ts";

export type Revisions = { keys: number; use: number };

export async function findRevisions(sql: Sql<StateTables>): Promise<Revisions> {
  const rows = await sql.all<{ name: keyof Revisions; number: number }>("select name, number from revisions");
  const numberOf = (name: keyof Revisions) => rows.find((row) => row.name === name)?.number ?? 0;
  return { keys: numberOf("keys"), use: numberOf("use") };
}

/** For what the same transaction writes: whoever sees the number sees that. */
export async function nextRevision(sql: Sql<StateTables>, name: keyof Revisions): Promise<number> {
  const [next] = await sql.all<{ number: number }>(
    "insert into revisions (name, number) values (?, 1) on conflict (name) do update set number = revisions.number + 1 returning number",
    name,
  );
  return next?.number ?? 0;
}
