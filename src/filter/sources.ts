/** The sources of a filter, compared with those of a catalog. */
import type { CatalogDb } from "../../db/engine.ts";
import { requireSources, withOtherSources } from "../sources/source.ts";
import type { Filter } from "./filter.ts";

/**
 * The filter to match with: `OTHER` is replaced by the codes of all records whose source is not named (D-13). Throws if a code belongs to no
 * named source and no record. `action` is what the error says cannot be done: "find opportunities of".
 */
export async function resolveSources(catalog: CatalogDb, filter: Filter, action: string): Promise<Filter> {
  if (filter.source === undefined) return filter;
  await requireSources(
    catalog,
    filter.source.filter((code) => code !== "OTHER"),
    action,
  );
  return { ...filter, source: await withOtherSources(catalog, filter.source) };
}
