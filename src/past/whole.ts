/** All that people are shown of an opportunity, as it was at an instant. */
import type { CatalogDb } from "../../db/engine.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import type { Belonging } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { type PastOpportunity, readPast } from "./as-of.ts";
import { notKnownInWords } from "./in-words.ts";
import { readPastBelonging, readPastTwins } from "./related.ts";

/** An opportunity as it was at an instant, with its twins, its parent and its parts. */
export type WholePast = PastOpportunity & { twins: WholeOpportunity[]; belonging: Belonging };

/** The opportunity with this id as it was at an instant, or why that is not known, in words. */
export async function readWholePast(catalog: CatalogDb, id: string, asOf: EpochMs): Promise<{ past: WholePast } | { unknown: string }> {
  return catalog.readTransaction(async (sql) => {
    const [past] = await readPast(sql, [id], asOf);
    if (past === undefined) return { unknown: await notKnownInWords(sql, id) };
    const { opportunity } = past;
    const [twins, belonging] = [await readPastTwins(sql, opportunity, asOf), await readPastBelonging(sql, opportunity, asOf)];
    return { past: { ...past, twins, belonging } };
  });
}
