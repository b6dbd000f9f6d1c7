/** Which opportunities a watch is about. */
import type { CatalogDb } from "../../db/engine.ts";
import { findAll } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { withOtherSources } from "../sources/source.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Definition } from "./watch.ts";

/** The ids of all opportunities that match now, the least recently updated first. The index must be up to date. */
export async function matchingIds(
  catalog: CatalogDb,
  index: SearchFile,
  { filter }: Pick<Definition, "filter">,
  now: EpochMs,
): Promise<string[]> {
  const { source } = filter;
  return findAll(index, source === undefined ? filter : { ...filter, source: await withOtherSources(catalog, source) }, now);
}
