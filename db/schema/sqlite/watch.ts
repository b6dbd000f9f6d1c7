/** The tables of `watch.db`: watches, what their receivers know, and messages. Instants are milliseconds since 1970 UTC. */
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

const follow = { onDelete: "cascade", onUpdate: "cascade" } as const;

/** A row for each receiver. All rows of a watch have the same name, and the same definition but for the receiver. */
export const watches = sqliteTable(
  "watches",
  {
    /** A changed watch gets another key. A run that still has the old one then does nothing to it. */
    key: integer().primaryKey({ autoIncrement: true }),
    name: text().notNull(),
    place: integer().notNull(),
    created_at: integer().notNull(),
    definition: text().notNull(),
    /** The id of a member. The address is in `state.db` alone. */
    owner: text(),
    feed_seq: integer(),
    feed_id: text(),
    /** The receiver had everything until then. */
    checked_at: integer().notNull(),
    delivered_at: integer(),
    delivered_total: integer().notNull(),
    failed_total: integer().notNull(),
    paused: text(),
  },
  (table) => [uniqueIndex("watches_by_name").on(table.name, table.place), index("watches_by_owner").on(table.owner)],
);

/** Opportunities that the receiver knows to match. `WITHOUT ROWID` is in the migration only: drizzle-kit cannot write it. */
export const matched = sqliteTable(
  "matched",
  {
    watch: integer()
      .notNull()
      .references(() => watches.key, follow),
    id: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

export const pending = sqliteTable("pending", {
  watch: integer()
    .primaryKey()
    .references(() => watches.key, follow),
  id: text().notNull(),
  /** The mail to a member that it is part of: once that was sent, it is sent again with the same parts. */
  mail: text(),
  created_at: integer().notNull(),
  oldest_at: integer().notNull(),
  body: text().notNull(),
  counts: text().notNull(),
  feed_seq: integer(),
  feed_id: text(),
  checked_at: integer().notNull(),
  count: integer().notNull(),
  at: integer(),
  wait_ms: integer().notNull(),
  failing_ms: integer().notNull(),
  error: text(),
});

/** What the acceptance of a message changes in `matched`. `WITHOUT ROWID`, too. */
export const pendingMatched = sqliteTable(
  "pending_matched",
  {
    watch: integer()
      .notNull()
      .references(() => pending.watch, follow),
    id: text().notNull(),
    joins: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

const reminder = {
  id: text().notNull(),
  due: integer().notNull(),
  days: integer().notNull(),
};

/** They stay, so that a date that moves away and back is not reminded twice. */
export const reminded = sqliteTable(
  "reminded",
  {
    watch: integer()
      .notNull()
      .references(() => watches.key, follow),
    ...reminder,
  },
  (table) => [primaryKey({ columns: [table.watch, table.id, table.due] })],
);

export const pendingReminders = sqliteTable(
  "pending_reminders",
  {
    watch: integer()
      .notNull()
      .references(() => pending.watch, follow),
    ...reminder,
  },
  (table) => [primaryKey({ columns: [table.watch, table.id, table.due] })],
);

export const muted = sqliteTable(
  "muted",
  {
    watch: integer()
      .notNull()
      .references(() => watches.key, follow),
    id: text().notNull(),
    muted_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

export const deliveries = sqliteTable(
  "deliveries",
  {
    seq: integer().primaryKey(),
    watch: integer()
      .notNull()
      .references(() => watches.key, follow),
    id: text().notNull(),
    created_at: integer().notNull(),
    delivered_at: integer().notNull(),
    attempts: integer().notNull(),
    counts: text().notNull(),
  },
  (table) => [index("deliveries_of_watch").on(table.watch, table.seq)],
);
