/** The deadlines of a search as a calendar. `SEQUENCE` is the number of events that moved or ended them: clients take the higher. (RFC 5545) */
import { and, count, eq, inArray } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, query, select, selectAmong } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EventType } from "../events/event.ts";
import { briefFacts, briefOf } from "../facts/facts.ts";
import { describeFilter, type Filter } from "../filter/filter.ts";
import { type Due, dueOf } from "../opportunities/due.ts";
import type { Status, WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { deadlinesIn } from "../search/deadlines.ts";
import type { SearchFile } from "../search/search-file.ts";
import { capitalized } from "../text/in-words.ts";
import { DAY_MS, type EpochMs, parseStoredMs } from "../text/instant.ts";
import { plainText } from "../text/plain-text.ts";
import { ellipsized } from "../text/quoted.ts";
import { webAddress } from "../text/web-address.ts";
import { type CalendarEntry, calendarOf } from "./icalendar.ts";

/** `filter` has its sources resolved (`filter/known.ts`); `shown` is the filter as it was given, for the name of the calendar. */
type DeadlineSearch = { filter: Filter; shown: Filter; allSources: boolean; limit?: number | undefined };

/** Some 700 kB. Google refuses calendars over 1 MB. */
export const CALENDAR_LIMIT = 1000;
/** A deadline that has passed stays for a while, so that it does not vanish on its day. */
const [DAYS_BACK, DAYS_AHEAD] = [31, 730];
const TITLE_MAX = 200;

const OVER: readonly Status[] = ["closed", "awarded", "cancelled", "archived"];

/** Each of them moves or ends a deadline. Events are kept forever, so their number never falls. */
const REVISIONS: readonly EventType[] = ["date_changed", "status_changed", "opportunity_removed"];

const revisionsOf = query({ ids: listOf(opportunities.id) }, ({ ids }) =>
  select({ id: opportunities.id, revisions: count() })
    .from(events)
    .innerJoin(opportunities, eq(opportunities.seq, events.opportunity_seq))
    .where(and(inArray(opportunities.id, ids), inArray(events.type, [...REVISIONS])))
    .groupBy(opportunities.id),
);
const storedOf = selectAmong(opportunities, ["id", "stored_at"], "id");

/** The due dates from a month ago to two years ahead, of at most `limit` opportunities. One that ends early is cancelled for a month. */
export async function deadlinesCalendar(
  catalog: CatalogDb,
  index: SearchFile,
  { filter, shown, allSources, limit = CALENDAR_LIMIT }: DeadlineSearch,
  now: EpochMs,
  pageOf?: (id: string) => string,
): Promise<string> {
  const status = [...new Set([...(filter.status ?? unendedStatuses), ...OVER])];
  const [since, until] = [now - DAYS_BACK * DAY_MS, now + DAYS_AHEAD * DAY_MS];
  const list = (since: EpochMs, until: EpochMs) =>
    deadlinesIn(index, { ...filter, status }, { since, until }, now, { limit, allSources }).map(({ id }) => id);
  const ahead = list(now, until);
  const ids = [...(ahead.length < limit ? list(since, now).slice(ahead.length - limit) : []), ...ahead];
  const found = await readOpportunities(catalog, ids, now);
  const revisions = new Map((await catalog.all(revisionsOf, { ids })).map((row) => [row.id, row.revisions]));
  const storedAt = new Map((await catalog.all(storedOf, { id: ids })).map((row) => [row.id, row.stored_at]));
  const duplicates = await readDuplicates(catalog, ids, now);
  const entries = found.flatMap((opportunity) => {
    const { id } = opportunity;
    const version = { revision: revisions.get(id) ?? 0, changed_at: storedAt.get(id) ?? 0 };
    return entriesOf(opportunity, duplicates.get(id) ?? [], now, pageOf?.(id)).map((entry) => ({ ...entry, ...version }));
  });
  const inPeriod = entries.filter(({ due_at }) => due_at >= since && due_at < until);
  const listed = inPeriod.filter(({ isCancelled, revision, changed_at }) => !isCancelled || (revision > 0 && changed_at >= since));
  const ordered = listed.toSorted((one, other) => one.due_at - other.due_at || (one.uid < other.uid ? -1 : 1));
  const name = describeFilter(shown, now).join("; ");
  return calendarOf(`Deadlines${name === "" ? "" : `: ${name}`}`, ordered);
}

/** An entry for each date. A second date does not change the id of the first one. */
function entriesOf(
  opportunity: WholeOpportunity,
  duplicates: readonly WholeOpportunity[],
  now: EpochMs,
  page: string | undefined,
): Omit<CalendarEntry, "revision" | "changed_at">[] {
  const { id, status, source } = opportunity;
  const title = plainText(opportunity.title);
  const short = ellipsized(title, TITLE_MAX);
  const due = dueOf(opportunity, now, duplicates);
  const facts = briefFacts(briefOf(opportunity, due, duplicates));
  const isOver = OVER.some((each) => each === status);
  const upstreamPage = webAddress(source.url);
  const elsewhere = due.elsewhere === null ? "" : `${capitalized(due.elsewhere)}. `;
  return datesOf(due).map(({ due_at, name, words, isTentative }, n) => ({
    uid: `${id}${n === 0 ? "" : `-${n + 1}`}@fundfeed`,
    due_at,
    isTentative,
    isCancelled: isOver && due_at > now,
    title: `${elsewhere}${name}: ${short}${words === null ? "" : ` (${words})`}`,
    description: [
      capitalized(facts.due),
      due.note === null ? null : `Deadline: ${due.note}`,
      facts.number,
      facts.agency,
      `${facts.source}, ${facts.status}`,
      facts.open_to === null ? null : capitalized(facts.open_to),
      facts.also_at === null ? null : capitalized(facts.also_at),
      ...[page, upstreamPage],
    ].filter((line) => line !== null && line !== undefined),
    url: page ?? upstreamPage,
  }));
}

type CalendarDate = Due["dates"][number] & { name: string; isTentative: boolean; due_at: EpochMs };

/** All dates, those that were stated first: what is due, what is expected, and when the announcement expires. */
function datesOf({ kind, at, dates, expires_at, standard_at }: Due): CalendarDate[] {
  const [name, isTentative] = kind === "expected" ? ["Expected", true] : ["Due", false];
  const only = (name: string, at: string | null, isTentative: boolean) => (at === null ? [] : [{ at, words: null, name, isTentative }]);
  const all = [
    ...dates.map((date) => ({ ...date, name, isTentative })),
    ...only("Expires", kind === "expires" ? at : expires_at, false),
    ...only("Expected", standard_at, true),
  ];
  return all.flatMap((date) => {
    const due_at = parseStoredMs(date.at);
    return due_at === undefined ? [] : [{ ...date, due_at }];
  });
}
