/** `state.db`: who may call, how often, and how often they did. Instants are milliseconds since 1970 UTC. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { bytes } from "./column-types.ts";

export const plans = sqliteTable("plans", {
  name: text("name").primaryKey(),
  daily: integer("daily").notNull(),
  per_minute: integer("per_minute").notNull(),
});

export const accounts = sqliteTable("accounts", {
  id: integer("id").primaryKey(),
  name: text("name").notNull().unique(),
  plan: text("plan")
    .notNull()
    .references(() => plans.name),
  /** `active` or `inactive`. */
  subscription: text("subscription").notNull(),
  created_at: integer("created_at").notNull(),
});

export const keys = sqliteTable(
  "keys",
  {
    id: text("id").primaryKey(),
    account_id: integer("account_id")
      .notNull()
      .references(() => accounts.id),
    /** SHA-256 of the key: all that is stored of it, with its last four characters. */
    hash: bytes("hash").notNull().unique(),
    last_four: text("last_four").notNull(),
    label: text("label"),
    created_at: integer("created_at").notNull(),
    expires_at: integer("expires_at"),
    revoked_at: integer("revoked_at"),
    last_used_at: integer("last_used_at"),
    /** Of the last change to the key, its account or its plan. */
    revision: integer("revision").notNull().default(0),
  },
  (table) => [index("keys_revision").on(table.revision)],
);

/** Requests of a key in one UTC day; `day` counts days since 1970. */
export const use = sqliteTable(
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

/** How often keys were changed (`keys`) and use was written (`use`), by which servers notice that another process did. None yet: no row. */
export const revisions = sqliteTable("revisions", {
  name: text("name").primaryKey(),
  number: integer("number").notNull(),
});
