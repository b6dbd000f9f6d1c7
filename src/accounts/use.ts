/** Stored use: the requests of a key on one UTC day, of all servers together. A day is a number of days since 1970. */
import { sql as fragment, type SQL, type SQLWrapper } from "drizzle-orm";
import type { Dialect } from "../../db/dialect.ts";
import type { StateDb } from "../../db/engine.ts";
import { jsonOf, query, selectSome } from "../../db/query.ts";
import { keys, use } from "../../db/schema/sqlite/state.ts";
import type { EpochMs } from "../text/instant.ts";
import { nextGeneration } from "./generations.ts";

type AddedUse = { key_id: string; day: number; count: number; last_used_at: EpochMs };

export type StoredSums = { generation: number; sums: { key_id: string; day: number; count: number }[] };

const useOfDay = selectSome(use, ["count"], "key_id", "day");

function addedRows(added: SQLWrapper, { jsonElements, jsonMember }: Dialect): SQL {
  const value = fragment.raw("value");
  const integer = (name: string) => fragment`cast(${jsonMember(value, name)} as bigint) as ${fragment.identifier(name)}`;
  return fragment`(select ${jsonMember(value, "key_id")} as key_id, ${integer("day")}, ${integer("count")}, ${integer("last_used_at")}
    from ${jsonElements(added)}) as added`;
}

const moveLastUse = query(
  { added: jsonOf<AddedUse>() },
  ({ added }, dialect) => fragment`
    update ${keys} set last_used_at = added.last_used_at from ${addedRows(added, dialect)}
    where ${keys.id} = added.key_id and coalesce(${keys.last_used_at}, 0) < added.last_used_at`,
);

const addToUse = query(
  { added: jsonOf<AddedUse>() },
  ({ added }, dialect) => fragment<StoredSums["sums"][number]>`
    insert into ${use} (key_id, day, count)
    select ${keys.id}, added.day, sum(added.count) from ${addedRows(added, dialect)} join ${keys} on ${keys.id} = added.key_id
    group by ${keys.id}, added.day
    on conflict (key_id, day) do update set count = ${use.count} + excluded.count returning key_id, day, count`,
);

/** The stored number of requests of a key on one day; 0 if there are none. */
export async function findUse(db: StateDb, keyId: string, day: number): Promise<number> {
  return (await db.get(useOfDay, { key_id: keyId, day }))?.count ?? 0;
}

/** Adds to the stored use, with three statements for any number of keys. Skips a key that is not stored, as in a restored database. */
export async function storeUse(db: StateDb, added: readonly AddedUse[]): Promise<StoredSums> {
  return db.transaction(async (sql) => {
    await sql.run(moveLastUse, { added });
    const sums = await sql.all(addToUse, { added });
    return { generation: await nextGeneration(sql, "use"), sums };
  });
}
