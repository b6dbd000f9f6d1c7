/**
 * How records belonged together at an instant, by what each of them said at that instant. A record that named this one only in between is not
 * found: candidates are those that belong together now, and those that this one named.
 */
import type { CatalogSql } from "../../db/engine.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { type Belonging, groupOf, listParts, RELATED_MAX, readGroups } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { readPast } from "./as-of.ts";

type Reading = Pick<CatalogSql, "all">;

/** The other records of the same opportunity at an instant, the canonical one first. `record` is as it was at that instant. */
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

/** The record that this one belonged to at an instant, and those that belonged to it. */
export async function readPastBelonging(sql: Reading, { id, relationships }: WholeOpportunity, asOf: EpochMs): Promise<Belonging> {
  const { parent_id } = relationships;
  const [parent] = parent_id === null || parent_id === id ? [] : await readPastRecords(sql, [parent_id], asOf);
  const ids = await listParts(sql, id, Number.MAX_SAFE_INTEGER);
  const parts = (await readPastRecords(sql, ids, asOf)).filter((part) => part.relationships.parent_id === id);
  return { parent, parts: parts.slice(0, RELATED_MAX), total: parts.length };
}

async function readPastRecords(sql: Reading, ids: readonly string[], asOf: EpochMs): Promise<WholeOpportunity[]> {
  return (await readPast(sql, ids, asOf)).map(({ opportunity }) => opportunity);
}
