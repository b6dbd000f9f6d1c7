/** Estimates how many mails a search would have sent recently, so that people know before they save it. */
import type { CatalogDb } from "../../db/engine.ts";
import { readWindow, type WindowPosition } from "../events/feed.ts";
import { counted } from "../text/in-words.ts";
import { DAY_MS, type EpochMs, MINUTE_MS, parseInstantMs } from "../text/instant.ts";
import type { WatchDefinition } from "./watch.ts";

/** The most days that are examined, the fewest that tell something, and the most pages of their events. */
const [DAYS_MAX, DAYS_MIN, PAGES_MAX, PAGE] = [90, 7, 40, 1000];
const MONTH_DAYS = 30;

type Reported = Pick<WatchDefinition, "at_least" | "all_sources" | "every">;

/**
 * "; about 5 mails a month, judged by the last 90 days". Counts when the opportunities that match now were added or changed. Empty if there is
 * too little data, or too much to examine.
 */
export async function volumeInWords(catalog: CatalogDb, matching: readonly string[], about: Reported, now: EpochMs): Promise<string> {
  const ids = new Set(matching);
  const wanted = <T extends { id: string }>(versions: readonly T[]) => versions.filter(({ id }) => ids.has(id));
  const period = { filter: {}, since: now - DAYS_MAX * DAY_MS, until: now };
  const [oldest] = (await readWindow(catalog, null, period, now, 1)).entries;
  const since = parseInstantMs(oldest?.event.detected_at ?? "") ?? now;
  const days = Math.min(DAYS_MAX, Math.ceil((now - since) / DAY_MS));
  if (days < DAYS_MIN) return "";
  const afterFirstImports = Math.max(period.since, since + DAY_MS);
  const times: EpochMs[] = [];
  // A new opportunity is reported whatever the severity.
  for (const conditions of [{ atLeast: about.at_least }, { types: ["opportunity_added" as const], since: afterFirstImports }]) {
    const reported = { ...period, wanted, allSources: about.all_sources, ...conditions };
    let after: WindowPosition = null;
    for (let page = 0, isWhole = false; !isWhole; page++) {
      if (page === PAGES_MAX) return "";
      const { entries, position, atEnd } = await readWindow(catalog, after, reported, now, PAGE);
      times.push(...entries.map(({ event }) => parseInstantMs(event.detected_at) ?? now));
      [after, isWhole] = [position, atEnd];
    }
  }
  const everyMs = about.every === undefined ? 15 * MINUTE_MS : about.every.startsWith("day") ? DAY_MS : 7 * DAY_MS;
  const perMonth = (new Set(times.map((at) => Math.floor(at / everyMs))).size * MONTH_DAYS) / days;
  const mails = perMonth < 0.5 ? "hardly any mails" : `about ${counted(Math.round(perMonth), "mail")}`;
  return `; ${mails} a month, judged by the last ${days} days`;
}
