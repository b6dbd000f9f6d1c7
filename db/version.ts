/** The schema version of an open database. */
import { sql } from "drizzle-orm";
import type { Engine } from "./engine.ts";
import { postgresMigrations } from "./postgres/migrate.ts";
import { query } from "./query.ts";
import { migrations } from "./sqlite/migrate.ts";

type SchemaVersion = { applied: number; known: number };

const countMigrations = query({}, () => sql<{ count: number }>`select count(*) as count from migrations`);

export async function findSchemaVersion(db: Engine<"catalog" | "state">): Promise<SchemaVersion> {
  const all = db.dialect.name === "SQLite" ? migrations : postgresMigrations;
  return { applied: (await db.get(countMigrations))?.count ?? 0, known: all[db.name].length };
}
