/** The list of changes that an address asks for: its own fields, its period, and a page of its entries. */
import type { CatalogDb } from "../../db/engine.ts";
import { eventTypes, type Severity, severities } from "../events/event.ts";
import { type FeedEntry, type FeedFilter, type OpportunityVersion, readWindow, type WindowPosition } from "../events/feed.ts";
import { decodePlace, encodePlace } from "../search/cursor.ts";
import { whichMayMatch } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import { PAST, readMoment, SINCE } from "../text/moment.ts";
import { choice, choices, momentText } from "../text/value.ts";
import { afterField, listedIn, type OwnFields, type SearchForm } from "./search-form.tsx";

const CURSOR_SCOPE = "/changes";
export const periods: Readonly<Record<string, string>> = { "7d": "7 days", "30d": "30 days", "90d": "90 days", "364d": "52 weeks" };
const DEFAULT_SEVERITY: Severity = "informational";
export const offeredSeverities = severities.filter((severity) => severity !== "unknown").toReversed();

export const changesFields = {
  since: momentText(SINCE, "Only what was detected after this moment: `7d` ago, `monday`, a date, a timestamp or `all`."),
  until: momentText(PAST, "Only what was detected up to this moment."),
  type: choices(eventTypes, "Only these kinds of change."),
  at_least: choice(offeredSeverities, `Without what is less severe; \`noise\` gives all. \`${DEFAULT_SEVERITY}\` if it is left out.`),
  after: afterField,
} satisfies OwnFields;

export type ChosenChanges = ReturnType<typeof chosenChanges>;

/** Which changes an address asks for. */
export function chosenChanges(form: SearchForm, now: EpochMs) {
  const { type, at_least, since, until } = form.given;
  return {
    form,
    types: type === undefined ? undefined : listedIn(type),
    atLeast: (at_least as Severity | undefined) ?? DEFAULT_SEVERITY,
    since: since === undefined ? undefined : readMoment(since, now, SINCE),
    until: until === undefined ? undefined : readMoment(until, now, PAST),
  };
}

/** The last millisecond of the day in UTC. */
export function endOfDay(at: EpochMs): EpochMs {
  return (Math.floor(at / DAY_MS) + 1) * DAY_MS - 1;
}

export function isFiltered({ resolved }: Pick<SearchForm, "resolved">): boolean {
  return Object.keys(resolved).length > 0;
}

/** The part of the feed to read: the events after `since` up to `until`. */
export function feedFilterOf(
  index: SearchFile,
  { form, types, atLeast }: ChosenChanges,
  { since, until }: { since: EpochMs | "all"; until: EpochMs },
  now: EpochMs,
): FeedFilter {
  const wanted = (opportunities: readonly OpportunityVersion[]) => whichMayMatch(index, form.resolved, opportunities, now);
  return {
    filter: form.resolved,
    wanted: isFiltered(form) ? wanted : undefined,
    allSources: form.allSources,
    types,
    atLeast,
    since: since === "all" ? undefined : since,
    until,
  };
}

/** The newest entries after a cursor, within `reads` bounded reads, and the cursor of what follows, if anything does. Throws a BadCursor. */
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
    if (page.isFull) break; // A page has fewer entries if they are long.
  }
  const next = position === null ? undefined : encodePlace(CURSOR_SCOPE, { now, keys: [position.detected_at, position.seq] });
  return { entries, repeats, next };
}

function positionOf(cursor: string | undefined): WindowPosition {
  const [detected_at, seq] = cursor === undefined ? [] : decodePlace(CURSOR_SCOPE, cursor).keys;
  return seq === undefined ? null : { detected_at: Number(detected_at), seq: Number(seq) };
}
