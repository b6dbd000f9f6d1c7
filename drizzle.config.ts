import { defineConfig } from "drizzle-kit";

/** Two databases on two engines, a migration folder each: `ENGINE` and `DATABASE` say which (`bun run migrations` does all four). */
const { DATABASE: database = "catalog", ENGINE: engine = "sqlite" } = process.env;

export default engine === "postgres"
  ? defineConfig({ dialect: "postgresql", schema: `./db/postgres/${database}.ts`, out: `./db/migrations/postgres/${database}` })
  : defineConfig({ dialect: "sqlite", schema: `./db/${database}.ts`, out: `./db/migrations/${database}` });
