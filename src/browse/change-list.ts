/** The list of changes that an address asks for: its own fields, its period, and a page of its entries. */
import type { CatalogDb } from "../../db/engine.ts";
import { eventTypes, type Severity, severities } from "../events/event.ts";
import { type FeedEntry, type FeedFilter, type OpportunityVersion, readWindow, type WindowPosition } from "../events/feed.ts";
import { decodePlace, encodePlace } from "../search/cursor.ts";
import { whichMayMatch } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { DAY_MS, dateAt, type EpochMs } from "../text/instant.ts";
import { afterField, dateOf, listedIn, type OwnFields, oneOf, someOf } from "./own-fields.ts";
import type { SearchForm } from "./search-form.tsx";

const CURSOR_SCOPE = "/changes";
/** The periods offered: how many days each has, and how many days a bar of its chart stands for. */
export const periods: Readonly<Record<string, { days: number; perBar: number; name: string }>> = {
  "7d": { days: 7, perBar: 1, name: "7 days" },
  "30d": { days: 30, perBar: 1, name: "30 days" },
  "90d": { days: 90, perBar: 1, name: "90 days" },
  "364d": { days: 364, perBar: 7, name: "52 weeks" },
};
const DEFAULT_SEVERITY: Severity = "informational";
export const offeredSeverities = severities.filter((severity) => severity !== "unknown").toReversed();

/** The fields of `/changes` besides the filters. */
export const changesFields = {
  since: oneOf(Object.keys(periods), "The period: so many days before `until`."),
  until: dateOf((text) => dayAfter(text) !== undefined, "The last day of the period, in UTC."),
  type: someOf(eventTypes, "Only these kinds of change."),
  at_least: oneOf(offeredSeverities, `Without what is less severe; \`noise\` gives all. \`${DEFAULT_SEVERITY}\` if it is left out.`),
  after: afterField,
} satisfies OwnFields;

/** Which changes an address asks for, besides the period. */
export type ChosenChanges = { form: SearchForm; types: readonly string[] | undefined; atLeast: Severity };

/** What a form without errors asks for. */
export function chosenChanges(form: SearchForm): ChosenChanges {
  const { type, at_least } = form.given;
  return { form, types: type === undefined ? undefined : listedIn(type), atLeast: (at_least as Severity | undefined) ?? DEFAULT_SEVERITY };
}

/** The end of a day in UTC, "2026-08-03"; undefined if there is no such date. `Date.parse` takes February 31 for March 3. */
export function dayAfter(text: string): EpochMs | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(midnight) || dateAt(midnight) !== text ? undefined : midnight + DAY_MS;
}

/** Whether there is any filter. */
export function isFiltered({ resolved }: Pick<SearchForm, "resolved">): boolean {
  return Object.keys(resolved).length > 0;
}

/** What to read of the feed: the events from `since` on and before `until`. */
export function feedFilterOf(
  index: SearchFile,
  { form, types, atLeast }: ChosenChanges,
  { since, until }: { since: EpochMs; until: EpochMs },
  now: EpochMs,
): FeedFilter {
  const wanted = (opportunities: readonly OpportunityVersion[]) => whichMayMatch(index, form.resolved, opportunities, now);
  return {
    filter: form.resolved,
    wanted: isFiltered(form) ? wanted : undefined,
    allSources: form.allSources,
    types,
    atLeast,
    since: since - 1,
    until: until - 1,
  };
}

/**
 * The newest entries after a cursor, with how many events only repeat others and the cursor of what follows, if anything does. Each of at most
 * `reads` reads examines a bounded number of events, and perhaps none of them matches. Throws a BadCursor.
 */
export async function readEntries(
  catalog: CatalogDb,
  filter: FeedFilter,
  after: string | undefined,
  { limit, reads }: { limit: number; reads: number },
  now: EpochMs,
): Promise<{ entries: FeedEntry[]; repeats: number; next: string | undefined }> {
  const entries: FeedEntry[] = [];
  let position = positionOf(after);
  let repeats = 0;
  for (let read = 0; read < reads && entries.length < limit; read++) {
    const page = await readWindow(catalog, position, filter, now, limit - entries.length, "newest");
    entries.push(...page.entries);
    repeats += page.repeats;
    position = page.position;
    if (page.atEnd) return { entries, repeats, next: undefined };
  }
  const next = position === null ? undefined : encodePlace(CURSOR_SCOPE, { now, keys: [position.detected_at, position.seq] });
  return { entries, repeats, next };
}

function positionOf(cursor: string | undefined): WindowPosition {
  const [detected_at, seq] = cursor === undefined ? [] : decodePlace(CURSOR_SCOPE, cursor).keys;
  return seq === undefined ? null : { detected_at: Number(detected_at), seq: Number(seq) };
}
