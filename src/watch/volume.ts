/** Estimates how many mails a search would have sent recently, so that people know before they save it. */
import type { CatalogDb } from "../../db/engine.ts";
import { readWindow, type WindowPosition } from "../events/feed.ts";
import { DAY_MS, type EpochMs, MINUTE_MS, parseInstantMs } from "../text/instant.ts";
import type { WatchDefinition } from "./watch.ts";

/** The days that are examined, and the most pages of their events. */
const [DAYS, PAGES_MAX, PAGE] = [90, 40, 1000];
const MONTH_DAYS = 30;

/** Mails a month, by schedule; `days` is the number of days covered by the examined events. */
type Volume = { days: number; atOnce: number; daily: number; weekly: number };

/** Estimates from recent changes of the opportunities that match now. Undefined if there is too little data, or too much to examine. */
export async function volumeOf(
  catalog: CatalogDb,
  matching: readonly string[],
  { at_least, all_sources }: Pick<WatchDefinition, "at_least" | "all_sources">,
  now: EpochMs,
): Promise<Volume | undefined> {
  const ids = new Set(matching);
  const filter = {
    filter: {},
    wanted: <T extends { id: string }>(versions: readonly T[]) => versions.filter(({ id }) => ids.has(id)),
    allSources: all_sources,
    atLeast: at_least,
    since: now - DAYS * DAY_MS,
    until: now,
  };
  const times: EpochMs[] = [];
  let after: WindowPosition = null;
  for (let page = 0; ; page++) {
    if (page === PAGES_MAX) return undefined;
    const { entries, position, atEnd } = await readWindow(catalog, after, filter, now, PAGE);
    for (const { event } of entries) times.push(parseInstantMs(event.detected_at) ?? now);
    after = position;
    if (atEnd) break;
  }
  const { entries } = await readWindow(catalog, null, { filter: {}, since: filter.since, until: now }, now, 1);
  const oldest = parseInstantMs(entries[0]?.event.detected_at ?? "") ?? now;
  const days = Math.min(DAYS, Math.ceil((now - oldest) / DAY_MS));
  if (days < 7) return undefined;
  const perMonth = (periodMs: number) => (new Set(times.map((at) => Math.floor(at / periodMs))).size * MONTH_DAYS) / days;
  return { days, atOnce: perMonth(15 * MINUTE_MS), daily: perMonth(DAY_MS), weekly: perMonth(7 * DAY_MS) };
}

/** "About 5 mails a month if you get them every day, 3 if weekly, judged by the last 90 days." */
export function volumeInWords(volume: Volume | undefined): string {
  if (volume === undefined) return "";
  const { days, atOnce, daily, weekly } = volume;
  const rounded = (count: number) => (count < 0.5 ? "hardly any" : `about ${Math.round(count)}`);
  const mails = Math.round(atOnce) === 1 ? "mail" : "mails";
  if (rounded(atOnce) === rounded(weekly)) return `${rounded(atOnce)} ${mails} a month, judged by the last ${days} days`;
  return `${rounded(atOnce)} ${mails} a month as things change, ${rounded(daily)} if daily, ${rounded(weekly)} if weekly, judged by the last ${days} days`;
}
