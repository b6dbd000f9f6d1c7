/** Rewrites the tables of a schema, so that erased data is in none of their unused space. Readers wait as little as possible. */
import type { Patience } from "../engine.ts";
import { sqlStateOf } from "../reason.ts";
import type { Executor } from "./client.ts";

/** Readers wait behind VACUUM FULL: so less than their time limit, and more than the second after which an autovacuum is cancelled. */
const [LOCK_WAIT_MS, PAUSE_MS] = [2000, 8000];
/** A connection that is being opened reads for a moment, this command's own ones too. */
const OPENING_MS = 1000;
const LOCK_NOT_AVAILABLE = "55P03";

/** Returns false if a table could not be locked in time, or still holds old versions because a reader can see them. */
export async function rewriteTables(connection: Executor, { forMs, onWait }: Patience): Promise<boolean> {
  await connection.execute(`set lock_timeout = ${LOCK_WAIT_MS}`, []);
  const tables = await connection.rows<{ name: string }>("select tablename as name from pg_tables where schemaname = current_schema()", []);
  let waitedMs = 0;
  /** False if the table could not be locked in time, or has more row versions than it had rows. */
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
  for (const { name } of tables) {
    if (await rewrite(name)) continue;
    await Bun.sleep(OPENING_MS);
    if (!(await rewrite(name))) areAllClean = false; // Twice, because a row that was inserted meanwhile looks like an old version.
  }
  return areAllClean;
}

async function isVacuumed(connection: Executor, table: string): Promise<boolean> {
  try {
    await connection.execute(`vacuum (full) "${table}"`, []);
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  }
}

/** VACUUM FULL rebuilds the index of the primary key with every row version. `reltuples` is in single precision. */
const MORE_THAN = `
  select 1 from pg_class join pg_index on indexrelid = oid
  where indrelid = ?::regclass and indisprimary and reltuples > ?::real`;
