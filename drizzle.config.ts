import { defineConfig } from "drizzle-kit";

/** Two databases on two engines, a migration folder each: `ENGINE` and `DATABASE` say which (`bun run migrations` does all four). */
const { DATABASE: database = "catalog", ENGINE: engine = "sqlite" } = process.env;

export default defineConfig({
  dialect: engine === "postgres" ? "postgresql" : "sqlite",
  schema: `./db/schema/${engine}/${database}.ts`,
  out: `./db/migrations/${engine}/${database}`,
});
