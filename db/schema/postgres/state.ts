/** The tables of `../sqlite/state.ts`, which describes them, in a PostgreSQL schema of their own. */
import { index, pgSchema, primaryKey } from "drizzle-orm/pg-core";
import { bytes, integer, rowNumber, text } from "./column-types.ts";

export const schema = pgSchema("fundfeed_state");

export const plans = schema.table("plans", {
  name: text("name").primaryKey(),
  daily: integer("daily").notNull(),
  per_minute: integer("per_minute").notNull(),
});

export const accounts = schema.table("accounts", {
  id: rowNumber("id"),
  name: text("name").notNull().unique(),
  plan: text("plan")
    .notNull()
    .references(() => plans.name),
  subscription: text("subscription").notNull(),
  created_at: integer("created_at").notNull(),
});

export const keys = schema.table(
  "keys",
  {
    id: text("id").primaryKey(),
    account_id: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    hash: bytes("hash").notNull().unique(),
    last_four: text("last_four").notNull(),
    label: text("label"),
    created_at: integer("created_at").notNull(),
    expires_at: integer("expires_at"),
    revoked_at: integer("revoked_at"),
    last_used_at: integer("last_used_at"),
    generation: integer("generation").notNull().default(0),
  },
  (table) => [index("keys_generation").on(table.generation)],
);

export const use = schema.table(
  "use",
  {
    key_id: text("key_id")
      .notNull()
      .references(() => keys.id),
    day: integer("day").notNull(),
    count: integer("count").notNull(),
  },
  (table) => [primaryKey({ columns: [table.key_id, table.day] })],
);

export const generations = schema.table("generations", {
  name: text("name").primaryKey(),
  number: integer("number").notNull(),
});
