/** Facets: the distinct (status, source, program type, agency) tuples that filters look at, in memory. */
import { asc, gt } from "drizzle-orm";
import { facets as facetTable, sources } from "../../db/catalog.ts";
import type { CatalogDb } from "../../db/engine.ts";
import { query, select, selectAll } from "../../db/query.ts";

/** Filters whose tables of allowed facets are kept; a client that pages or polls repeats its own. */
const KEPT_FILTERS = 256;

export type FacetFilter = { status?: string[]; source?: string[]; agency?: string; program_type?: string[] };

type Facet = typeof facetTable.$inferSelect;

const facetsAfter = query({ id: facetTable.id }, ({ id }) =>
  selectAll(facetTable).where(gt(facetTable.id, id)).orderBy(asc(facetTable.id)),
);
const sourceCodes = query({}, () => select({ code: sources.code }).from(sources).orderBy(asc(sources.code)));

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

/** The facets that were added since. They are only ever added, with records that have them. */
export async function readFacets(db: CatalogDb, { all }: Facets): Promise<Facet[]> {
  return db.all(facetsAfter, { id: all.at(-1)?.id ?? 0 });
}

/** Takes in what `readFacets` read. */
export function addFacets(facets: Facets, added: readonly Facet[]): void {
  const newest = facets.all.at(-1)?.id ?? 0;
  for (const facet of added) {
    if (facet.id <= newest) continue;
    facets.all.push(facet);
    if (!facets.folded.has(facet.agency)) facets.folded.set(facet.agency, fold(facet.agency));
  }
  if (added.length > 0) facets.allowed.clear();
}

/** 1 at each facet id that the filter lets through, or `null` when it lets every one through. `named` are the sources that are not `OTHER`. */
export function allowedFacets(
  facets: Facets,
  { status, source, agency, program_type }: FacetFilter,
  named: readonly string[] | undefined,
): Uint8Array | null {
  if (status === undefined && source === undefined && agency === undefined && program_type === undefined) return null;
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

/** Codes in the source catalogue (D-13) where the filter asks for `OTHER`: asked for each time, since the operator may rename sources. */
export async function namedSources(db: CatalogDb, { source }: FacetFilter): Promise<string[] | undefined> {
  if (!source?.includes("OTHER")) return undefined;
  return (await db.all(sourceCodes)).map(({ code }) => code);
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
