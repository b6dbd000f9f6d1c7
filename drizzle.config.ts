import { defineConfig } from "drizzle-kit";

/** Two databases, two migration folders: `DATABASE=catalog` or `DATABASE=state` says which (`bun run migrations` does both). */
const database = process.env.DATABASE ?? "catalog";

export default defineConfig({ dialect: "sqlite", schema: `./db/${database}.ts`, out: `./db/migrations/${database}` });
