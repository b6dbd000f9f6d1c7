/** All that people are shown of an opportunity, as it is or as it was at an instant: how records belonged together is by what each said then. */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { readHistory } from "../events/history.ts";
import { type EarlierAward, readEarlierAwards } from "../opportunities/earlier-awards.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { type Belonging, groupOf, listParts, RELATED_MAX, readBelonging, readDuplicates, readGroups } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { notKnownInWords, type PastOpportunity, readPast } from "./as-of.ts";

/** The oldest event first. `erased`: when its contacts were, if they are not known. */
export type ShownRecord = Pick<PastOpportunity, "opportunity" | "erased"> & {
  history: OpportunityEvent[];
  duplicates: WholeOpportunity[];
  belonging: Belonging;
  earlierAwards: EarlierAward[];
};

/** The opportunity with all that belongs to it at an instant: `asOf` if that is given, else `now`. Or why it is not known, in words. */
export async function readShown(
  catalog: CatalogDb,
  opportunity: WholeOpportunity,
  { now, asOf }: { now: EpochMs; asOf?: EpochMs | undefined },
): Promise<{ record: ShownRecord } | { unknown: string }> {
  const { id } = opportunity;
  if (asOf === undefined) {
    const [history, duplicates] = [await readHistory(catalog, id), (await readDuplicates(catalog, [id], now)).get(id) ?? []];
    const belonging = await readBelonging(catalog, opportunity, now);
    const earlierAwards = await readEarlierAwards(catalog, opportunity, now);
    return { record: { opportunity, erased: null, history, duplicates, belonging, earlierAwards } };
  }
  return catalog.readTransaction(async (sql) => {
    const [past] = await readPast(sql, [id], asOf);
    if (past === undefined) return { unknown: await notKnownInWords(sql, id) };
    const duplicates = (await readPastDuplicates(sql, [past.opportunity], asOf)).get(id) ?? [];
    const belonging = await readPastBelonging(sql, past.opportunity, asOf);
    return { record: { ...past, duplicates, belonging, earlierAwards: [] } };
  });
}

type Reading = Pick<CatalogSql, "all">;

/**
 * The other records of the same opportunities at an instant, the canonical one first, by the id of each. `records` are as they were at that
 * instant.
 */
export async function readPastDuplicates(sql: Reading, records: readonly WholeOpportunity[], asOf: EpochMs) {
  const groups = await readGroups(sql, [...new Set(records.flatMap(namedBy))]);
  const candidatesOf = (record: WholeOpportunity) => [...new Set(namedBy(record).flatMap((each) => [each, ...(groups.get(each) ?? [])]))];
  const linked = records.map((record) => ({ id: record.id, ids: candidatesOf(record) })).filter(({ ids }) => ids.length > 1);
  const known = await readPastRecords(sql, [...new Set(linked.flatMap(({ ids }) => ids))], asOf);
  const byId = new Map(known.map((each) => [each.id, each]));
  const groupThen = (id: string) => groupOf(id, (each) => byId.get(each)?.relationships.canonical_id);
  return new Map(
    linked.map(({ id, ids }) => {
      const first = groupThen(id);
      const duplicates = ids.filter((each) => each !== id && groupThen(each) === first).sort();
      const ordered = [...duplicates.filter((each) => each === first), ...duplicates.filter((each) => each !== first)];
      return [id, ordered.slice(0, RELATED_MAX).flatMap((each) => byId.get(each) ?? [])];
    }),
  );
}

function namedBy({ id, relationships: { canonical_id } }: WholeOpportunity): string[] {
  return canonical_id === null ? [id] : [id, canonical_id];
}

async function readPastBelonging(sql: Reading, { id, relationships }: WholeOpportunity, asOf: EpochMs): Promise<Belonging> {
  const { parent_id } = relationships;
  const [parent] = parent_id === null || parent_id === id ? [] : await readPastRecords(sql, [parent_id], asOf);
  const ids = await listParts(sql, id, Number.MAX_SAFE_INTEGER);
  const parts = (await readPastRecords(sql, ids, asOf)).filter((part) => part.relationships.parent_id === id);
  return { parent, parts: parts.slice(0, RELATED_MAX), total: parts.length };
}

async function readPastRecords(sql: Reading, ids: readonly string[], asOf: EpochMs): Promise<WholeOpportunity[]> {
  return (await readPast(sql, ids, asOf)).map(({ opportunity }) => opportunity);
}
