/** A watch.db whose user dies at any statement. */
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import type { DatabaseFile } from "../../db/sqlite/open.ts";

/** Calls `step` before every statement on watch.db, and before each commit. */
export function interruptedWatches(db: WatchDb, step: () => void): WatchDb {
  const interrupted = (sql: WatchSql): WatchSql => ({
    ...sql,
    get: async (statement, ...values) => stepped(() => sql.get(statement, ...values)),
    all: async (statement, ...values) => stepped(() => sql.all(statement, ...values)),
    run: async (statement, ...values) => stepped(() => sql.run(statement, ...values)),
    insert: async (statement, values) => stepped(() => sql.insert(statement, values)),
  });
  const stepped = <T>(work: () => T): T => {
    step();
    return work();
  };
  return {
    ...db,
    ...interrupted(db),
    transaction: async (write) => {
      step();
      return db.transaction(async (sql) => {
        const result = await write(interrupted(sql));
        step();
        return result;
      });
    },
    readTransaction: (read) => db.readTransaction((sql) => read(interrupted(sql))),
  };
}

/** Without waiting for the disk, which only a loss of power would need. */
export function unsynced(file: DatabaseFile<"watch">): DatabaseFile<"watch"> {
  file.sqlite.run("pragma synchronous = off");
  return file;
}
