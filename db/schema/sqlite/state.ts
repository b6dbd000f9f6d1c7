/** The tables of `state.db`: accounts, their keys and quotas, and their use. Instants are milliseconds since 1970 UTC. */
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { bytes } from "./column-types.ts";

export const plans = sqliteTable("plans", {
  name: text().primaryKey(),
  daily: integer().notNull(),
  per_minute: integer().notNull(),
});

export const accounts = sqliteTable("accounts", {
  id: integer().primaryKey(),
  name: text().notNull().unique(),
  plan: text()
    .notNull()
    .references(() => plans.name),
  subscription: text().notNull(),
  created_at: integer().notNull(),
});

export const keys = sqliteTable(
  "keys",
  {
    id: text().primaryKey(),
    account_id: integer()
      .notNull()
      .references(() => accounts.id),
    /** SHA-256 of the key. Only this and the last four characters are stored. */
    hash: bytes().notNull().unique(),
    last_four: text().notNull(),
    label: text(),
    created_at: integer().notNull(),
    expires_at: integer(),
    revoked_at: integer(),
    last_used_at: integer(),
    generation: integer().notNull().default(0),
    /** The mail address of a member, who has no key. It is erased when the member is removed. */
    member: text().unique(),
    /** A link to sign in names the number, so that it works once. */
    sign_ins: integer().notNull().default(0),
    successor: text(),
  },
  (table) => [index("keys_generation").on(table.generation)],
);

export const allowed = sqliteTable("allowed", {
  entry: text().primaryKey(),
  added_at: integer().notNull(),
});

export const use = sqliteTable(
  "use",
  {
    key_id: text()
      .notNull()
      .references(() => keys.id),
    day: integer().notNull(),
    count: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.key_id, table.day] })],
);

/** Counters of changes to keys and use, by which a server notices changes of other processes. */
export const generations = sqliteTable("generations", {
  name: text().primaryKey(),
  number: integer().notNull(),
});

/** `pages` signs the cookies of the pages and the addresses of feeds. */
export const secrets = sqliteTable("secrets", {
  name: text().primaryKey(),
  value: bytes().notNull(),
});
