/** Use as it is stored: requests of a key in one UTC day, of all servers together. Days are counted since 1970. */
import type { StateDb } from "../../db/engine.ts";
import { nextRevision } from "./revisions.ts";

/** Requests to be added to a key's day, the newest of which was at `last_used_at`. */
export type Spent = { key_id: string; day: number; count: number; last_used_at: number };

/** What is stored after an addition, and its revision. */
export type Sums = { revision: number; sums: { key_id: string; day: number; count: number }[] };

export async function findUse(db: StateDb, keyId: string, day: number): Promise<number> {
  const use = await db.get<{ count: number }>("select count from use where key_id = ? and day = ?", keyId, day);
  return use?.count ?? 0;
}

/** Adds to what is stored. A key that is not there, as in a database that was restored, is passed over. Three statements for any number of keys. */
export async function addUse(db: StateDb, spent: readonly Spent[]): Promise<Sums> {
  const { elements, member } = db.dialect;
  const integer = (name: string) => `cast(${member("value", name)} as bigint) as ${name}`;
  const given = `select ${member("value", "key_id")} as key_id, ${integer("day")}, ${integer("count")}, ${integer("last_used_at")} from ${elements("?")}`;
  const json = JSON.stringify(spent);
  return db.transaction(async (sql) => {
    await sql.run(
      `update keys set last_used_at = given.last_used_at from (${given}) as given
       where keys.id = given.key_id and coalesce(keys.last_used_at, 0) < given.last_used_at`,
      json,
    );
    const sums = await sql.all<Sums["sums"][number]>(
      `insert into use (key_id, day, count)
       select keys.id, given.day, sum(given.count) from (${given}) as given join keys on keys.id = given.key_id group by keys.id, given.day
       on conflict (key_id, day) do update set count = use.count + excluded.count returning key_id, day, count`,
      json,
    );
    return { revision: await nextRevision(sql, "use"), sums };
  });
}
