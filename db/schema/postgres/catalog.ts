/**
 * The tables of `../sqlite/catalog.ts`, which describes them, in a PostgreSQL schema of their own.
 *
 * An entry of a B-tree has at most 2,704 bytes. What may be longer has a hash index: the values of a facet together, and link keys, which
 * may come from an address of any length. (E-26)
 */
import { sql } from "drizzle-orm";
import { index, pgSchema, primaryKey, uniqueIndex } from "drizzle-orm/pg-core";
import { bytes, integer, rowNumber, text } from "./column-types.ts";

export const schema = pgSchema("fundfeed_catalog");

export const sources = schema.table("sources", {
  code: text("code").primaryKey(),
  name: text("name").notNull(),
  description: text("description").notNull(),
});

export const facets = schema.table(
  "facets",
  {
    id: rowNumber("id"),
    status: text("status").notNull(),
    source: text("source").notNull(),
    program_type: text("program_type").notNull(),
    agency: text("agency").notNull(),
    records: integer("records").notNull().default(0),
  },
  (table) => [index("facets_agency").using("hash", table.agency)],
);

export const figures = schema.table(
  "figures",
  {
    kind: text("kind").notNull(),
    subject: text("subject").notNull(),
    name: text("name").notNull(),
    number: integer("number").notNull(),
  },
  (table) => [primaryKey({ columns: [table.kind, table.subject, table.name] })],
);

export const opportunities = schema.table(
  "opportunities",
  {
    seq: rowNumber("seq"),
    id: text("id").notNull().unique(),
    source: text("source").notNull(),
    lineage: text("lineage").notNull(),
    source_opportunity_id: text("source_opportunity_id").notNull(),
    created_at: integer("created_at").notNull(),
    updated_at: integer("updated_at").notNull(),
    facet_id: integer("facet_id").notNull(),
    status_basis: text("status_basis").notNull(),
    due_at: integer("due_at"),
    link_key: text("link_key"),
    hash: bytes("hash").notNull(),
    document: bytes("document").notNull(),
    sidecar: bytes("sidecar").notNull(),
  },
  (table) => [
    uniqueIndex("opportunities_natural_key").on(table.source, table.lineage),
    // With the row number, which SQLite's indexes have anyway: the list index is read from this index alone.
    index("opportunities_order").on(table.updated_at, table.id, table.facet_id, table.seq),
    index("opportunities_link").using("hash", table.link_key).where(sql`link_key is not null`),
    index("opportunities_due").on(table.due_at).where(sql`due_at is not null`),
  ],
);

export const readings = schema.table("readings", {
  opportunity_seq: integer("opportunity_seq").primaryKey(),
  digest: bytes("digest").notNull(),
});

export const upstreamIds = schema.table(
  "upstream_ids",
  {
    upstream_id: text("upstream_id").notNull(),
    source: text("source").notNull(),
    opportunity_seq: integer("opportunity_seq").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.upstream_id, table.source, table.opportunity_seq] }),
    index("upstream_ids_of_record").on(table.opportunity_seq),
  ],
);

export const versions = schema.table(
  "versions",
  {
    source: text("source").notNull(),
    upstream_id: text("upstream_id").notNull(),
    opportunity_seq: integer("opportunity_seq").notNull(),
    revision_key: text("revision_key").notNull(),
    series: text("series").notNull(),
    title: text("title").notNull(),
    posted_at: integer("posted_at"),
  },
  (table) => [primaryKey({ columns: [table.source, table.upstream_id] }), index("versions_of_series").on(table.source, table.series)],
);

export const events = schema.table(
  "events",
  {
    seq: rowNumber("seq"),
    id: text("id").notNull().unique(),
    opportunity_seq: integer("opportunity_seq").notNull(),
    detected_at: integer("detected_at").notNull(),
    type: text("type").notNull(),
    severity: text("severity").notNull(),
    origin: text("origin").notNull(),
    import_id: integer("import_id"),
    document: bytes("document").notNull(),
  },
  (table) => [
    index("events_order").on(table.opportunity_seq, table.detected_at, table.id, table.type, table.severity),
    index("events_feed").on(table.detected_at, table.seq, table.severity, table.type),
  ],
);

export const imports = schema.table(
  "imports",
  {
    id: rowNumber("id"),
    format: text("format").notNull(),
    files: text("files").notNull(),
    sources: text("sources").notNull(),
    snapshot: integer("snapshot").notNull(),
    as_of: integer("as_of"),
    started_at: integer("started_at").notNull(),
    finished_at: integer("finished_at"),
    last_instant: integer("last_instant"),
    counts: text("counts").notNull(),
  },
  (table) => [index("imports_unfinished").on(table.id).where(sql`finished_at is null`)],
);

export const settings = schema.table("settings", {
  name: text("name").primaryKey(),
  value: bytes("value").notNull(),
});
