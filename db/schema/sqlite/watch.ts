/** The tables of `watch.db`: watches, what their receivers know, and messages. Instants are milliseconds since 1970 UTC. */
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

const follow = { onDelete: "cascade", onUpdate: "cascade" } as const;

/** A row for each receiver. All rows of a watch have the same name, and the same definition but for the receiver. */
export const watches = sqliteTable(
  "watches",
  {
    /** A changed watch gets another key. A run that still has the old one then does nothing to it. */
    key: integer("key").primaryKey({ autoIncrement: true }),
    name: text("name").notNull(),
    place: integer("place").notNull(),
    created_at: integer("created_at").notNull(),
    /** JSON of a `WatchDefinition`. */
    definition: text("definition").notNull(),
    /** The id of a member. The address is in `state.db` alone. */
    owner: text("owner"),
    feed_seq: integer("feed_seq"),
    feed_id: text("feed_id"),
    /** The receiver had everything until then. */
    checked_at: integer("checked_at").notNull(),
    delivered_at: integer("delivered_at"),
    delivered_total: integer("delivered_total").notNull(),
    failed_total: integer("failed_total").notNull(),
    paused: text("paused"),
  },
  (table) => [uniqueIndex("watches_by_name").on(table.name, table.place), index("watches_by_owner").on(table.owner)],
);

/** Opportunities that the receiver knows to match. `WITHOUT ROWID` is in the migration only: drizzle-kit cannot write it. */
export const matched = sqliteTable(
  "matched",
  {
    watch: integer("watch")
      .notNull()
      .references(() => watches.key, follow),
    id: text("id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

export const pending = sqliteTable("pending", {
  watch: integer("watch")
    .primaryKey()
    .references(() => watches.key, follow),
  id: text("id").notNull(),
  /** The mail to a member that it is part of: once that was sent, it is sent again with the same parts. */
  mail: text("mail"),
  created_at: integer("created_at").notNull(),
  oldest_at: integer("oldest_at").notNull(),
  body: text("body").notNull(),
  counts: text("counts").notNull(),
  feed_seq: integer("feed_seq"),
  feed_id: text("feed_id"),
  checked_at: integer("checked_at").notNull(),
  count: integer("count").notNull(),
  at: integer("at"),
  wait_ms: integer("wait_ms").notNull(),
  failing_ms: integer("failing_ms").notNull(),
  error: text("error"),
});

/** What the acceptance of a message changes in `matched`. `WITHOUT ROWID`, too. */
export const pendingMatched = sqliteTable(
  "pending_matched",
  {
    watch: integer("watch")
      .notNull()
      .references(() => pending.watch, follow),
    id: text("id").notNull(),
    /** 1: it matches; 0: it no longer does. */
    joins: integer("joins").notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

const reminder = {
  id: text("id").notNull(),
  due: integer("due").notNull(),
  days: integer("days").notNull(),
};

/** They stay, so that a date that moves away and back is not reminded twice. */
export const reminded = sqliteTable(
  "reminded",
  {
    watch: integer("watch")
      .notNull()
      .references(() => watches.key, follow),
    ...reminder,
  },
  (table) => [primaryKey({ columns: [table.watch, table.id, table.due] })],
);

export const pendingReminders = sqliteTable(
  "pending_reminders",
  {
    watch: integer("watch")
      .notNull()
      .references(() => pending.watch, follow),
    ...reminder,
  },
  (table) => [primaryKey({ columns: [table.watch, table.id, table.due] })],
);

export const muted = sqliteTable(
  "muted",
  {
    watch: integer("watch")
      .notNull()
      .references(() => watches.key, follow),
    id: text("id").notNull(),
    muted_at: integer("muted_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.watch, table.id] })],
);

export const deliveries = sqliteTable(
  "deliveries",
  {
    seq: integer("seq").primaryKey(),
    watch: integer("watch")
      .notNull()
      .references(() => watches.key, follow),
    id: text("id").notNull(),
    created_at: integer("created_at").notNull(),
    delivered_at: integer("delivered_at").notNull(),
    attempts: integer("attempts").notNull(),
    counts: text("counts").notNull(),
  },
  (table) => [index("deliveries_of_watch").on(table.watch, table.seq)],
);
