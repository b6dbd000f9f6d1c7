/** What lists show of records of which several may be of one opportunity, by the rule of docs/guides/find.md. */
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";

/** The records that match and are shown: of each opportunity the canonical one if it matches, else the one with the smallest id. */
export function rowsAmong(all: readonly WholeOpportunity[], isMatch: (opportunity: WholeOpportunity) => boolean): WholeOpportunity[] {
  const byId = new Map(all.map((opportunity) => [opportunity.id, opportunity]));
  const canonicalId = (id: string): string => {
    const next = byId.get(id)?.relationships.canonical_id;
    return next === undefined || next === null ? id : canonicalId(next);
  };
  const groups = Map.groupBy(all.filter(isMatch), ({ id }) => canonicalId(id));
  return [...groups].flatMap(([canonical, group]) => {
    const [first] = group.sort((a, b) => (a.id < b.id ? -1 : 1));
    return group.find(({ id }) => id === canonical) ?? first ?? [];
  });
}
