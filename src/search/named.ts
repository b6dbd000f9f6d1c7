/** The opportunities that a text names: by id, by an id that a source has or had for them, or by number. */
import type { CatalogDb } from "../../db/engine.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { idsOfUpstreamId, readOpportunities } from "../opportunities/records.ts";
import { readRows } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";

type Named = { text: string; source?: string | undefined; limit: number; now: EpochMs };

/**
 * At most `limit` of them; without a source, one record of each opportunity. `numbered` returns the ids of those with this number: only it
 * needs the search index, and it is called only if no record has the text as an id.
 */
export async function findNamed(
  catalog: CatalogDb,
  { text, source, limit, now }: Named,
  numbered: () => Promise<string[]>,
): Promise<WholeOpportunity[]> {
  const [byId] = await readOpportunities(catalog, [text.toLowerCase()], now);
  if (byId !== undefined) return source === undefined || byId.source.code === source ? [byId] : [];
  for (const idsOf of [() => idsOfUpstreamId(catalog, text), numbered]) {
    const opportunities = await readOpportunities(catalog, await idsOf(), now);
    const found = opportunities.filter((each) => source === undefined || each.source.code === source);
    if (found.length > 0) return (source === undefined ? await readRows(catalog, found, now) : found).slice(0, limit);
  }
  return [];
}
