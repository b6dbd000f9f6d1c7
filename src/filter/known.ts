/** The sources and agencies of a filter, compared with those of a catalog. */
import type { CatalogDb } from "../../db/engine.ts";
import { UsageFailure } from "../../db/reason.ts";
import { agencyMeantBy, codesMeant } from "../agencies/understand.ts";
import { listPublishedAgencies } from "../sources/published-agencies.ts";
import { requireSources, withOtherSources } from "../sources/source.ts";
import { needleOf } from "./agency.ts";
import { publishedWords } from "./columns.ts";
import type { Filter } from "./filter.ts";

/** It means no agency and is in no published name. */
export class UnknownAgency extends UsageFailure {
  constructor(value: string) {
    const meant = agencyMeantBy(value);
    super(`no agency ${value}${meant === undefined ? "" : `; did you mean ${meant}?`}`);
  }
}

/** Replaces `OTHER` by the codes of all other sources (D-13). Throws for an unknown source or agency. `action`: "find opportunities of". */
export async function resolveFilter(catalog: CatalogDb, filter: Filter, action: string): Promise<Filter> {
  const texts = filter.agency?.filter((value) => codesMeant(value).length === 0) ?? [];
  const published = texts.length === 0 ? [] : await listPublishedAgencies(catalog);
  const names = published.map((organization) => publishedWords({ organization }));
  for (const text of texts) if (!names.some((name) => name.includes(needleOf(text)))) throw new UnknownAgency(text);
  if (filter.source === undefined) return filter;
  const codes = filter.source.filter((code) => code !== "OTHER");
  await requireSources(catalog, codes, action);
  return { ...filter, source: await withOtherSources(catalog, filter.source) };
}
