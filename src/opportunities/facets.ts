/** Facets, in memory: the distinct combinations of status, source, program type and agency. Filters choose among them. */
import { asc, gt } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { parameter, pick, query, type SelectedRow, select } from "../../db/query.ts";
import { facets as facetTable, sources } from "../../db/schema/sqlite/catalog.ts";
import { fold } from "../text/fold.ts";
import { enlarged, type FacetSet } from "./list-index.ts";

/** Bytes of results that are kept: a client that pages or polls repeats its filter. */
const KEPT_BYTES = 16_777_216;

/** `agency` matches any part of the name, in any letter case (D-12). */
export type FacetFilter = { status?: string[]; source?: string[]; agency?: string; program_type?: string[] };

const facetColumns = pick(facetTable, "id", "status", "source", "program_type", "agency");

type Facet = SelectedRow<typeof facetColumns>;

const facetsAfter = query({ id: facetTable.id, limit: parameter<number>() }, ({ id, limit }) =>
  select(facetColumns).from(facetTable).where(gt(facetTable.id, id)).orderBy(asc(facetTable.id)).limit(limit),
);
const sourceCodes = query({}, () => select({ code: sources.code }).from(sources).orderBy(asc(sources.code)));

const dimensions = ["status", "source", "program_type", "agency"] as const;
type Dimension = (typeof dimensions)[number];

/** One column of the facets. It has few distinct values, so a filter checks each value once and then looks up the result for each facet. */
type Column = {
  /** Distinct values by number, from 1. */
  values: string[];
  numbers: Map<string, number>;
  /** By facet id: the number of its value, or 0 if there is no facet with this id. */
  byFacet: Uint32Array;
};

export type Facets = {
  /** One more than the greatest facet id. */
  end: number;
  columns: Record<Dimension, Column>;
  /** By number: the agency, case-folded for matching. */
  foldedAgencies: string[];
  /** Results by filter. */
  kept: Map<string, FacetSet>;
  keptBytes: number;
};

export function createFacets(): Facets {
  const column = (): Column => ({ values: [""], numbers: new Map(), byFacet: new Uint32Array(1024) });
  const columns = { status: column(), source: column(), program_type: column(), agency: column() };
  return { end: 1, columns, foldedAgencies: [""], kept: new Map(), keptBytes: 0 };
}

/** Up to `limit` facets that are stored and not in memory yet. Facets are never changed or removed. */
export async function readFacets(db: CatalogDb, { end }: Facets, limit: number): Promise<Facet[]> {
  return db.all(facetsAfter, { id: end - 1, limit });
}

/** Adds the facets that `readFacets` returned, and drops the kept results. */
export function addFacets(facets: Facets, added: readonly Facet[]): void {
  for (const facet of added) {
    if (facet.id < facets.end) continue;
    for (const dimension of dimensions) setValue(facets, dimension, facet);
    facets.end = facet.id + 1;
  }
  if (added.length > 0) forgetFilters(facets);
}

function setValue({ columns, foldedAgencies }: Facets, dimension: Dimension, facet: Facet): void {
  const column = columns[dimension];
  const value = facet[dimension];
  let number = column.numbers.get(value);
  if (number === undefined) {
    number = column.values.push(value) - 1;
    column.numbers.set(value, number);
    if (dimension === "agency") foldedAgencies.push(fold(value));
  }
  if (facet.id >= column.byFacet.length) column.byFacet = enlarged(column.byFacet, new Uint32Array(2 * facet.id));
  column.byFacet[facet.id] = number;
}

function forgetFilters(facets: Facets): void {
  facets.kept.clear();
  facets.keptBytes = 0;
}

/** The facets that match a filter, or `null` if all do. `named`: from `namedSources`, if the filter has the source `OTHER`. */
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

function findFacets({ end, columns, foldedAgencies }: Facets, filter: FacetFilter, named: readonly string[] | undefined): FacetSet {
  const { status, source, agency, program_type } = filter;
  const isOther = (code: string) => named !== undefined && !named.includes(code);
  const part = agency === undefined ? "" : fold(agency);
  const statuses = matchingValues(columns.status, status && ((value) => status.includes(value)));
  const sourceCodes = matchingValues(columns.source, source && ((value) => source.includes(value) || isOther(value)));
  const types = matchingValues(columns.program_type, program_type && ((value) => program_type.includes(value)));
  const agencies = matchingValues(
    columns.agency,
    agency === undefined ? undefined : (value, number) => value !== "" && (foldedAgencies[number] as string).includes(part),
  );

  const flags = new Uint8Array(end);
  const ids = new Uint32Array(end);
  let count = 0;
  for (let id = 1; id < end; id++) {
    const isAllowed =
      hasFlag(statuses, columns.status, id) &&
      hasFlag(sourceCodes, columns.source, id) &&
      hasFlag(types, columns.program_type, id) &&
      hasFlag(agencies, columns.agency, id);
    if (!isAllowed) continue;
    flags[id] = 1;
    ids[count++] = id;
  }
  return { flags, ids: ids.slice(0, count) };
}

function hasFlag(valueFlags: Uint8Array, { byFacet }: Column, facet: number): boolean {
  return valueFlags[byFacet[facet] as number] === 1;
}

/** By number: 1 if the value meets the condition. Without a condition, all do. */
function matchingValues({ values }: Column, condition: ((value: string, number: number) => boolean) | undefined): Uint8Array {
  return Uint8Array.from(values, (value, number) => (number > 0 && (condition === undefined || condition(value, number)) ? 1 : 0));
}

/** Codes of the named sources (D-13) if the filter has `OTHER`, else `undefined`. Not kept, because operators add and remove sources. */
export async function namedSources(db: CatalogDb, { source }: FacetFilter): Promise<string[] | undefined> {
  if (!source?.includes("OTHER")) return undefined;
  return (await db.all(sourceCodes)).map(({ code }) => code);
}
