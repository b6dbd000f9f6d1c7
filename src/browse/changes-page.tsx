/** @jsxImportSource hono/jsx */
/** The page of what changed: how many changes there were by day and severity, and what they were. */
import type { CatalogDb } from "../../db/engine.ts";
import { countEvents, type EventCounts, newestDetection } from "../events/counts.ts";
import { eventTypes, type Severity, severities } from "../events/event.ts";
import type { FeedEntry } from "../events/feed.ts";
import { conditionOf } from "../filter/filter.ts";
import { type Budget, searchBudget } from "../search/budget.ts";
import { isInMatchingGroup } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { counted, withCommas } from "../text/counted.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { DAY_MS, dateAt, type EpochMs } from "../text/instant.ts";
import { addressOf, opportunityAddress, type UrlQuery } from "./addresses.ts";
import {
  type ChosenChanges,
  changesFields,
  chosenChanges,
  dayAfter,
  feedFilterOf,
  isFiltered,
  offeredSeverities,
  periods,
  readEntries,
} from "./change-list.ts";
import { type Bucket, SeverityChart, totalOf } from "./chart.tsx";
import { changeInShort, typeInWords } from "./history.tsx";
import { AlsoAtLinks, cutText, SeverityMark, StatusBadge } from "./marks.tsx";
import { listedIn } from "./own-fields.ts";
import type { BrowsePage, PageContext } from "./page.ts";
import { TITLE_MAX } from "./results.tsx";
import {
  describedBy,
  Hint,
  InputField,
  omit,
  readSearchForm,
  SearchFields,
  type SearchForm,
  SelectField,
  tidyAddress,
} from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";

const PATH = "/changes";
/** Default period: the first whose chart has at least this many bars. */
const BARS_MIN = 4;
/** Entries on a page. */
const ENTRIES = 50;
/** Reads of the feed for one page. */
const READS = 3;
/** With filters, the chart counts the changes of at most this many opportunities, those that changed last. */
const COUNTED_MAX = 5000;

type Window = { since: EpochMs; until: EpochMs; period: string };
type Shown = {
  window: Window;
  buckets: readonly Bucket[];
  isPartial: boolean;
  repeats: number;
  entries: readonly FeedEntry[];
  next: string | undefined;
};

/** When the budget is spent, a period that was not asked for is not widened. What is listed takes a bounded number of reads. */
export async function changesPage({ catalog, index, now, query }: PageContext, budget = searchBudget()): Promise<BrowsePage> {
  const location = tidyAddress(PATH, query);
  if (location !== undefined) return { location };
  const form = await readSearchForm({ catalog, index, query }, changesFields);
  const [title, section] = ["What changed", "changes"] as const;
  if (form.errors.size > 0) return { title, section, status: 400, body: <ChangesBody form={form} now={now} /> };
  const chosen = chosenChanges(form);
  const shown = await readChanges(catalog, index, chosen, now, budget);
  return { title, section, body: <ChangesBody form={form} now={now} shown={shown} /> };
}

async function readChanges(catalog: CatalogDb, index: SearchFile, chosen: ChosenChanges, now: EpochMs, budget: Budget): Promise<Shown> {
  const { form, atLeast } = chosen;
  const until = dayAfter(form.given.until ?? dateAt((await newestDetection(catalog)) ?? now)) ?? now;
  const { period, counts, isPartial } = await countedPeriod(catalog, index, chosen, until, now, budget);
  const { days, perBar } = periods[period] as { days: number; perBar: number };
  const since = until - days * DAY_MS;
  const buckets = counts.map((each, n) => bucketOf(form.given, atLeastOf(each, atLeast), since + n * perBar * DAY_MS, perBar));
  const filter = feedFilterOf(index, chosen, { since, until }, now);
  const { entries, repeats, next } = await readEntries(catalog, filter, form.given.after, { limit: ENTRIES, reads: READS }, now);
  return { window: { since, until, period }, buckets, isPartial, entries, repeats, next };
}

/** The period given, or else the first one with enough bars. */
async function countedPeriod(catalog: CatalogDb, index: SearchFile, chosen: ChosenChanges, until: EpochMs, now: EpochMs, budget: Budget) {
  const { form, types, atLeast } = chosen;
  const names = form.given.since === undefined ? ["30d", "90d", "364d"] : [form.given.since];
  for (const [n, period] of names.entries()) {
    const { days, perBar } = periods[period] as { days: number; perBar: number };
    const since = until - days * DAY_MS;
    const ids = matchingIds(index, form, since, now);
    const counts = await countEvents(catalog, { since: since - 1, until: until - 1, bucketMs: perBar * DAY_MS, types }, ids);
    const bars = counts.filter((each) => totalOf(atLeastOf(each, atLeast)) > 0).length;
    if (bars >= BARS_MIN || n === names.length - 1 || budget.isSpent()) return { period, counts, isPartial: ids?.length === COUNTED_MAX };
  }
  throw new Error("There is no period to count");
}

/** The opportunities that meet the filters and changed since; undefined without filters. A change moves `updated_at` (D-31). */
function matchingIds({ sqlite }: SearchFile, { resolved, allSources }: SearchForm, since: EpochMs, now: EpochMs): string[] | undefined {
  if (!isFiltered({ resolved })) return undefined;
  const matching = conditionOf(resolved, now);
  const { sql, values } = allSources ? matching : isInMatchingGroup(matching);
  const rows = sqlite
    .query<{ id: string }, (string | number)[]>(
      `select id from records where ${sql} and updated_at >= ? order by updated_at desc, id limit ${COUNTED_MAX}`,
    )
    .all(...values, since);
  return rows.map(({ id }) => id);
}

/** Without what is less severe. */
function atLeastOf(counts: EventCounts, atLeast: Severity): EventCounts {
  const shown = severities.map((severity, rank) => [severity, rank >= severities.indexOf(atLeast) ? counts[severity] : 0]);
  return Object.fromEntries(shown) as EventCounts;
}

function bucketOf(given: UrlQuery, counts: EventCounts, start: EpochMs, days: number): Bucket {
  const [first, last] = [dateAt(start), dateAt(start + (days - 1) * DAY_MS)];
  const name = days === 1 ? dateInWords(first) : `${dateInWords(first)} to ${dateInWords(last)}`;
  return { name, counts, address: addressOf(PATH, { ...omit(given, "after"), since: "7d", until: last }) };
}

function ChangesBody({ form, now, shown }: { form: SearchForm; now: EpochMs; shown?: Shown }) {
  return (
    <>
      <h1>What changed</h1>
      <SearchFields action={PATH} form={form} now={now} ownFilters={<TypeField form={form} />}>
        <PeriodFields form={form} period={shown?.window.period} />
      </SearchFields>
      {shown === undefined ? <p class="empty">Correct the marked values to see changes.</p> : <Changes shown={shown} form={form} />}
    </>
  );
}

function PeriodFields({ form, period = "" }: { form: SearchForm; period?: string | undefined }) {
  const { since = period } = form.given;
  const offered = Object.entries(periods).map(([code, { name }]) => ({ code, name }));
  const severityNames = offeredSeverities.map((code) => ({
    code,
    name: code === "critical" ? "critical" : code === "noise" ? "all" : `${code} or more`,
  }));
  return (
    <>
      <SelectField name="since" label="Period" form={form} options={offered} chosen={since} />
      <InputField name="until" label="Until" form={form} help="empty: the newest change" type="date" />
      <SelectField name="at_least" label="Severity" form={form} options={severityNames} chosen={chosenChanges(form).atLeast} />
    </>
  );
}

function TypeField({ form }: { form: SearchForm }) {
  const chosen = listedIn(form.given.type ?? "");
  return (
    <section class="group">
      <h2>Kind of change</h2>
      <fieldset {...describedBy("type", form)}>
        <legend class="hidden">Kind of change</legend>
        {eventTypes
          .filter((type) => type !== "unknown")
          .map((type) => (
            <label class="choice" key={type}>
              <input type="checkbox" name="type" value={type} checked={chosen.includes(type)} />
              {typeInWords(type)}
            </label>
          ))}
        <Hint name="type" errors={form.errors} help="" />
      </fieldset>
    </section>
  );
}

function Changes({ shown: { window, buckets, isPartial, entries, repeats, next }, form }: { shown: Shown; form: SearchForm }) {
  const { given } = form;
  const { until, type, at_least } = given;
  const total = buckets.reduce((sum, { counts }) => sum + totalOf(counts), 0);
  const span = `${dateInWords(dateAt(window.since))} to ${dateInWords(dateAt(window.until - 1))}`;
  const perBar = periods[window.period]?.perBar === 1 ? "day" : "week";
  return (
    <>
      <SeverityChart buckets={buckets} title={`${counted(total, "change")} by ${perBar} (UTC) and severity, ${span}`} />
      {isPartial && <p class="quiet">The chart counts the {withCommas(COUNTED_MAX)} matching opportunities that changed last.</p>}
      {repeats > 0 && (
        <p class="quiet">
          {counted(repeats, "more change")} on this page {repeats === 1 ? "was" : "were"} told before by another source's record. The bars
          count all of them. <a href={addressOf(PATH, { ...omit(given, "after"), all_sources: "yes" })}>Show each</a>
        </p>
      )}
      <Entries entries={entries} />
      {entries.length === 0 && <p class="empty">{next === undefined ? "Nothing changed." : "Nothing among the changes looked at."}</p>}
      <nav class="paging" aria-label="Pages of changes">
        {given.after !== undefined && <a href={addressOf(PATH, omit(given, "after"))}>Newest changes</a>}
        {next !== undefined && (
          <a class="button" href={addressOf(PATH, { ...given, since: window.period, after: next })} rel="next">
            Earlier changes
          </a>
        )}
      </nav>
      <TakeAlong form={form} of="changes" own={{ since: window.period, until, type, at_least }} />
    </>
  );
}

/** By day, and what changed of one opportunity at once under one title. */
function Entries({ entries }: { entries: readonly FeedEntry[] }) {
  const days = Map.groupBy(entries, ({ event }) => event.detected_at.slice(0, 10));
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section class="day-changes" key={day} aria-labelledby={`day-${day}`}>
          <h2 id={`day-${day}`}>
            <time datetime={day}>
              {weekdayInWords(day)}, {dateInWords(day)}
            </time>
          </h2>
          <ol class="results">
            {[...Map.groupBy(ofDay, ({ event, opportunity }) => `${opportunity.id} ${event.detected_at}`).values()].map((group) => (
              <ChangeItem key={group[0]?.event.id} group={group} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function ChangeItem({ group }: { group: readonly FeedEntry[] }) {
  const [first] = group;
  if (first === undefined) return null;
  const { opportunity, twins } = first;
  const { id, title, status, organization, source } = opportunity;
  const facts = [organization.sub_agency ?? organization.agency, source.name].filter((fact) => fact !== null);
  return (
    <li class="result">
      <h3>
        <a href={opportunityAddress(id)}>
          <bdi>{cutText(title, TITLE_MAX)}</bdi>
        </a>
      </h3>
      <ul class="changes">
        {group.map(({ event, at }) => (
          <li key={event.id}>
            <SeverityMark severity={event.severity} /> {changeInShort(event)}
            {at !== null && ` (at ${cutText(at, 100)})`}
          </li>
        ))}
      </ul>
      <p class="facts">
        <span>
          now <StatusBadge status={status} />
        </span>
        {facts.map((fact) => (
          <span key={fact}>{cutText(fact, 200)}</span>
        ))}
        <AlsoAtLinks twins={twins} shown={opportunity.status} />
      </p>
    </li>
  );
}
