/** How fresh the data of each source are. */
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogDb } from "../../db/engine.ts";
import { type EpochMs, formatInstant, secondsSince } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { sourceStatuses } from "./source.ts";

export const SourceFreshness = object({
  source: Type.String({ description: "Code of the source." }),
  last_import_at: nullable(Type.String({ format: "date-time" }), "When an import of it last finished; null if none has."),
  age_seconds: nullable(Type.Integer({ minimum: 0 }), "How long ago that was; null if that is in the future, by a clock that was ahead."),
});
export type SourceFreshness = Static<typeof SourceFreshness>;

/** Of every source that has records. */
export async function readFreshness(catalog: CatalogDb, now: EpochMs): Promise<SourceFreshness[]> {
  return (await sourceStatuses(catalog)).map(({ source, last_import_at: at }) => ({
    source,
    last_import_at: at === null ? null : formatInstant(at),
    age_seconds: secondsSince(at, now),
  }));
}
