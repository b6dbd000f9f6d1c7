/** Which opportunities match a watch. */
import type { CatalogDb } from "../../db/engine.ts";
import { type FeedPosition, latestPosition } from "../events/feed.ts";
import { describeFilter } from "../filter/filter.ts";
import { readQuestion } from "../filter/question.ts";
import { catchUp } from "../search/catch-up.ts";
import { findAll } from "../search/find.ts";
import { wantedOf } from "../search/preferred.ts";
import type { SearchFile } from "../search/search-file.ts";
import { withOtherSources } from "../sources/source.ts";
import type { EpochMs } from "../text/instant.ts";
import { quoted } from "../text/quoted.ts";
import type { WatchDefinition } from "./watch.ts";

export type Matching = Pick<WatchDefinition, "filter" | "all_sources">;

/** The filters, and what changes only the order of a search: 'words solar due next month ("due next month" is not required)'. */
export function watchedInWords({ filter, all_sources }: Matching, now: EpochMs): string {
  const { words = "", ...given } = filter;
  const preferred = wantedOf(readQuestion(words).preferences, given, now).map(({ asked }) => quoted(asked));
  const notRequired = `${preferred.join(" and ")} ${preferred.length === 1 ? "is" : "are"} not required`;
  const about = describeFilter(filter, now).join("; ") || "all opportunities";
  return `${about}${preferred.length === 0 ? "" : ` (${notRequired})`}${all_sources ? ", every source's record" : ""}`;
}

/** The ids of all rows that match now, the least recently updated first. The index must be up to date. */
export async function matchingIds(catalog: CatalogDb, index: SearchFile, matching: Matching, now: EpochMs): Promise<string[]> {
  return (await matchingEach(catalog, index, [matching], now))[0] ?? [];
}

/** The same for several definitions, as of one moment. */
export async function matchingEach(
  catalog: CatalogDb,
  index: SearchFile,
  definitions: readonly Matching[],
  now: EpochMs,
): Promise<string[][]> {
  const resolved = await Promise.all(
    definitions.map(async ({ filter: { source, ...others }, all_sources }) => {
      return { filter: { ...others, ...(source && { source: await withOtherSources(catalog, source) }) }, all_sources };
    }),
  );
  return index.sqlite.transaction(() => resolved.map(({ filter, all_sources }) => findAll(index, filter, now, all_sources)))();
}

/** The matches, and the end of the feed at the same moment. If an import commits meanwhile, both are read again. */
export async function matchesAtEnd(
  catalog: CatalogDb,
  index: SearchFile,
  definition: Matching,
  now: EpochMs,
): Promise<{ matching: string[]; position: FeedPosition }> {
  for (let position = await latestPosition(catalog); ; ) {
    await catchUp(catalog, index, undefined, now);
    const matching = await matchingIds(catalog, index, definition, now);
    const end = await latestPosition(catalog);
    if (end?.id === position?.id) return { matching, position };
    position = end;
  }
}

/** The opportunities that match only because a filter was changed, and those that no longer match because of it. */
export function differenceOf(former: readonly string[], present: readonly string[]): { joining: string[]; leaving: string[] } {
  const [before, after] = [new Set(former), new Set(present)];
  return { joining: present.filter((id) => !before.has(id)), leaving: former.filter((id) => !after.has(id)) };
}
