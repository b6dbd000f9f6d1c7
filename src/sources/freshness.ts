/** How fresh the data of each source are: every door says this. (E-125, E-219) */
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogSql } from "../../db/engine.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { DAY_MS, dateAt, type EpochMs, formatInstant, secondsSince } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { listImportedSources, readInstants } from "./instants.ts";
import { readNews } from "./news.ts";
import { type Silence, silenceOf } from "./silence.ts";
import { listSourcesOfRecords } from "./source.ts";

export const SourceFreshness = object({
  source: Type.String({ description: "Code of the source." }),
  last_import_at: nullable(Type.String({ format: "date-time" }), "When an import of it last finished; null if none has."),
  age_seconds: nullable(Type.Integer({ minimum: 0 }), "How long ago that was; null if that is in the future, by a clock that was ahead."),
  known_until: nullable(Type.String({ format: "date-time" }), "The instant up to which it is known."),
  known_on: nullable(Type.String(), "The day up to which it is known: that of the last import, or of its `--as-of`."),
  is_silent: Type.Boolean({ description: "Whether its imports, or its news, have paused for longer than is usual for it." }),
  silent_since: nullable(Type.String(), "If it is silent: the day of its last news."),
});
export type SourceFreshness = Static<typeof SourceFreshness>;

/** How fresh a source is, and why it counts as silent. */
export type SourceAccount = SourceFreshness & Silence & { last_news_on: string | null; changed_at: EpochMs | null };

type Reading = Pick<CatalogSql, "all">;

/** How fresh the given sources are, or all that have records, which takes a scan of all facets. */
export async function readFreshness(catalog: Reading, now: EpochMs, sources?: readonly string[]): Promise<SourceFreshness[]> {
  return (await readSourceAccounts(catalog, now, sources)).map(
    ({ source, last_import_at, age_seconds, known_until, known_on, is_silent, silent_since }) => {
      return { source, last_import_at, age_seconds, known_until, known_on, is_silent, silent_since };
    },
  );
}

/** The same, with the reasons. */
export async function readSourceAccounts(catalog: Reading, now: EpochMs, sources?: readonly string[]): Promise<SourceAccount[]> {
  const accounts: SourceAccount[] = [];
  for (const source of sources ?? (await listSourcesOfRecords(catalog))) accounts.push(await accountOf(catalog, source, now));
  return accounts;
}

async function accountOf(catalog: Reading, source: string, now: EpochMs): Promise<SourceAccount> {
  const today = dateAt(now);
  const news = await readNews(catalog, source, today);
  const { imported = null, known_until = null } = await readInstants(catalog, source);
  const silence = silenceOf(news, today);
  const is_silent = silence.state === "silent";
  const last_news_on = news.news_days[0] ?? null;
  return {
    source,
    last_import_at: imported === null ? null : formatInstant(imported),
    age_seconds: secondsSince(imported, now),
    known_until: known_until === null ? null : formatInstant(known_until),
    known_on: news.known_on,
    is_silent,
    silent_since: is_silent ? (last_news_on ?? news.known_on) : null,
    last_news_on,
    changed_at: news.changed_at,
    ...silence,
  };
}

export type SilentSources = ReadonlyMap<string, string>;

const known = new WeakMap<object, { at: EpochMs; commits: number; silent: Promise<SilentSources> }>();
/** For a database that does not report the commits of other programs. */
const STANDS_MS = 60_000;

/** Which sources are silent. The catalog is read again only after a commit, or on another day: silence is counted in days. */
export function readSilentSources(catalog: Reading & { commits: () => number }, now: EpochMs): Promise<SilentSources> {
  const commits = catalog.commits();
  const former = known.get(catalog);
  if (former !== undefined && Math.floor(former.at / DAY_MS) === Math.floor(now / DAY_MS)) {
    if (former.commits === commits || (Number.isNaN(commits) && Math.abs(now - former.at) < STANDS_MS)) return former.silent;
  }
  const silent = readSilentNow(catalog, now);
  known.set(catalog, { at: now, commits, silent });
  silent.catch(() => known.delete(catalog));
  return silent;
}

async function readSilentNow(catalog: Reading, now: EpochMs): Promise<SilentSources> {
  const silent = new Map<string, string>();
  for (const source of await listImportedSources(catalog)) {
    const { silent_since } = await accountOf(catalog, source, now);
    if (silent_since !== null) silent.set(source, silent_since);
  }
  return silent;
}

/** "no news since Jul 20, 2025 at NSF": what every door says of a silent source. */
export function noNewsInWords(since: string, at: string): string {
  return `no news since ${dateInWords(since)} at ${at}`;
}

/** The same of all that are silent; null if none is. */
export function silentInWords(freshness: readonly SourceFreshness[]): string | null {
  const silent = freshness.flatMap(({ source, silent_since }) => (silent_since === null ? [] : noNewsInWords(silent_since, source)));
  return silent.length === 0 ? null : silent.join(", ");
}
