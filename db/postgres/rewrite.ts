/** Rewrites the tables of a schema, so that what was erased is in none of their unused space; readers are held up as little as that can. */
import type { Patience } from "../engine.ts";
import { sqlStateOf } from "../reason.ts";
import type { Asking } from "./client.ts";

/**
 * VACUUM FULL wants a table for itself: it waits for all who read it, and all who come later wait behind it. So it waits for less than
 * what a server's statement may take, and for more than the second after which PostgreSQL ends an autovacuum in the way; then again.
 */
const [LOCK_WAIT_MS, PAUSE_MS] = [2000, 8000];
/** SQLSTATE: the lock was not had in time. */
const LOCK_NOT_HAD = "55P03";

/** False where a table was not had in time, or holds old versions still, since somebody reads a state of the database that has them. */
export async function rewriteTables(connection: Asking, { forMs, onWait }: Patience): Promise<boolean> {
  await connection.written(`set lock_timeout = ${LOCK_WAIT_MS}`, []);
  const tables = await connection.rows<{ name: string }>("select tablename as name from pg_tables where schemaname = current_schema()", []);
  let waitedMs = 0;
  let areAllClean = true;
  for (const { name } of tables) {
    while (!(await isRewritten(connection, name))) {
      if (waitedMs === 0) onWait();
      waitedMs += LOCK_WAIT_MS + PAUSE_MS;
      if (waitedMs > forMs) break;
      await Bun.sleep(PAUSE_MS);
    }
    areAllClean &&= await isClean(connection, name);
  }
  return areAllClean && waitedMs <= forMs;
}

async function isRewritten(connection: Asking, table: string): Promise<boolean> {
  try {
    await connection.written(`vacuum (full) "${table}"`, []);
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_HAD) throw error;
    return false;
  }
}

/** Its key's index, which was made anew, has counted every version that is there; the table itself counts what everybody sees. */
async function isClean(connection: Asking, table: string): Promise<boolean> {
  const kept = `
    select 1 from pg_class join pg_index on indexrelid = oid
    where indrelid = '"${table}"'::regclass and indisprimary and reltuples > (select count(*) from "${table}")`;
  return (await connection.rows(kept, [])).length === 0;
}
