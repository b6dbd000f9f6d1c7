/** Migrates a file to this program's schema: every migration once, in order, all or none. */
import type { Database } from "bun:sqlite";
import type { DatabaseName } from "../engine.ts";
import { type Migration, missingOf } from "../migration.ts";
import catalogInitial from "../migrations/sqlite/catalog/0000_initial.sql" with { type: "text" };
import catalogSightings from "../migrations/sqlite/catalog/0001_sightings.sql" with { type: "text" };
import catalogCounts from "../migrations/sqlite/catalog/0002_counts.sql" with { type: "text" };
import catalogLayouts from "../migrations/sqlite/catalog/0003_layout_sightings.sql" with { type: "text" };
import stateInitial from "../migrations/sqlite/state/0000_initial.sql" with { type: "text" };
import watchInitial from "../migrations/sqlite/watch/0000_initial.sql" with { type: "text" };

export const migrations: Record<DatabaseName, Migration[]> = {
  catalog: [
    { tag: "0000_initial", sql: catalogInitial },
    { tag: "0001_sightings", sql: catalogSightings },
    { tag: "0002_counts", sql: catalogCounts },
    { tag: "0003_layout_sightings", sql: catalogLayouts },
  ],
  state: [{ tag: "0000_initial", sql: stateInitial }],
  watch: [{ tag: "0000_initial", sql: watchInitial }],
};

/** Applies the missing migrations in one transaction. Returns how many had been applied before. Throws as `missingOf` does. */
export function migrate(sqlite: Database, all: readonly Migration[], now: number): number {
  const applied = appliedTo(sqlite);
  if (missingOf(all, applied).length === 0) return applied.length; // The usual case, without a write lock.
  return sqlite
    .transaction(() => {
      sqlite.run(
        "create table if not exists migrations (n integer primary key, tag text not null, hash text not null, applied_at integer not null)",
      );
      const before = appliedTo(sqlite);
      for (const { n, tag, hash, statements } of missingOf(all, before)) {
        for (const statement of statements) sqlite.run(statement);
        sqlite.query("insert into migrations values (?, ?, ?, ?)").run(n, tag, hash, now);
      }
      return before.length;
    })
    .immediate();
}

/** The migrations that a file has had; none if it is new. */
export function appliedTo(sqlite: Database): { hash: string }[] {
  const exists = sqlite.query("select 1 from sqlite_master where type = 'table' and name = 'migrations'").get() !== null;
  return exists ? sqlite.query<{ hash: string }, []>("select hash from migrations order by n").all() : [];
}
