/** How fresh the data of each source are. */
import type { CatalogDb } from "../../db/engine.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { sourceStatuses } from "./source.ts";

/** When an import of the source last finished; null if none has. */
export type SourceFreshness = { source: string; last_import_at: string | null; age_seconds: number | null };

/** Of every source that has records. */
export async function readFreshness(catalog: CatalogDb, now: EpochMs): Promise<SourceFreshness[]> {
  return (await sourceStatuses(catalog)).map(({ source, last_import_at: at }) => ({
    source,
    last_import_at: at === null ? null : formatInstant(at),
    age_seconds: at === null ? null : Math.max(0, Math.floor((now - at) / 1000)),
  }));
}
