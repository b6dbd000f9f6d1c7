/** Facets: the distinct (status, source, program type, agency) tuples that filters look at, in memory. */
import { asc, gt } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { parameter, query, select, selectAll } from "../../db/query.ts";
import { facets as facetTable, sources } from "../../db/schema/sqlite/catalog.ts";
import type { FacetSet } from "./list-index.ts";

/** Facets of filters are kept, because a client that pages or polls repeats its own: up to this many bytes. */
const KEPT_BYTES = 16_777_216;

export type FacetFilter = { status?: string[]; source?: string[]; agency?: string; program_type?: string[] };

type Facet = typeof facetTable.$inferSelect;

const facetsAfter = query({ id: facetTable.id, limit: parameter<number>() }, ({ id, limit }) =>
  selectAll(facetTable).where(gt(facetTable.id, id)).orderBy(asc(facetTable.id)).limit(limit),
);
const sourceCodes = query({}, () => select({ code: sources.code }).from(sources).orderBy(asc(sources.code)));

const dimensions = ["status", "source", "program_type", "agency"] as const;
type Dimension = (typeof dimensions)[number];

/** One column of the facets. There are few distinct values, so a filter judges each value once, and then looks up every facet. */
type Column = {
  /** Distinct values by number, from 1. */
  values: string[];
  numbers: Map<string, number>;
  /** By facet id: the number of its value; 0 where no facet has the id. */
  byFacet: Uint32Array;
};

export type Facets = {
  /** One more than the greatest facet id. */
  end: number;
  columns: Record<Dimension, Column>;
  /** Agencies folded for matching, by number. */
  folded: string[];
  /** By filter. */
  kept: Map<string, FacetSet>;
  keptBytes: number;
};

export function createFacets(): Facets {
  const column = (): Column => ({ values: [""], numbers: new Map(), byFacet: new Uint32Array(1024) });
  const columns = { status: column(), source: column(), program_type: column(), agency: column() };
  return { end: 1, columns, folded: [""], kept: new Map(), keptBytes: 0 };
}

/** Up to `limit` facets that were added since. Facets are only ever added, with records that have them. */
export async function readFacets(db: CatalogDb, { end }: Facets, limit: number): Promise<Facet[]> {
  return db.all(facetsAfter, { id: end - 1, limit });
}

/** Adds what `readFacets` returned. */
export function addFacets(facets: Facets, added: readonly Facet[]): void {
  for (const facet of added) {
    if (facet.id < facets.end) continue;
    for (const dimension of dimensions) setValue(facets, dimension, facet);
    facets.end = facet.id + 1;
  }
  if (added.length > 0) forgetFilters(facets);
}

function setValue({ columns, folded }: Facets, dimension: Dimension, facet: Facet): void {
  const column = columns[dimension];
  const value = facet[dimension];
  let number = column.numbers.get(value);
  if (number === undefined) {
    number = column.values.push(value) - 1;
    column.numbers.set(value, number);
    if (dimension === "agency") folded.push(fold(value));
  }
  if (facet.id >= column.byFacet.length) {
    const larger = new Uint32Array(2 * facet.id);
    larger.set(column.byFacet);
    column.byFacet = larger;
  }
  column.byFacet[facet.id] = number;
}

function forgetFilters(facets: Facets): void {
  facets.kept.clear();
  facets.keptBytes = 0;
}

/** The facets that a filter allows, or `null` when it allows all. `named` are the sources that are not `OTHER`. */
export function allowedFacets(facets: Facets, filter: FacetFilter, named: readonly string[] | undefined): FacetSet | null {
  const { status, source, agency, program_type } = filter;
  if (status === undefined && source === undefined && agency === undefined && program_type === undefined) return null;
  const key = JSON.stringify([status, source, agency, program_type, named]);
  const kept = facets.kept.get(key);
  if (kept !== undefined) return kept;

  const allowed = findFacets(facets, filter, named);
  const bytes = 2 * key.length + allowed.flags.byteLength + allowed.ids.byteLength;
  if (facets.keptBytes + bytes > KEPT_BYTES) forgetFilters(facets);
  facets.kept.set(key, allowed);
  facets.keptBytes += bytes;
  return allowed;
}

function findFacets({ end, columns, folded }: Facets, filter: FacetFilter, named: readonly string[] | undefined): FacetSet {
  const { status, source, agency, program_type } = filter;
  const isOther = (code: string) => named !== undefined && !named.includes(code);
  const part = agency === undefined ? "" : fold(agency);
  const statuses = judge(columns.status, status && ((value) => status.includes(value)));
  const sourceCodes = judge(columns.source, source && ((value) => source.includes(value) || isOther(value)));
  const types = judge(columns.program_type, program_type && ((value) => program_type.includes(value)));
  const agencies = judge(
    columns.agency,
    agency === undefined ? undefined : (value, number) => value !== "" && (folded[number] as string).includes(part),
  );

  const flags = new Uint8Array(end);
  const ids = new Uint32Array(end);
  let count = 0;
  for (let id = 1; id < end; id++) {
    const isAllowed =
      (statuses[columns.status.byFacet[id] as number] as number) &
      (sourceCodes[columns.source.byFacet[id] as number] as number) &
      (types[columns.program_type.byFacet[id] as number] as number) &
      (agencies[columns.agency.byFacet[id] as number] as number);
    flags[id] = isAllowed;
    if (isAllowed === 1) ids[count++] = id;
  }
  return { flags, ids: ids.slice(0, count) };
}

/** By number: 1 where the value is allowed; without a condition each is. */
function judge({ values }: Column, allows: ((value: string, number: number) => boolean) | undefined): Uint8Array {
  return Uint8Array.from(values, (value, number) => (number > 0 && (allows === undefined || allows(value, number)) ? 1 : 0));
}

/** Codes in the source catalog (D-13) where the filter asks for `OTHER`: read each time, since the operator may rename sources. */
export async function namedSources(db: CatalogDb, { source }: FacetFilter): Promise<string[] | undefined> {
  if (!source?.includes("OTHER")) return undefined;
  return (await db.all(sourceCodes)).map(({ code }) => code);
}

/** Case folding as far as Unicode's simple mappings go: "É" and "é", "ß" and "SS" are the same (D-12). */
export function fold(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}
