/** The tables of `catalog.db`: text, 64-bit integers and bytes, which both engines store alike. Instants are milliseconds since 1970 UTC. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { bytes } from "./column-types.ts";

/** The named sources (D-13). */
export const sources = sqliteTable("sources", {
  code: text().primaryKey(),
  name: text().notNull(),
  description: text().notNull(),
});

/** Every combination of the values that list filters compare. Of a row only `records` changes. A missing type or agency is "". */
export const facets = sqliteTable(
  "facets",
  {
    id: integer().primaryKey(),
    status: text().notNull(),
    source: text().notNull(),
    program_type: text().notNull(),
    agency: text().notNull(),
    records: integer().notNull().default(0),
  },
  (table) => [uniqueIndex("facets_values").on(table.agency, table.status, table.source, table.program_type)],
);

/** Sums that transactions add to (`sources/counts.ts`). `subject` is the code of a source, or the format whose imports are counted. */
export const counts = sqliteTable(
  "counts",
  {
    kind: text({ enum: ["posted", "agency", "imports"] }).notNull(),
    subject: text().notNull(),
    name: text().notNull(),
    number: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subject, table.name] })],
);

/** When something last happened to a source on a day, or at all (""). The source "" is the whole catalog. */
export const instants = sqliteTable(
  "instants",
  {
    source: text().notNull(),
    day: text().notNull(),
    name: text({ enum: ["imported", "changed", "known_until", "judged_until"] }).notNull(),
    at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.day, table.name] })],
);

/** `document` is the opportunity as the API returns it, UTF-8 JSON, rendered once in `changes/`. Rows are never deleted. */
export const opportunities = sqliteTable(
  "opportunities",
  {
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    source: text().notNull(),
    lineage: text().notNull(),
    source_opportunity_id: text().notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When the row was last written, with a change that is not served, too. Never before `updated_at`. (E-56) */
    stored_at: integer().notNull(),
    facet_id: integer().notNull(),
    status_basis: text({ enum: ["stated", "dates"] }).notNull(),
    turns_at: integer(),
    canonical_id: text(),
    parent_id: text(),
    /** SHA-256 of the record's content. The same hash means unchanged (D-32). */
    hash: bytes().notNull(),
    document: bytes().notNull(),
    sidecar: bytes().notNull(),
    restored_at: integer(),
    restored_updated_at: integer(),
  },
  (table) => [
    uniqueIndex("opportunities_natural_key").on(table.source, table.lineage),
    index("opportunities_order").on(table.updated_at, table.id, table.facet_id),
    index("opportunities_stored").on(table.stored_at, table.id),
    index("opportunities_canonical").on(table.canonical_id, table.id).where(sql`canonical_id is not null`),
    index("opportunities_parent").on(table.parent_id, table.id).where(sql`parent_id is not null`),
    index("opportunities_turning").on(table.turns_at).where(sql`turns_at is not null`),
  ],
);

/** What no event has of a record before its change at `until`: the basis of its status, and its sidecar. (E-85) */
export const earlierSidecars = sqliteTable(
  "earlier_sidecars",
  {
    opportunity_seq: integer().notNull(),
    until: integer().notNull(),
    status_basis: text({ enum: ["stated", "dates"] }).notNull(),
    sidecar: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.opportunity_seq, table.until] })],
);

/** The keys that a record holds and seeks (`changes/link.ts`). The greatest `newness` is the newest of several holders. */
export const linkKeys = sqliteTable(
  "link_keys",
  {
    key: text().notNull(),
    role: text({ enum: ["holds", "seeks"] }).notNull(),
    newness: integer().notNull(),
    opportunity_id: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.key, table.role, table.newness, table.opportunity_id] }),
    index("link_keys_of_record").on(table.opportunity_id),
  ],
);

/** Keys that may lead to another record than before: the next import links the records that seek them again. */
export const movedLinkKeys = sqliteTable("moved_link_keys", { key: text().primaryKey() });

/** The digest of the text that a record was last read from (`import/source-digest.ts`), valid while its hash is the same. */
export const readings = sqliteTable("readings", {
  opportunity_seq: integer().primaryKey(),
  digest: bytes().notNull(),
});

/** When imports last contained what is open and states no date (`opportunities/last-seen.ts`), and first lacked it. */
export const sightings = sqliteTable("sightings", {
  opportunity_seq: integer().primaryKey(),
  source: text().notNull(),
  seen_at: integer().notNull(),
  missed_at: integer(),
});

/** The same by layout: only a file of that layout can show that the source dropped it. */
export const layoutSightings = sqliteTable(
  "layout_sightings",
  {
    opportunity_seq: integer().notNull(),
    layout: text().notNull(),
    seen_at: integer().notNull(),
    missed_at: integer(),
  },
  (table) => [primaryKey({ columns: [table.opportunity_seq, table.layout] })],
);

/** Every upstream id that a record has or had (D-14, D-30), and when it was first stored. */
export const upstreamIds = sqliteTable(
  "upstream_ids",
  {
    upstream_id: text().notNull(),
    source: text().notNull(),
    opportunity_seq: integer().notNull(),
    since: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.upstream_id, table.source, table.opportunity_seq] }),
    index("upstream_ids_of_record").on(table.opportunity_seq),
  ],
);

/** Versions with ids of their own (D-30), their records, and what later versions are compared with (`import/versions`). */
export const versions = sqliteTable(
  "versions",
  {
    source: text().notNull(),
    upstream_id: text().notNull(),
    opportunity_seq: integer().notNull(),
    /** What it shares with its revisions, and with all stages of its acquisition. */
    revision_key: text().notNull(),
    series: text().notNull(),
    title: text().notNull(),
    posted_at: integer(),
    /** Digest of the text that it was last read from, and of its record's content then (`import/versions/settled.ts`). */
    reading: bytes(),
  },
  (table) => [primaryKey({ columns: [table.source, table.upstream_id] }), index("versions_of_series").on(table.source, table.series)],
);

/** The history. `type` and `severity` are as given; `document` holds the values that the API defines. */
export const events = sqliteTable(
  "events",
  {
    seq: integer().primaryKey(),
    id: text().notNull().unique(),
    opportunity_seq: integer().notNull(),
    detected_at: integer().notNull(),
    type: text().notNull(),
    severity: text().notNull(),
    /** `detected` by this program, or `imported` from a history kept elsewhere. */
    origin: text({ enum: ["detected", "imported"] }).notNull(),
    /** Null for a status turn. */
    import_id: integer(),
    /** Null for a detected one, which is stored at `detected_at`. */
    imported_at: integer(),
    document: bytes().notNull(),
  },
  (table) => [
    index("events_order").on(table.opportunity_seq, table.detected_at, table.id, table.type, table.severity),
    // In the order of a window, with what decides whether an event is counted.
    index("events_feed").on(table.detected_at, table.seq, table.severity, table.type),
  ],
);

/** Every import that began to write. One without `finished_at` is running, or was killed. */
export const imports = sqliteTable(
  "imports",
  {
    id: integer().primaryKey(),
    format: text().notNull(),
    files: text().notNull(),
    sources: text().notNull(),
    snapshot: integer().notNull(),
    as_of: integer(),
    started_at: integer().notNull(),
    finished_at: integer(),
    /** `updated_at` of its newest chunk; null if it changed nothing yet. */
    last_instant: integer(),
    counts: text().notNull(),
  },
  (table) => [index("imports_unfinished").on(table.id).where(sql`finished_at is null`)],
);

/** Small values under a name: the cursor secret (D-15), and what each pull downloaded last (`pull/pull.ts`). */
export const settings = sqliteTable("settings", {
  name: text().primaryKey(),
  value: bytes().notNull(),
});
