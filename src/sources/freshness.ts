/** How fresh the data of each source are: every door says this. (E-125) */
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogSql } from "../../db/engine.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { dateAt, type EpochMs, formatInstant, secondsSince } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { readInstants } from "./instants.ts";
import { readNews } from "./news.ts";
import { silenceOf } from "./silence.ts";
import { listSourcesOfRecords } from "./source.ts";

export const SourceFreshness = object({
  source: Type.String({ description: "Code of the source." }),
  last_import_at: nullable(Type.String({ format: "date-time" }), "When an import of it last finished; null if none has."),
  age_seconds: nullable(Type.Integer({ minimum: 0 }), "How long ago that was; null if that is in the future, by a clock that was ahead."),
  known_until: nullable(Type.String({ format: "date-time" }), "The instant up to which it is known."),
  known_on: nullable(Type.String(), "The day up to which it is known: that of the last import, or of its `--as-of`."),
  is_silent: Type.Boolean({ description: "Whether its imports, or its news, have paused for longer than is usual for it." }),
});
export type SourceFreshness = Static<typeof SourceFreshness>;

type Reading = CatalogSql;

/** Of every source that has records. */
export async function readFreshness(catalog: Reading, now: EpochMs): Promise<SourceFreshness[]> {
  const freshness: SourceFreshness[] = [];
  for (const source of await listSourcesOfRecords(catalog)) freshness.push(await freshnessOf(catalog, source, now));
  return freshness;
}

async function freshnessOf(catalog: Reading, source: string, now: EpochMs): Promise<SourceFreshness> {
  const today = dateAt(now);
  const news = await readNews(catalog, source, today);
  const { imported = null, known_until = null } = await readInstants(catalog, source);
  return {
    source,
    last_import_at: imported === null ? null : formatInstant(imported),
    age_seconds: secondsSince(imported, now),
    known_until: known_until === null ? null : formatInstant(known_until),
    known_on: news.known_on,
    is_silent: silenceOf(news, today).state === "silent",
  };
}

/** "silent: NSF (known until Jul 20, 2025)"; null if no source is silent. */
export function silentInWords(freshness: readonly SourceFreshness[]): string | null {
  const silent = freshness.filter(({ is_silent }) => is_silent);
  const names = silent.map(({ source, known_on }) => `${source}${known_on === null ? "" : ` (known until ${dateInWords(known_on)})`}`);
  return names.length === 0 ? null : `silent: ${names.join(", ")}`;
}
