/** The tables of `state.db`: accounts, their keys and quotas, and their use. Instants are milliseconds since 1970 UTC. */
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
    /** SHA-256 of the key. Only this and the last four characters are stored. */
    hash: bytes("hash").notNull().unique(),
    last_four: text("last_four").notNull(),
    label: text("label"),
    created_at: integer("created_at").notNull(),
    expires_at: integer("expires_at"),
    revoked_at: integer("revoked_at"),
    last_used_at: integer("last_used_at"),
    generation: integer("generation").notNull().default(0),
    /** The mail address of a member, who has no key. It is erased when the member is removed. */
    member: text("member").unique(),
    /** A link to sign in names the number, so that it works once. */
    sign_ins: integer("sign_ins").notNull().default(0),
    successor: text("successor"),
  },
  (table) => [index("keys_generation").on(table.generation)],
);

/** Who may become a member: an address, or a domain as `@lab.example`. */
export const allowed = sqliteTable("allowed", {
  entry: text("entry").primaryKey(),
  added_at: integer("added_at").notNull(),
});

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

/** Counters of changes to keys and use, by which a server notices changes of other processes. */
export const generations = sqliteTable("generations", {
  name: text("name").primaryKey(),
  number: integer("number").notNull(),
});

/** `pages` signs the cookies of the pages and the addresses of feeds. */
export const secrets = sqliteTable("secrets", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
});
