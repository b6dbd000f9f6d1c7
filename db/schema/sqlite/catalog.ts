/** The tables of `catalog.db`: text, 64-bit integers and bytes, which both engines store alike. Instants are milliseconds since 1970 UTC. */
import { sql } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { bytes } from "./column-types.ts";

/** The named sources (D-13). */
export const sources = sqliteTable("sources", {
  code: text("code").primaryKey(),
  name: text("name").notNull(),
  description: text("description").notNull(),
});

/** Every combination of the values that list filters compare. Of a row only `records` changes. A missing type or agency is "". */
export const facets = sqliteTable(
  "facets",
  {
    id: integer("id").primaryKey(),
    status: text("status").notNull(),
    source: text("source").notNull(),
    program_type: text("program_type").notNull(),
    agency: text("agency").notNull(),
    records: integer("records").notNull().default(0),
  },
  (table) => [uniqueIndex("facets_values").on(table.agency, table.status, table.source, table.program_type)],
);

/** Sums that transactions add to (`sources/counts.ts`). `subject` is the code of a source, or the format whose imports are counted. */
export const counts = sqliteTable(
  "counts",
  {
    kind: text("kind", { enum: ["posted", "agency", "imports"] }).notNull(),
    subject: text("subject").notNull(),
    name: text("name").notNull(),
    number: integer("number").notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subject, table.name] })],
);

/** When something last happened to a source on a day, or at all (""). The source "" is the whole catalog. */
export const instants = sqliteTable(
  "instants",
  {
    source: text("source").notNull(),
    day: text("day").notNull(),
    name: text("name", { enum: ["imported", "changed", "known_until", "judged_until"] }).notNull(),
    at: integer("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.day, table.name] })],
);

/** `document` is the opportunity as the API returns it, UTF-8 JSON, rendered once in `changes/`. Rows are never deleted. */
export const opportunities = sqliteTable(
  "opportunities",
  {
    seq: integer("seq").primaryKey(),
    id: text("id").notNull().unique(),
    source: text("source").notNull(),
    lineage: text("lineage").notNull(),
    source_opportunity_id: text("source_opportunity_id").notNull(),
    created_at: integer("created_at").notNull(),
    updated_at: integer("updated_at").notNull(),
    /** When the row was last written, with a change that is not served, too. Never before `updated_at`. (E-56) */
    stored_at: integer("stored_at").notNull(),
    facet_id: integer("facet_id").notNull(),
    status_basis: text("status_basis", { enum: ["stated", "dates"] }).notNull(),
    /** When the clock changes the record next; null if it never will. */
    turns_at: integer("turns_at"),
    canonical_id: text("canonical_id"),
    parent_id: text("parent_id"),
    /** SHA-256 of the record's content. The same hash means unchanged (D-32). */
    hash: bytes("hash").notNull(),
    document: bytes("document").notNull(),
    /** UTF-8 JSON of a `Sidecar`. */
    sidecar: bytes("sidecar").notNull(),
    restored_at: integer("restored_at"),
    restored_updated_at: integer("restored_updated_at"),
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
    opportunity_seq: integer("opportunity_seq").notNull(),
    until: integer("until").notNull(),
    status_basis: text("status_basis", { enum: ["stated", "dates"] }).notNull(),
    sidecar: bytes("sidecar").notNull(),
  },
  (table) => [primaryKey({ columns: [table.opportunity_seq, table.until] })],
);

/** The keys that a record holds and seeks (`changes/link.ts`). The greatest `newness` is the newest of several holders. */
export const linkKeys = sqliteTable(
  "link_keys",
  {
    key: text("key").notNull(),
    role: text("role", { enum: ["holds", "seeks"] }).notNull(),
    newness: integer("newness").notNull(),
    opportunity_id: text("opportunity_id").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.key, table.role, table.newness, table.opportunity_id] }),
    index("link_keys_of_record").on(table.opportunity_id),
  ],
);

/** Keys that may lead to another record than before: the next import links the records that seek them again. */
export const movedLinkKeys = sqliteTable("moved_link_keys", { key: text("key").primaryKey() });

/** The digest of the text that a record was last read from (`import/source-digest.ts`), valid while its hash is the same. */
export const readings = sqliteTable("readings", {
  opportunity_seq: integer("opportunity_seq").primaryKey(),
  digest: bytes("digest").notNull(),
});

/** When imports last contained what is open and states no date (`opportunities/last-seen.ts`), and first lacked it. */
export const sightings = sqliteTable("sightings", {
  opportunity_seq: integer("opportunity_seq").primaryKey(),
  source: text("source").notNull(),
  seen_at: integer("seen_at").notNull(),
  missed_at: integer("missed_at"),
});

/** The same by layout: only a file of that layout can show that the source dropped it. */
export const layoutSightings = sqliteTable(
  "layout_sightings",
  {
    opportunity_seq: integer("opportunity_seq").notNull(),
    /** The format, and the kind of its files: "grants-gov xml". */
    layout: text("layout").notNull(),
    seen_at: integer("seen_at").notNull(),
    missed_at: integer("missed_at"),
  },
  (table) => [primaryKey({ columns: [table.opportunity_seq, table.layout] })],
);

/** Every upstream id that a record has or had (D-14, D-30), and when it was first stored. */
export const upstreamIds = sqliteTable(
  "upstream_ids",
  {
    upstream_id: text("upstream_id").notNull(),
    source: text("source").notNull(),
    opportunity_seq: integer("opportunity_seq").notNull(),
    since: integer("since").notNull(),
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
    source: text("source").notNull(),
    upstream_id: text("upstream_id").notNull(),
    opportunity_seq: integer("opportunity_seq").notNull(),
    /** What it shares with its revisions, and with all stages of its acquisition. */
    revision_key: text("revision_key").notNull(),
    series: text("series").notNull(),
    title: text("title").notNull(),
    posted_at: integer("posted_at"),
    /** Digest of the text that it was last read from, and of its record's content then (`import/versions/settled.ts`). */
    reading: bytes("reading"),
  },
  (table) => [primaryKey({ columns: [table.source, table.upstream_id] }), index("versions_of_series").on(table.source, table.series)],
);

/** The history. `type` and `severity` are as given; `document` holds the values that the API defines. */
export const events = sqliteTable(
  "events",
  {
    seq: integer("seq").primaryKey(),
    id: text("id").notNull().unique(),
    opportunity_seq: integer("opportunity_seq").notNull(),
    detected_at: integer("detected_at").notNull(),
    type: text("type").notNull(),
    severity: text("severity").notNull(),
    /** `detected` by this program, or `imported` from a history kept elsewhere. */
    origin: text("origin", { enum: ["detected", "imported"] }).notNull(),
    /** Null for a status turn. */
    import_id: integer("import_id"),
    /** Null for a detected one, which is stored at `detected_at`. */
    imported_at: integer("imported_at"),
    document: bytes("document").notNull(),
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
    id: integer("id").primaryKey(),
    format: text("format").notNull(),
    files: text("files").notNull(),
    /** JSON: codes of the sources that the files hold. */
    sources: text("sources").notNull(),
    snapshot: integer("snapshot").notNull(),
    as_of: integer("as_of"),
    started_at: integer("started_at").notNull(),
    finished_at: integer("finished_at"),
    /** `updated_at` of its newest chunk; null if it changed nothing yet. */
    last_instant: integer("last_instant"),
    counts: text("counts").notNull(),
  },
  (table) => [index("imports_unfinished").on(table.id).where(sql`finished_at is null`)],
);

/** Small values under a name: the cursor secret (D-15), and what each pull downloaded last (`pull/pull.ts`). */
export const settings = sqliteTable("settings", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
});
