/** Whether a source has gone silent, judged by its own recent past. docs/guides/import.md has the rule. */
import { DAY_MS } from "../text/instant.ts";

/** Days as YYYY-MM-DD. */
export type News = {
  /** On which a source had news, and imports of it finished, the newest first. Without backfills. */
  news_days: readonly string[];
  import_days: readonly string[];
  known_on: string | null;
};

export type Silence = {
  /** `null`: its past is too short to tell. */
  state: "ok" | "silent" | null;
  /** `no_imports`: its imports have stopped. `no_news`: they go on, and find nothing new. */
  silent_because: "no_imports" | "no_news" | null;
  usual_news_pause_days: number | null;
  usual_import_pause_days: number | null;
};

export const DAYS_SEEN = 31;
const [NEWS_DAYS_MIN, IMPORT_DAYS_MIN] = [10, 5];
/** Shorter pauses are never a silence: a long weekend, a day on which a machine was off. */
const [NEWS_PAUSE_MIN, IMPORT_PAUSE_MIN] = [4, 2];
/** A pause is unusual if it is longer than this many usual ones. */
const FACTOR = 2;
const USUAL_SHARE = 0.9;

/** Judges a source on a day, YYYY-MM-DD. */
export function silenceOf({ news_days, import_days, known_on }: News, today: string): Silence {
  const usual_news_pause_days = usualPause(news_days, NEWS_DAYS_MIN);
  const usual_import_pause_days = usualPause(import_days, IMPORT_DAYS_MIN);
  const newest = news_days[0] ?? null;
  // With few imports, by the source's pauses: it has had news since the last.
  const noImports =
    usual_import_pause_days === null
      ? isOver(known_on, today, usual_news_pause_days, NEWS_PAUSE_MIN)
      : isOver(known_on, today, usual_import_pause_days, IMPORT_PAUSE_MIN);
  // Up to the last import: what was posted since then cannot be known.
  const noNews = isOver(newest, known_on, usual_news_pause_days, NEWS_PAUSE_MIN);
  const silent_because = noImports ? "no_imports" : noNews ? "no_news" : null;
  const isKnown = usual_news_pause_days !== null || usual_import_pause_days !== null;
  return {
    state: silent_because !== null ? "silent" : isKnown ? "ok" : null,
    silent_because,
    usual_news_pause_days,
    usual_import_pause_days,
  };
}

function isOver(from: string | null, to: string | null, usual: number | null, least: number): boolean {
  return from !== null && to !== null && usual !== null && daysBetween(from, to) > Math.max(least, FACTOR * usual);
}

function usualPause(days: readonly string[], least: number): number | null {
  if (days.length < least) return null;
  const pauses = days.slice(1).map((day, index) => daysBetween(day, days[index] ?? day));
  return pauses.sort((one, other) => one - other)[Math.ceil(pauses.length * USUAL_SHARE) - 1] ?? null;
}

function daysBetween(earlier: string, later: string): number {
  return Math.round((Date.parse(later) - Date.parse(earlier)) / DAY_MS);
}
