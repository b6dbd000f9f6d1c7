/**
 * How records belonged together at an instant: by what each of them said. Found are those that belong together now or that the record named
 * then; one that named it then and does not any more is not.
 */
import { asc, eq } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { type Belonging, groupOf, RELATED_MAX, readGroups } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { readPast } from "./as-of.ts";

const partsOf = query({ parent_id: opportunities.parent_id }, ({ parent_id }) =>
  select(pick(opportunities, "id")).from(opportunities).where(eq(opportunities.parent_id, parent_id)).orderBy(asc(opportunities.id)),
);

type Reading = Pick<CatalogSql, "all">;

/** The other records of the opportunity that this record, as it was at an instant, was one of; the canonical one first. */
export async function readPastTwins(sql: Reading, record: WholeOpportunity, asOf: EpochMs): Promise<WholeOpportunity[]> {
  const { id, relationships } = record;
  const named = relationships.canonical_id === null ? [id] : [id, relationships.canonical_id];
  const groups = await readGroups(sql, named);
  const ids = [...new Set([...named, ...[...groups.values()].flat()])];
  const records = new Map((await readPastRecords(sql, ids, asOf)).map((each) => [each.id, each]));
  const canonicalIdOf = (each: string) => records.get(each)?.relationships.canonical_id;
  const first = groupOf(id, canonicalIdOf);
  const twins = ids.filter((each) => each !== id && groupOf(each, canonicalIdOf) === first).sort();
  const ordered = [...twins.filter((each) => each === first), ...twins.filter((each) => each !== first)];
  return ordered.slice(0, RELATED_MAX).flatMap((each) => records.get(each) ?? []);
}

/** The record that this record, as it was at an instant, belonged to, and those that belonged to it. */
export async function readPastBelonging(sql: Reading, { id, relationships }: WholeOpportunity, asOf: EpochMs): Promise<Belonging> {
  const { parent_id } = relationships;
  const [parent] = parent_id === null || parent_id === id ? [] : await readPastRecords(sql, [parent_id], asOf);
  const ids = (await sql.all(partsOf, { parent_id: id })).map((part) => part.id).filter((part) => part !== id);
  const parts = (await readPastRecords(sql, ids, asOf)).filter((part) => part.relationships.parent_id === id);
  return { parent, parts: parts.slice(0, RELATED_MAX), total: parts.length };
}

async function readPastRecords(sql: Reading, ids: readonly string[], asOf: EpochMs): Promise<WholeOpportunity[]> {
  return (await readPast(sql, ids, asOf)).map(({ opportunity }) => opportunity);
}
