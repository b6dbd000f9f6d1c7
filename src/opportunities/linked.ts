/** The records of one opportunity in several sources. */
import { and, eq, ne } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { CatalogSql } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";

const other = alias(opportunities, "other");
const linked = query({ id: opportunities.id }, ({ id }) =>
  select({ id: other.id })
    .from(opportunities)
    .innerJoin(other, and(eq(other.link_key, opportunities.link_key), ne(other.source, opportunities.source)))
    .where(eq(opportunities.id, id))
    .orderBy(other.id)
    .limit(20),
);

/** The ids of the records of other sources that have the same link key: the same opportunity. */
export async function listLinked(catalog: CatalogSql, id: string): Promise<string[]> {
  return (await catalog.all(linked, { id })).map((row) => row.id);
}
