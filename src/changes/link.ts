/**
 * The same opportunity in two sources. Nothing is merged: both records stay, and the one of the second source names the other in
 * `relationships.canonical_id`. The rules are data; a record of a canonical source names none.
 */
import type { CatalogDb } from "../../db/open.ts";
import type { Content } from "./content.ts";

export type LinkRule = {
  canonical: string;
  other: string;
  /** What both records have in common, in words for people. */
  by: string;
  keyOf: (content: Content) => string | null;
};

export const linkRules: readonly LinkRule[] = [
  { canonical: "DSIP", other: "SBIR_GOV", by: "the topic code of the Department of Defense", keyOf: topicCodeOf },
  { canonical: "GRANTS_GOV", other: "SIMPLER_GRANTS_GOV", by: "the opportunity number", keyOf: ({ program }) => program.solicitation_id },
];

/**
 * What a record is found by, or waits by, for the one that it has to do with; `null` where no rule is about its source, and where it
 * names its canonical record already. Letter case and blanks do not count.
 */
export function linkKeyOf(content: Content): string | null {
  const { code } = content.source;
  const rule = linkRules.find(({ canonical, other }) => canonical === code || other === code);
  if (rule === undefined || (rule.other === code && content.relationships.canonical_id !== null)) return null;
  return (rule.keyOf(content) ?? "").replace(/\s+/g, "").toUpperCase() || null;
}

/** Other agencies number their topics "1", "2" or "A1.02". */
function topicCodeOf({ source, organization }: Content): string | null {
  return source.code === "DSIP" || organization.agency === "Department of Defense" ? source.opportunity_id : null;
}

/** The id of the canonical record of the same opportunity, or `null` where there is none (yet). */
export function findCanonicalId({ sqlite }: CatalogDb, content: Content): string | null {
  const rule = linkRules.find(({ other }) => other === content.source.code);
  const key = linkKeyOf(content);
  if (rule === undefined || key === null) return null;
  return (
    sqlite
      .query<{ id: string }, [string, string]>("select id from opportunities where link_key = ? and source = ? order by seq limit 1")
      .get(key, rule.canonical)?.id ?? null
  );
}

const WAITING = `
  select seq as row, (select id from opportunities where link_key = waiting.link_key and source = ? order by seq limit 1) as canonicalId
  from opportunities as waiting where source = ? and link_key is not null and canonicalId is not null order by seq`;

/** The row number of a record that does not name its canonical one, although it is there. */
export type Waiting = { row: number; canonicalId: string };

/** The records that waited for a canonical one of these sources and have it by now. */
export function listWaiting({ sqlite }: CatalogDb, sources: ReadonlySet<string>): Waiting[] {
  return linkRules
    .filter(({ canonical }) => sources.has(canonical))
    .flatMap(({ canonical, other }) => sqlite.query<Waiting, [string, string]>(WAITING).all(canonical, other));
}

/** How many records wait for this one, which is not stored yet. */
export function countWaitingFor({ sqlite }: CatalogDb, content: Content): number {
  const rule = linkRules.find(({ canonical }) => canonical === content.source.code);
  const key = linkKeyOf(content);
  if (rule === undefined || key === null) return 0;
  const row = sqlite
    .query<{ count: number }, [string, string]>("select count(*) as count from opportunities where link_key = ? and source = ?")
    .get(key, rule.other);
  return row?.count ?? 0;
}
