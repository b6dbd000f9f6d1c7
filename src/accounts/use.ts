/** Use as it is stored: requests of a key in one UTC day, of all servers together. Days are counted since 1970. */
import { and, eq, sql as fragment, type SQL, type SQLWrapper } from "drizzle-orm";
import type { Dialect } from "../../db/dialect.ts";
import type { StateDb } from "../../db/engine.ts";
import { jsonOf, query, select } from "../../db/query.ts";
import { keys, use } from "../../db/schema/sqlite/state.ts";
import { nextRevision } from "./revisions.ts";

/** Requests to be added to a key's day, the newest of which was at `last_used_at`. */
export type Spent = { key_id: string; day: number; count: number; last_used_at: number };

/** What is stored after an addition, and its revision. */
export type Sums = { revision: number; sums: { key_id: string; day: number; count: number }[] };

const useOfDay = query({ key_id: use.key_id, day: use.day }, ({ key_id, day }) =>
  select({ count: use.count })
    .from(use)
    .where(and(eq(use.key_id, key_id), eq(use.day, day))),
);

/** `Spent` as a table. */
function spentRows(spent: SQLWrapper, { jsonElements, jsonMember }: Dialect): SQL {
  const value = fragment.raw("value");
  const integer = (name: string) => fragment`cast(${jsonMember(value, name)} as bigint) as ${fragment.identifier(name)}`;
  return fragment`(select ${jsonMember(value, "key_id")} as key_id, ${integer("day")}, ${integer("count")}, ${integer("last_used_at")}
    from ${jsonElements(spent)}) as spent`;
}

const moveLastUse = query(
  { spent: jsonOf<Spent>() },
  ({ spent }, dialect) => fragment`
    update ${keys} set last_used_at = spent.last_used_at from ${spentRows(spent, dialect)}
    where ${keys.id} = spent.key_id and coalesce(${keys.last_used_at}, 0) < spent.last_used_at`,
);

const addToUse = query(
  { spent: jsonOf<Spent>() },
  ({ spent }, dialect) => fragment<Sums["sums"][number]>`
    insert into ${use} (key_id, day, count)
    select ${keys.id}, spent.day, sum(spent.count) from ${spentRows(spent, dialect)} join ${keys} on ${keys.id} = spent.key_id
    group by ${keys.id}, spent.day
    on conflict (key_id, day) do update set count = ${use.count} + excluded.count returning key_id, day, count`,
);

/** Requests of a key in one day. */
export async function findUse(db: StateDb, keyId: string, day: number): Promise<number> {
  return (await db.get(useOfDay, { key_id: keyId, day }))?.count ?? 0;
}

/** Adds to what is stored, in three statements for any number of keys. Skips a key that is missing, as in a restored database. */
export async function addUse(db: StateDb, spent: readonly Spent[]): Promise<Sums> {
  return db.transaction(async (sql) => {
    await sql.run(moveLastUse, { spent });
    const sums = await sql.all(addToUse, { spent });
    return { revision: await nextRevision(sql, "use"), sums };
  });
}
