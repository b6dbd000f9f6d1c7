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
  { canonical: "DSIP", other: "SBIR_GOV", by: "the topic code", keyOf: ({ source }) => source.opportunity_id },
  { canonical: "GRANTS_GOV", other: "SIMPLER_GRANTS_GOV", by: "the opportunity number", keyOf: ({ program }) => program.solicitation_id },
];

/** What a record is linked by; `null` where no rule is about its source. Letter case and blanks do not count. */
export function linkKeyOf(content: Content): string | null {
  const { code } = content.source;
  const key = linkRules.find(({ canonical, other }) => canonical === code || other === code)?.keyOf(content) ?? "";
  return key.replace(/\s+/g, "").toUpperCase() || null;
}

/** The source whose records point to this one's. */
export function otherSourceOf(source: string): string | undefined {
  return linkRules.find(({ canonical }) => canonical === source)?.other;
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
