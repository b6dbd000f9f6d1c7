/** Facets: the distinct (status, source, program type, agency) tuples that filters look at, in memory. */
import type { CatalogDb } from "../../db/open.ts";

/** Filters whose tables of allowed facets are kept; a client that pages or polls repeats its own. */
const KEPT_FILTERS = 256;

export type FacetFilter = { status?: string[]; source?: string[]; agency?: string; program_type?: string[] };

type Facet = { id: number; status: string; source: string; program_type: string; agency: string };

export type Facets = {
  all: Facet[];
  /** Agencies folded for matching, by name as published. */
  folded: Map<string, string>;
  /** By filter: 1 at each facet id that it lets through. */
  allowed: Map<string, Uint8Array>;
};

export function createFacets(): Facets {
  return { all: [], folded: new Map(), allowed: new Map() };
}

/** Takes in the facets that were added since. They are only ever added, with records that have them. */
export function readNewFacets(facets: Facets, { sqlite }: CatalogDb): void {
  const added = sqlite.query<Facet, [number]>("select * from facets where id > ? order by id").all(facets.all.at(-1)?.id ?? 0);
  for (const facet of added) {
    facets.all.push(facet);
    if (!facets.folded.has(facet.agency)) facets.folded.set(facet.agency, fold(facet.agency));
  }
  if (added.length > 0) facets.allowed.clear();
}

/** 1 at each facet id that the filter lets through, or `null` when it lets every one through. */
export function allowedFacets(facets: Facets, db: CatalogDb, { status, source, agency, program_type }: FacetFilter): Uint8Array | null {
  if (status === undefined && source === undefined && agency === undefined && program_type === undefined) return null;
  const named = source?.includes("OTHER") ? namedSources(db) : undefined; // Asked for each time: the operator may rename sources.
  const key = JSON.stringify([status, source, agency, program_type, named]);
  const kept = facets.allowed.get(key);
  if (kept !== undefined) return kept;

  const allowed = new Uint8Array((facets.all.at(-1)?.id ?? 0) + 1);
  const agencies = agency === undefined ? undefined : agenciesWith(facets, fold(agency));
  for (const facet of facets.all) {
    if (status !== undefined && !status.includes(facet.status)) continue;
    if (program_type !== undefined && !program_type.includes(facet.program_type)) continue;
    if (source !== undefined && !source.includes(facet.source) && (named === undefined || named.includes(facet.source))) continue;
    if (agencies !== undefined && !agencies.has(facet.agency)) continue;
    allowed[facet.id] = 1;
  }
  if (facets.allowed.size === KEPT_FILTERS) facets.allowed.clear();
  facets.allowed.set(key, allowed);
  return allowed;
}

/** Codes in the source catalogue (D-13). */
function namedSources({ sqlite }: CatalogDb): string[] {
  return sqlite
    .query<{ code: string }, []>("select code from sources order by code")
    .all()
    .map(({ code }) => code);
}

function agenciesWith(facets: Facets, part: string): Set<string> {
  const agencies = new Set<string>();
  for (const [agency, folded] of facets.folded) if (agency !== "" && folded.includes(part)) agencies.add(agency);
  return agencies;
}

/** Case folding as far as Unicode's simple mappings go: "É" and "é", "ß" and "SS" are the same (D-12). */
export function fold(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
