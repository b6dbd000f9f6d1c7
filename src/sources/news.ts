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

type Kept = { changed_at: EpochMs | null; change_days: string[]; import_days: string[] };

const nothing: Kept = { changed_at: null, change_days: [], import_days: [] };

const settingByName = selectBy(settings, "name");
const storeSetting = insertInto(settings, { onConflict: orUpdate(settings.name, settings.value) });

/** Notes that an import found something new or changed in a source, in the transaction that stores it. */
export async function noteChange(sql: CatalogSql, source: string, instant: EpochMs): Promise<void> {
  const kept = await readKept(sql, source);
  await store(sql, source, { ...kept, changed_at: instant, change_days: withDay(kept.change_days, dayOf(instant)) });
}

/** Notes that an import of a source finished. */
export async function noteImport(sql: CatalogSql, source: string, finishedAt: EpochMs): Promise<void> {
  const kept = await readKept(sql, source);
  await store(sql, source, { ...kept, import_days: withDay(kept.import_days, dayOf(finishedAt)) });
}

/** The news of a source up to `today`, and when an import last changed it; null if that is unknown. */
export async function readNews(db: CatalogDb, source: string, today: string): Promise<News & { changed_at: EpochMs | null }> {
  const { changed_at, change_days, import_days } = await readKept(db, source);
  const posted = await listPostedDays(db, source, today, DAYS_KEPT);
  const past = (days: readonly string[]) => newestOf([...new Set(days)].filter((day) => day <= today));
  return { changed_at, news_days: past([...posted, ...change_days]), import_days: past(import_days) };
}

async function readKept(sql: CatalogSql, source: string): Promise<Kept> {
  const row = await sql.get(settingByName, { name: settingOf(source) });
  return row === undefined ? nothing : JSON.parse(Buffer.from(row.value).toString()); // Written below.
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
