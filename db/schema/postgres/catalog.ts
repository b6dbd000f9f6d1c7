/** The tables of `../sqlite/catalog.ts`. What may exceed the 2,704 bytes of a B-tree's entry has a hash index. */
import { sql } from "drizzle-orm";
import { index, pgSchema, uniqueIndex } from "drizzle-orm/pg-core";
import * as sqlite from "../sqlite/catalog.ts";
import { tablesIn } from "./tables.ts";

export const schema = pgSchema("fundfeed_catalog");
const table = tablesIn(schema);

export const sources = table(sqlite.sources);
export const facets = table(sqlite.facets, {
  numbered: "id",
  indexes: ({ agency }) => [index("facets_agency").using("hash", agency)],
});
export const counts = table(sqlite.counts);
export const instants = table(sqlite.instants);
export const opportunities = table(sqlite.opportunities, {
  numbered: "seq",
  indexes: ({ source, lineage, updated_at, stored_at, id, facet_id, seq, canonical_id, parent_id, turns_at }) => [
    uniqueIndex("opportunities_natural_key").on(source, lineage),
    // With the row number, which SQLite's indexes have anyway: the list index is read from this index alone.
    index("opportunities_order").on(updated_at, id, facet_id, seq),
    index("opportunities_stored").on(stored_at, id),
    index("opportunities_canonical").on(canonical_id, id).where(sql`canonical_id is not null`),
    index("opportunities_parent").on(parent_id, id).where(sql`parent_id is not null`),
    index("opportunities_turning").on(turns_at).where(sql`turns_at is not null`),
  ],
});
export const earlierSidecars = table(sqlite.earlierSidecars);
export const linkKeys = table(sqlite.linkKeys);
export const movedLinkKeys = table(sqlite.movedLinkKeys);
export const readings = table(sqlite.readings);
export const sightings = table(sqlite.sightings);
export const layoutSightings = table(sqlite.layoutSightings);
export const upstreamIds = table(sqlite.upstreamIds);
export const versions = table(sqlite.versions);
export const events = table(sqlite.events, { numbered: "seq" });
export const imports = table(sqlite.imports, { numbered: "id" });
export const settings = table(sqlite.settings);
