/**
 * The recent days on which imports of a source finished, and on which they found something new. Each source has one small row in `settings`,
 * so that it costs the same to read however many imports there were.
 */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { insertInto, orUpdate, selectBy } from "../../db/query.ts";
import { settings } from "../../db/schema/sqlite/catalog.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { listPostedDays } from "./posted-days.ts";
import { DAYS_KEPT, type News } from "./silence.ts";
import { listSourcesOfRecords } from "./source.ts";

type Kept = {
  changed_at: EpochMs | null;
  change_days: string[];
  import_days: string[];
  known_on: string | null;
};

const nothing: Kept = { changed_at: null, change_days: [], import_days: [], known_on: null };

const settingByName = selectBy(settings, "name");
const storeSetting = insertInto(settings, { onConflict: orUpdate(settings.name, settings.value) });

/**
 * Notes that an import found something new or changed in a source, in the transaction that stores it. The instants of a backfill are those of
 * its files, which say nothing about how often the source has news.
 */
export async function noteChange(sql: CatalogSql, source: string, instant: EpochMs, isBackfill: boolean): Promise<void> {
  const kept = await readKept(sql, source);
  const change_days = isBackfill ? kept.change_days : withDay(kept.change_days, dayOf(instant));
  await store(sql, source, { ...kept, changed_at: instant, change_days });
}

/** Notes that an import of a source finished. `asOf` is the instant of a backfill. */
export async function noteImport(sql: CatalogSql, source: string, finishedAt: EpochMs, asOf: EpochMs | null): Promise<void> {
  const kept = await readKept(sql, source);
  const import_days = asOf === null ? withDay(kept.import_days, dayOf(finishedAt)) : kept.import_days;
  await store(sql, source, { ...kept, import_days, known_on: dayOf(asOf ?? finishedAt) });
}

/** The news of a source up to `today`, and when an import last changed it; null if that is unknown. */
export async function readNews(db: CatalogDb, source: string, today: string): Promise<News & { changed_at: EpochMs | null }> {
  const { changed_at, change_days, import_days, known_on } = await readKept(db, source);
  const posted = await listPostedDays(db, source, earlier(known_on, today), DAYS_KEPT);
  const past = (days: readonly string[]) => newestOf([...new Set(days)].filter((day) => day <= today));
  return { changed_at, news_days: past([...posted, ...change_days]), import_days: past(import_days), known_on };
}

/** By source code: the newest day on which the source posted a record. A day that was still to come at the last import was only planned. */
export async function newestPostedDates(db: CatalogDb, today: string): Promise<Map<string, string>> {
  const newest = new Map<string, string>();
  for (const source of await listSourcesOfRecords(db)) {
    const { known_on } = await readKept(db, source);
    const [day] = await listPostedDays(db, source, earlier(known_on, today), 1);
    if (day !== undefined) newest.set(source, day);
  }
  return newest;
}

function earlier(day: string | null, today: string): string {
  return day !== null && day < today ? day : today;
}

async function readKept(sql: CatalogSql, source: string): Promise<Kept> {
  const row = await sql.get(settingByName, { name: settingOf(source) });
  return row === undefined ? nothing : { ...nothing, ...JSON.parse(Buffer.from(row.value).toString()) }; // Written below.
}

async function store(sql: CatalogSql, source: string, kept: Kept): Promise<void> {
  await sql.run(storeSetting, { name: settingOf(source), value: Buffer.from(JSON.stringify(kept)) });
}

function settingOf(source: string): string {
  return `news of ${source}`;
}

function withDay(days: readonly string[], day: string): string[] {
  return newestOf([...new Set([...days, day])]);
}

function newestOf(days: readonly string[]): string[] {
  return days.toSorted().toReversed().slice(0, DAYS_KEPT);
}

function dayOf(instant: EpochMs): string {
  return formatInstant(instant).slice(0, 10);
}
