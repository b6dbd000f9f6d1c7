/** Brings a database to this program's schema: every migration once, in order, all or none. */
import type { Database } from "bun:sqlite";
import catalogInitial from "./migrations/catalog/0000_initial.sql" with { type: "text" };
import catalogNamedSources from "./migrations/catalog/0001_named_sources.sql" with { type: "text" };
import stateInitial from "./migrations/state/0000_initial.sql" with { type: "text" };
import stateFirstPlans from "./migrations/state/0001_first_plans.sql" with { type: "text" };
import stateRevisions from "./migrations/state/0002_revisions.sql" with { type: "text" };

export type Migration = { tag: string; sql: string };

export const migrations: Record<"catalog" | "state", readonly Migration[]> = {
  catalog: [
    { tag: "0000_initial", sql: catalogInitial },
    { tag: "0001_named_sources", sql: catalogNamedSources },
  ],
  state: [
    { tag: "0000_initial", sql: stateInitial },
    { tag: "0001_first_plans", sql: stateFirstPlans },
    { tag: "0002_revisions", sql: stateRevisions },
  ],
};

/** Applies what is missing in one transaction. Throws when the database is newer than the program, or was migrated by another text. */
export function migrate(sqlite: Database, all: readonly Migration[], now: number): void {
  if (isUpToDate(sqlite, all)) return; // The usual case takes no write lock.
  sqlite
    .transaction(() => {
      sqlite.run(
        "create table if not exists migrations (n integer primary key, tag text not null, hash text not null, applied_at integer not null)",
      );
      const done = sqlite.query<{ n: number; hash: string }, []>("select n, hash from migrations order by n").all();
      if (done.length > all.length) throw new Error("it was made by a newer version of fundfeed");
      for (const [index, migration] of all.entries()) {
        const hash = hashOf(migration);
        const applied = done[index];
        if (applied !== undefined && applied.hash !== hash) throw new Error(`its migration ${migration.tag} differs from this program's`);
        if (applied !== undefined) continue;
        for (const statement of migration.sql.split("--> statement-breakpoint")) sqlite.run(statement);
        sqlite.query("insert into migrations values (?, ?, ?, ?)").run(index + 1, migration.tag, hash, now);
      }
    })
    .immediate();
}

function isUpToDate(sqlite: Database, all: readonly Migration[]): boolean {
  const exists = sqlite.query("select 1 from sqlite_master where type = 'table' and name = 'migrations'").get() !== null;
  if (!exists) return false;
  const done = sqlite.query<{ hash: string }, []>("select hash from migrations order by n").all();
  return done.length === all.length && all.every((migration, index) => hashOf(migration) === done[index]?.hash);
}

function hashOf(migration: Migration): string {
  return new Bun.CryptoHasher("sha256").update(migration.sql).digest("hex");
}
