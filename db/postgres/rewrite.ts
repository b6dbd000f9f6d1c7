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
  /** False where it was not had in time, or has more versions than it had rows before. */
  const rewrite = async (table: string): Promise<boolean> => {
    for (;;) {
      const [before] = await connection.rows<{ count: number }>(`select count(*) as count from "${table}"`, []);
      if (await isVacuumed(connection, table)) return (await connection.rows(MORE_THAN, [`"${table}"`, before?.count ?? 0])).length === 0;
      if (waitedMs >= forMs) return false;
      if (waitedMs === 0) onWait();
      await Bun.sleep(PAUSE_MS);
      waitedMs += LOCK_WAIT_MS + PAUSE_MS;
    }
  };
  let areAllClean = true;
  // Twice, since what is inserted in between looks like an old version that was kept.
  for (const { name } of tables) if (!(await rewrite(name)) && !(await rewrite(name))) areAllClean = false;
  return areAllClean;
}

async function isVacuumed(connection: Asking, table: string): Promise<boolean> {
  try {
    await connection.written(`vacuum (full) "${table}"`, []);
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_HAD) throw error;
    return false;
  }
}

/** The key's index was made anew with every version that is there. It counts in single precision. */
const MORE_THAN = `
  select 1 from pg_class join pg_index on indexrelid = oid
  where indrelid = ?::regclass and indisprimary and reltuples > ?::real`;
