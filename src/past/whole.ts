/** All that people are shown of an opportunity, as it is or as it was at an instant. */
import type { CatalogDb } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { readHistory } from "../events/history.ts";
import { type EarlierAward, readEarlierAwards } from "../opportunities/earlier-awards.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { type Belonging, readBelonging, readDuplicates } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { type PastOpportunity, readPast } from "./as-of.ts";
import { notKnownInWords } from "./in-words.ts";
import { readPastBelonging, readPastDuplicates } from "./related.ts";

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
