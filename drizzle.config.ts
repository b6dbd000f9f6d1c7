import { defineConfig } from "drizzle-kit";

/**
 * Catalog and state on two engines, and watch.db on SQLite, a migration folder each: `ENGINE` and `DATABASE` say which (`bun run migrations`
 * does all five).
 */
const { DATABASE: database = "catalog", ENGINE: engine = "sqlite" } = process.env;

export default defineConfig({
  dialect: engine === "postgres" ? "postgresql" : "sqlite",
  schema: `./db/schema/${engine}/${database}.ts`,
  out: `./db/migrations/${engine}/${database}`,
});
