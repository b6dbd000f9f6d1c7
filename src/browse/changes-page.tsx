/** @jsxImportSource hono/jsx */
/** The page of what changed: how many changes there were by day and severity, and what they were. */
import { countEvents, type EventCounts, newestDetection } from "../events/counts.ts";
import { eventTypes, type Severity, severities } from "../events/event.ts";
import type { FeedEntry } from "../events/feed.ts";
import { conditionOf } from "../filter/filter.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { type Budget, searchBudget } from "../search/budget.ts";
import { isInMatchingGroup } from "../search/find.ts";
import type { SearchFile } from "../search/search-file.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, dateAt, dateOf, type EpochMs, formatInstant } from "../text/instant.ts";
import { isRelativeMoment, PAST, readMoment } from "../text/moment.ts";
import {
  type ChosenChanges,
  changesFields,
  chosenChanges,
  endOfDay,
  feedFilterOf,
  isFiltered,
  offeredSeverities,
  periods,
  readEntries,
} from "./change-list.ts";
import { type Bucket, SeverityChart, totalOf } from "./chart.tsx";
import { changeInShort, typeInWords } from "./history.tsx";
import { cutText, FactLine, Paging, SeverityMark, StatusBadge, TitleLink } from "./marks.tsx";
import { addressOf, type BrowsePage, omit, type PageContext, type UrlQuery } from "./page.ts";
import { TITLE_MAX } from "./results.tsx";
import { ChoiceGroup, InputField, type SearchForm, SelectField, searchPage } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";

const PATH = "/changes";
/** Default period: the first whose chart has at least this many bars. */
const BARS_MIN = 4;
const ENTRIES = 50;
const READS = 3;
/** With filters, the chart counts the changes of at most this many opportunities, those that changed last. */
const COUNTED_MAX = 5000;

type ShownChanges = Awaited<ReturnType<typeof readChanges>>;

/** When the budget is spent, a default period is not widened. The list takes a bounded number of reads. */
export function changesPage(context: PageContext, budget = searchBudget()): Promise<BrowsePage> {
  return searchPage(context, {
    path: PATH,
    section: "changes",
    heading: "What changed",
    own: changesFields,
    shows: "changes",
    read: (form) => readChanges(context, chosenChanges(form, context.now), budget),
    fields: (form, shown) => <PeriodFields form={form} period={shown?.window.period} />,
    ownFilters: (form) => <ChoiceGroup name="type" title="Kind of change" options={kinds} form={form} />,
    view: (form, shown) => <Changes shown={shown} form={form} />,
  });
}

async function readChanges(context: PageContext, chosen: ChosenChanges, budget: Budget) {
  const { catalog, index, now } = context;
  const { form, atLeast } = chosen;
  const until = chosen.until ?? endOfDay((await newestDetection(catalog)) ?? now);
  const { period, chart, counts, isPartial } = await countedPeriod(context, chosen, until, budget);
  const buckets = counts.map((each, n) =>
    bucketOf(form.given, atLeastOf(each, atLeast), chart.origin + n * chart.days * DAY_MS, chart.days),
  );
  const window = { since: chosen.since ?? chart.since, until, period, chart };
  const filter = feedFilterOf(index, { ...chosen, atLeast: listedFrom(form) }, window, now);
  const { entries, repeats, next } = await readEntries(catalog, filter, form.given.after, { limit: ENTRIES, reads: READS }, now);
  return { window, buckets, isPartial, entries, repeats, next };
}

/** The scale of the chart: the days per bar, the first day, and the instant after which events count. */
type Chart = { since: EpochMs; origin: EpochMs; days: number };

/** Bars are weeks in a period of more days than this, and the chart has the last year of a longer one. */
const [BARS_OF_DAYS_MAX, CHART_DAYS_MAX] = [100, 364];

function chartOf(since: EpochMs, until: EpochMs): Chart {
  const first = Math.max(since, until - CHART_DAYS_MAX * DAY_MS);
  if (until - first <= BARS_OF_DAYS_MAX * DAY_MS) return { since: first, origin: endOfDay(first + 1 - DAY_MS), days: 1 };
  const weeks = Math.ceil((endOfDay(until) - first) / (7 * DAY_MS));
  return { since: first, origin: endOfDay(until) - weeks * 7 * DAY_MS, days: 7 };
}

async function countedPeriod({ catalog, index, now }: PageContext, chosen: ChosenChanges, until: EpochMs, budget: Budget) {
  const { form, types, atLeast, since } = chosen;
  const offered = ["30d", "90d", "364d"].map((period) => ({ period, since: readMoment(period, until, PAST) }));
  const tried = since === undefined ? offered : [{ period: form.given.since ?? "", since: since === "all" ? 0 : since }];
  for (const [n, { period, since }] of tried.entries()) {
    const chart = chartOf(since, until);
    const ids = matchingIds(index, form, chart.since, now);
    const counts = await countEvents(catalog, { ...chart, until, bucketMs: chart.days * DAY_MS, types }, ids);
    const bars = counts.filter((each) => totalOf(atLeastOf(each, atLeast)) > 0).length;
    if (bars >= BARS_MIN || n === tried.length - 1 || budget.isSpent())
      return { period, chart, counts, isPartial: ids?.length === COUNTED_MAX };
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

function atLeastOf(counts: EventCounts, atLeast: Severity): EventCounts {
  const shown = severities.map((severity, rank) => [severity, rank >= severities.indexOf(atLeast) ? counts[severity] : 0]);
  return Object.fromEntries(shown) as EventCounts;
}

/** A bar links to the seven days that end with it. `start` is the instant before its first day. */
function bucketOf(given: UrlQuery, counts: EventCounts, start: EpochMs, days: number): Bucket {
  const end = start + days * DAY_MS;
  const [first, last] = [dateAt(start + 1), dateAt(end)];
  const name = days === 1 ? dateInWords(first) : `${dateInWords(first)} to ${dateInWords(last)}`;
  return {
    name,
    counts,
    address: addressOf(PATH, { ...omit(given, "after"), since: formatInstant(end - 7 * DAY_MS), until: formatInstant(end) }),
  };
}

const kinds = eventTypes.filter((type) => type !== "unknown").map((type) => ({ code: type, name: typeInWords(type) }));

const severityNames: Readonly<Record<string, string>> = {
  critical: "critical changes",
  material: "what matters",
  informational: "smaller changes too",
  cosmetic: "cosmetic ones too",
  noise: "everything",
};

/** The minimum severity of the list. The chart counts informational changes, too, and files keep their default for programs. */
function listedFrom({ given }: SearchForm): Severity {
  return (given.at_least as Severity | undefined) ?? "material";
}

function PeriodFields({ form, period = "" }: { form: SearchForm; period?: string | undefined }) {
  const { since = period, until = "" } = form.given;
  const isDay = until === "" || (!isRelativeMoment(until) && !until.includes(":"));
  const named = Object.hasOwn(periods, since) || since === "" ? periods : { ...periods, [since]: `since ${since}` };
  const offered = Object.entries(named).map(([code, name]) => ({ code, name }));
  const offeredNames = offeredSeverities.map((code) => ({
    code: code === "material" && form.given.at_least === undefined ? "" : code,
    name: severityNames[code] ?? code,
  }));
  return (
    <>
      <SelectField name="since" label="Period" form={form} options={offered} chosen={since} />
      <InputField name="until" label="Until" form={form} help="empty: the newest change" {...(isDay && { type: "date" as const })} />
      <SelectField name="at_least" label="List" form={form} options={offeredNames} chosen={form.given.at_least ?? ""} />
    </>
  );
}

function Changes({ shown: { window, buckets, isPartial, entries, repeats, next }, form }: { shown: ShownChanges; form: SearchForm }) {
  const { given } = form;
  const { since, until, type } = given;
  const total = buckets.reduce((sum, { counts }) => sum + totalOf(counts), 0);
  const span = `${dateInWords(dateAt(window.chart.since + 1))} to ${dateInWords(dateAt(window.until))}`;
  const listed = listedFrom(form);
  const smaller = total - buckets.reduce((sum, { counts }) => sum + totalOf(atLeastOf(counts, listed)), 0);
  const perBar = window.chart.days === 1 ? "day" : "week";
  return (
    <>
      {total > 0 && <SeverityChart buckets={buckets} title={`${counted(total, "change")} by ${perBar} (UTC) and severity, ${span}`} />}
      {isPartial && <p class="quiet">The chart counts the {withCommas(COUNTED_MAX)} matching opportunities that changed last.</p>}
      {repeats > 0 && (
        <p class="quiet">
          {counted(repeats, "more change")} on this page {repeats === 1 ? "was" : "were"} already reported by another source's record. The
          bars count all of them. <a href={addressOf(PATH, { ...omit(given, "after"), all_sources: "yes" })}>Show each</a>
        </p>
      )}
      <Entries entries={entries} />
      {entries.length === 0 && (
        <p class="empty">
          {next !== undefined && "Nothing among the changes looked at."}
          {next === undefined && smaller > 0 && "No change that matters."}
          {next === undefined && smaller === 0 && (
            <>
              Nothing changed, {span}. <a href="/sources">Sources</a> says when each was last imported.
            </>
          )}
        </p>
      )}
      {smaller > 0 && (
        <p class="more-changes">
          <a href={addressOf(PATH, { ...omit(given, "after"), at_least: "informational" })}>
            Show {counted(smaller, "smaller change")} too
          </a>
          , such as statuses that turned when their day came.
        </p>
      )}
      <Paging
        label="Pages of changes"
        path={PATH}
        given={given}
        next={next && { since: since ?? formatInstant(window.chart.since), after: next }}
        first="Newest changes"
        further="Earlier changes"
      />
      <TakeAlong form={form} of="changes" own={{ since: window.period, until, type, at_least: listed }} />
    </>
  );
}

function Entries({ entries }: { entries: readonly FeedEntry[] }) {
  const days = Map.groupBy(entries, ({ event }) => dateOf(event.detected_at));
  return (
    <>
      {[...days].map(([day, ofDay]) => (
        <section class="day-changes" key={day} aria-labelledby={`day-${day}`}>
          <h2 id={`day-${day}`}>
            <time datetime={day}>
              {weekdayInWords(day)}, {dateInWords(day)}
            </time>
          </h2>
          <ol class="results">{mostSevereFirst(ofDay).map((group) => group[0] && <ChangeItem group={group} first={group[0]} />)}</ol>
        </section>
      ))}
    </>
  );
}

function mostSevereFirst(ofDay: readonly FeedEntry[]): FeedEntry[][] {
  const rank = ({ event }: FeedEntry) => (severities as readonly string[]).indexOf(event.severity);
  const sorted = ofDay.toSorted((left, right) => rank(right) - rank(left));
  return [...Map.groupBy(sorted, ({ event, opportunity }) => `${opportunity.id} ${event.detected_at}`).values()];
}

function ChangeItem({ group, first }: { group: readonly FeedEntry[]; first: FeedEntry }) {
  const { id, title, status, organization, source } = first.opportunity;
  return (
    <li class={unendedStatuses.includes(status) ? "result" : "result over"}>
      <h3>
        <TitleLink id={id} title={title} max={TITLE_MAX} />
      </h3>
      <ul class="changes">
        {group.map(({ event, at }) => (
          <li key={event.id}>
            <SeverityMark severity={event.severity} /> {changeInShort(event)}
            {at !== null && ` (at ${cutText(at, 100)})`}
          </li>
        ))}
      </ul>
      <FactLine facts={[organization.sub_agency ?? organization.agency, source.name]} duplicates={first.duplicates} status={status}>
        <span>
          now <StatusBadge status={status} />
        </span>
      </FactLine>
    </li>
  );
}
