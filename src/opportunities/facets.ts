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

/** The distinct values of one column of the facets, by number from 1, and the number of each facet's value, 0 where there is no facet. */
type Column = { values: string[]; numbers: Map<string, number>; byFacet: Uint32Array };

/** `end` is one more than the greatest facet id. `kept` has results by filter. */
export type Facets = { end: number; columns: Record<Dimension, Column>; kept: Map<string, FacetSet>; keptBytes: number };

export function createFacets(): Facets {
  const column = (): Column => ({ values: [""], numbers: new Map(), byFacet: new Uint32Array(1024) });
  const columns = { status: column(), source: column(), program_type: column(), agency: column() };
  return { end: 1, columns, kept: new Map(), keptBytes: 0 };
}

/** Up to `limit` facets that are stored and not in memory yet. Facets are never changed or removed. */
export async function readFacets(db: CatalogDb, { end }: Facets, limit: number): Promise<Facet[]> {
  return db.all(facetsAfter, { id: end - 1, limit });
}

/** Adds the facets that `readFacets` returned, and drops the kept results. */
export function addFacets(facets: Facets, added: readonly Facet[]): void {
  for (const facet of added) {
    if (facet.id < facets.end) continue;
    for (const dimension of dimensions) setValue(facets.columns[dimension], facet.id, facet[dimension]);
    facets.end = facet.id + 1;
  }
  if (added.length > 0) forgetFilters(facets);
}

function setValue(column: Column, id: number, value: string): void {
  const number = column.numbers.getOrInsertComputed(value, () => column.values.push(value) - 1);
  if (id >= column.byFacet.length) column.byFacet = enlarged(column.byFacet, new Uint32Array(2 * id));
  column.byFacet[id] = number;
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

function findFacets({ end, columns }: Facets, filter: FacetFilter, named: readonly string[] | undefined): FacetSet {
  const { status = [], source = [], agency = "", program_type = [] } = filter;
  const part = fold(agency);
  const conditions: Record<Dimension, (value: string) => boolean> = {
    status: (value) => status.includes(value),
    source: (value) => source.includes(value) || named?.includes(value) === false,
    program_type: (value) => program_type.includes(value),
    agency: (value) => value !== "" && fold(value).includes(part),
  };
  const flags = new Uint8Array(end).fill(1, 1);
  for (const dimension of dimensions.filter((each) => filter[each] !== undefined)) {
    const { values, byFacet } = columns[dimension]; // Each of the few values is checked once.
    const allowed = Uint8Array.from(values, (value, number) => (number > 0 && conditions[dimension](value) ? 1 : 0));
    for (let id = 1; id < end; id++) if (allowed[byFacet[id] as number] !== 1) flags[id] = 0;
  }
  const ids = new Uint32Array(end);
  let count = 0;
  for (let id = 1; id < end; id++) if (flags[id] === 1) ids[count++] = id;
  return { flags, ids: ids.slice(0, count) };
}

/** Codes of the named sources (D-13) if the filter has `OTHER`, else `undefined`. Not kept, because operators add and remove sources. */
export async function namedSources(db: CatalogDb, { source }: FacetFilter): Promise<string[] | undefined> {
  if (!source?.includes("OTHER")) return undefined;
  return (await db.all(sourceCodes)).map(({ code }) => code);
}
