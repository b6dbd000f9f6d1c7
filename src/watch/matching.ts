/** Which opportunities a watch is about. */
import type { CatalogDb } from "../../db/engine.ts";
import { type FeedPosition, latestPosition } from "../events/feed.ts";
import type { Filter } from "../filter/filter.ts";
import { catchUp } from "../search/catch-up.ts";
import { findAll } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { withOtherSources } from "../sources/source.ts";
import type { EpochMs } from "../text/instant.ts";

/** The ids of all opportunities that match now, the least recently updated first. The index must be up to date. */
export async function matchingIds(catalog: CatalogDb, index: SearchFile, filter: Filter, now: EpochMs): Promise<string[]> {
  return (await matchingEach(catalog, index, [filter], now))[0] ?? [];
}

/** The same for several filters, as of one moment. */
export async function matchingEach(catalog: CatalogDb, index: SearchFile, filters: readonly Filter[], now: EpochMs): Promise<string[][]> {
  const resolved = await Promise.all(
    filters.map(async ({ source, ...others }) => ({ ...others, ...(source && { source: await withOtherSources(catalog, source) }) })),
  );
  return index.sqlite.transaction(() => resolved.map((filter) => findAll(index, filter, now, true).map(({ id }) => id)))();
}

/** What matches, and the end of the feed at the same moment: if an import commits meanwhile, both are read again. */
export async function matchesAtEnd(
  catalog: CatalogDb,
  index: SearchFile,
  filter: Filter,
  now: EpochMs,
): Promise<{ matching: string[]; position: FeedPosition }> {
  for (let position = await latestPosition(catalog); ; ) {
    await catchUp(catalog, index);
    const matching = await matchingIds(catalog, index, filter, now);
    const end = await latestPosition(catalog);
    if (end?.id === position?.id) return { matching, position };
    position = end;
  }
}
