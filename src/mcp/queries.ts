/** What the tools read: the catalog and the search index. Everything throws an Error with one sentence about what failed and what to do. */
import { basename } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import type { CatalogDb } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import { type Explanation, explain } from "../changes/explain.ts";
import type { OpportunityEvent, Severity } from "../events/event.ts";
import { type FeedFilter, meets, readWindow, type WindowPosition } from "../events/feed.ts";
import { historyPage, readHistory } from "../events/history.ts";
import type { Filter } from "../filter/filter.ts";
import { resolveFilter } from "../filter/known.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { sourceStatusesAt } from "../opportunities/source-counts.ts";
import { readShown } from "../past/whole.ts";
import { searchBudget } from "../search/budget.ts";
import { COUNTED_MAX } from "../search/candidates.ts";
import type { CursorKey } from "../search/cursor.ts";
import { findByNumber } from "../search/find.ts";
import { findNamed } from "../search/named.ts";
import { type SearchPage, type SearchResult, type Sort, searchFrom } from "../search/search.ts";
import type { SearchFile } from "../search/search-file.ts";
import { findSimilar } from "../search/similar.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { readFreshness } from "../sources/freshness.ts";
import { listSources, newestPostedDates, requireSources } from "../sources/source.ts";
import { dateAt, type EpochMs, formatInstant, parseInstantMs, secondsSince } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";

/**
 * Part of a list. `total` is null if it is not known or counting would cost too much, `next` is null on the last page. `duplicates` is how many
 * records or events were left out because those of another record of their opportunity are shown.
 */
export type ToolPage<Item, Next = readonly CursorKey[]> = { items: Item[]; total: number | null; next: Next | null; duplicates?: number };

/** `match` is the words around a match, `missing` the words of the question that it does not have if it does not match. */
type Match = Omit<SearchResult, "snippet"> & { match: string | null };

export type FoundMatches = ToolPage<Match> &
  Pick<
    SearchPage,
    "matching" | "partial" | "isAll" | "isWeak" | "understood" | "counts" | "hindered" | "agencyNotes" | "inWords" | "drop" | "isWhole"
  >;
type ToolChange = { event: OpportunityEvent; opportunity: WholeOpportunity; at: string | null; duplicates: readonly WholeOpportunity[] };

/** `after` is the `next` of an earlier page of the same request at the same `now`; empty for the first page. */
type Paging = { limit: number; after: readonly CursorKey[] };
type FindRequest = Paging & { filter: Filter; sort: Sort; allSources: boolean };
/** `since` is exclusive and `until` inclusive, as in the feed of events. */
export type EventConditions = { types: string[] | undefined; atLeast: Severity; since: EpochMs | undefined; until: EpochMs | undefined };
type HistoryRequest = Paging & EventConditions & { id: string };
type ChangesRequest = Paging & EventConditions & { filter: Filter; allSources: boolean; until: EpochMs };

/** How old the data of a source are: `as_of` is up to when it is known, by its last import or the `--as-of` of that; null without one. */
export const ToolFreshness = object({
  source: Type.String(),
  as_of: nullable(Type.String({ format: "date-time" })),
  age_seconds: nullable(Type.Integer()),
  /** The day of its last news, if it is silent. */
  silent_since: nullable(Type.String()),
});
export type ToolFreshness = Static<typeof ToolFreshness>;

/** What is stored of one source. */
export const SourceFacts = object({
  code: Type.String(),
  name: nullable(Type.String()),
  records: Type.Integer(),
  open: Type.Integer(),
  not_archived: Type.Integer(),
  newest_posted_on: nullable(Type.String()),
});
export type SourceFacts = Static<typeof SourceFacts>;

/** Why an event has its type and severity, and what brought it. */
export type ToolExplanation = Pick<Explanation, "event" | "rules" | "origin"> & {
  opportunity: WholeOpportunity;
  duplicates: readonly WholeOpportunity[];
  import: { id: number; format: string; files: string[]; started_at: string; as_of: string | null } | null;
};

/** Clock, abort signal and progress callback of one request. */
export type ToolCall = { now: EpochMs; signal: AbortSignal; progress: (done: number, total: number, message: string) => void };

/** The databases, as a command opens them. */
export type ToolData = {
  /** Where they are, for people. */
  place: string;
  /** Opens the catalog for one call, so that a restored or replaced one is noticed. */
  withCatalog: <T>(work: (catalog: CatalogDb) => Promise<T>) => Promise<T>;
  /** The search index, brought up to date. */
  withIndex: <T>(catalog: CatalogDb, call: ToolCall, work: (index: SearchFile) => T | Promise<T>) => Promise<T>;
};

/** The most opportunities that one number stands for in an answer. */
export const SAME_NUMBER_MAX = 20;
/** Stop counting after this many reads of 1,000 events. */
const COUNTING_READS_MAX = 20;

export type ToolQueries = ReturnType<typeof toolQueries>;

/** What the tools call. */
export function toolQueries({ place, withCatalog, withIndex }: ToolData) {
  return {
    place,
    find: (request: FindRequest, call: ToolCall) =>
      withCatalog(async (catalog) => {
        const filter = await resolveFilter(catalog, request.filter, "find opportunities of");
        return withIndex(catalog, call, (index) => readFound(catalog, index, { ...request, filter }, call));
      }),
    /** The other records of the same opportunity. */
    duplicates: (id: string, { now }: ToolCall) => withCatalog(async (catalog) => (await readDuplicates(catalog, [id], now)).get(id) ?? []),
    /** The opportunities with this id or number; of one source, if it is given. One more than an answer has shows that there are more. */
    get: (id: string, source: string | undefined, call: ToolCall) =>
      withCatalog(async (catalog) => {
        if (source !== undefined) await requireSources(catalog, [source], "get an opportunity of");
        const numbered = () => withIndex(catalog, call, (index) => findByNumber(index, id, SAME_NUMBER_MAX + 1, source));
        return findNamed(catalog, { text: id, source, limit: SAME_NUMBER_MAX + 1, now: call.now }, numbered);
      }),
    /** The opportunity with all that belongs to it, as it is or was at an instant, or why that is not known. */
    shown: (opportunity: WholeOpportunity, asOf: EpochMs | undefined, { now }: ToolCall) =>
      withCatalog((catalog) => readShown(catalog, opportunity, { now, asOf })),
    /** The opportunities that are most like one, at most `limit`, and its rounds. */
    similar: (opportunity: WholeOpportunity, limit: number, call: ToolCall) =>
      withCatalog((catalog) =>
        withIndex(catalog, call, (index) => findSimilar(catalog, index, opportunity, limit, call.now, searchBudget())),
      ),
    /** The events of one opportunity, newest first. */
    history: (request: HistoryRequest) => withCatalog((catalog) => readHistoryPage(catalog, request)),
    /** The events of all opportunities, newest first. */
    changes: (request: ChangesRequest, call: ToolCall) =>
      withCatalog(async (catalog) => {
        const filter = await resolveFilter(catalog, request.filter, "read changes of");
        return readChangesPage(catalog, { ...request, filter }, call);
      }),
    /** `undefined` if there is no such event. */
    explain: (eventId: string, { now }: ToolCall) => withCatalog((catalog) => explainEvent(catalog, eventId, now)),
    sources: ({ now }: ToolCall) => withCatalog((catalog) => sourceFacts(catalog, now)),
    freshness: ({ now }: ToolCall) => withCatalog((catalog) => freshnessOf(catalog, now)),
  };
}

async function readFound(
  catalog: CatalogDb,
  index: SearchFile,
  { after, ...request }: FindRequest,
  { now }: ToolCall,
): Promise<FoundMatches> {
  const { results, ...page } = await searchFrom(
    catalog,
    index,
    { ...request, countAtMost: COUNTED_MAX + 1 },
    { now: Math.trunc(now), keys: after },
  );
  const items = results.map(({ snippet, ...result }) => ({
    ...result,
    match: snippet === null ? null : snippet.replaceAll(MATCH_BEGIN, "[").replaceAll(MATCH_END, "]"),
  }));
  return { ...page, total: page.isWhole && page.total <= COUNTED_MAX ? page.total : null, items };
}

async function readHistoryPage(
  catalog: CatalogDb,
  { id, limit, after, ...conditions }: HistoryRequest,
): Promise<ToolPage<OpportunityEvent>> {
  const history = (await readHistory(catalog, id)).filter((event) => meets(event, conditions));
  const page = historyPage(history, after[0]?.toString(), limit);
  if (page === undefined) throw new Failure("Cannot continue: the event at the cursor is gone. Start again without it");
  return { items: page.events, total: page.total, next: page.next === undefined ? null : [page.next] };
}

/** `until` is fixed by the caller, so events that are detected meanwhile do not move the pages. */
async function readChangesPage(
  catalog: CatalogDb,
  { limit, after: [detected_at, seq], ...filter }: ChangesRequest,
  { now, signal }: ToolCall,
): Promise<ToolPage<ToolChange>> {
  const items: ToolChange[] = [];
  let duplicates = 0;
  const start: WindowPosition = seq === undefined ? null : { detected_at: Number(detected_at), seq: Number(seq) };
  let [position, isLast] = [start, false];
  while (!isLast && items.length < limit) {
    await letCancel(signal);
    const page = await readWindow(catalog, position, filter, now, limit - items.length, "newest");
    items.push(...page.entries);
    duplicates += page.repeats;
    [position, isLast] = [page.position, page.atEnd];
  }
  const total = start === null && isLast ? items.length : await count(catalog, filter, now, signal);
  return { items, total, duplicates, next: isLast || position === null ? null : [position.detected_at, position.seq] };
}

async function count(catalog: CatalogDb, filter: FeedFilter, now: EpochMs, signal: AbortSignal): Promise<number | null> {
  let [total, position]: [number, WindowPosition] = [0, null];
  for (let reads = 0; reads < COUNTING_READS_MAX; reads++) {
    await letCancel(signal);
    const page = await readWindow(catalog, position, filter, now, Number.MAX_SAFE_INTEGER, "newest");
    total += page.entries.length;
    if (page.atEnd) return total;
    position = page.position;
  }
  return null;
}

/** Reads of SQLite give no turn to other work, such as a message that cancels this. */
async function letCancel(signal: AbortSignal): Promise<void> {
  await nextTurn();
  signal.throwIfAborted();
}

async function explainEvent(catalog: CatalogDb, eventId: string, now: EpochMs): Promise<ToolExplanation | undefined> {
  const explanation = await explain(catalog, eventId);
  if (explanation === undefined) return undefined;
  const { event, rules, origin, import: brought } = explanation;
  const [opportunity] = await readOpportunities(catalog, [event.opportunity_id], now);
  if (opportunity === undefined) return undefined;
  const duplicates = (await readDuplicates(catalog, [opportunity.id], now)).get(opportunity.id) ?? [];
  return { event, opportunity, duplicates, rules, origin, import: brought === null ? null : importOf(brought) };
}

function importOf({ id, format, files, started_at, as_of }: NonNullable<Explanation["import"]>): ToolExplanation["import"] {
  const names = (JSON.parse(files) as { name: string }[]).map(({ name }) => basename(name)); // Directories of this machine are nobody's business.
  return { id, format, files: names, started_at: formatInstant(started_at), as_of: as_of === null ? null : formatInstant(as_of) };
}

async function sourceFacts(catalog: CatalogDb, now: EpochMs): Promise<SourceFacts[]> {
  const today = dateAt(now);
  const [named, statuses, newest] = [
    await listSources(catalog),
    await sourceStatusesAt(catalog, now),
    await newestPostedDates(catalog, today),
  ];
  const codes = new Set([...named.map(({ code }) => code), ...statuses.map(({ source }) => source)]);
  return [...codes].sort().map((code) => {
    const status = statuses.find(({ source }) => source === code);
    return {
      code,
      name: named.find((each) => each.code === code)?.name ?? null,
      records: status?.records ?? 0,
      open: status?.open ?? 0,
      not_archived: status?.live ?? 0,
      newest_posted_on: newest.get(code) ?? null,
    };
  });
}

async function freshnessOf(catalog: CatalogDb, now: EpochMs): Promise<ToolFreshness[]> {
  const freshness = await readFreshness(catalog, now);
  return freshness.map(({ source, known_until, silent_since }) => {
    return { source, as_of: known_until, age_seconds: secondsSince(parseInstantMs(known_until) ?? null, now), silent_since };
  });
}
