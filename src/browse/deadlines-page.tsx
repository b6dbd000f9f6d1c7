/** @jsxImportSource hono/jsx */
/** The page of deadlines: bars for half a year of weeks, and a calendar of the first six. */
import { doubtsOf } from "../opportunities/due.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { type Budget, ENDED_EARLY, searchBudget } from "../search/budget.ts";
import { COUNTED_MAX } from "../search/candidates.ts";
import { type Deadline, deadlinesIn, listDeadlines } from "../search/deadlines.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { easternDate, startOfEasternDate } from "../text/eastern.ts";
import { counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, dateAt, type EpochMs } from "../text/instant.ts";
import { AHEAD, readMoment } from "../text/moment.ts";
import { ellipsized } from "../text/quoted.ts";
import { momentText } from "../text/value.ts";
import { Bars } from "./chart.tsx";
import { DuplicatesLeftOut, FoldedTable } from "./marks.tsx";
import { addressOf, type BrowsePage, omit, opportunityAddress, type PageContext, type UrlQuery } from "./page.ts";
import { InputField, type SearchForm, searchPage } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";

const PATH = "/deadlines";
const WEEKS = 6;
const DAYS = 7 * WEEKS;
const BARS = 26;
const LISTED = 3;
const TITLE_MAX = 110;

type ShownDeadlines = Awaited<ReturnType<typeof readDays>>;

/** When the budget is spent, the calendar still has all its days, and slower parts are left out. */
export function deadlinesPage(context: PageContext, budget = searchBudget()): Promise<BrowsePage> {
  return searchPage(context, {
    path: PATH,
    section: "deadlines",
    heading: "Deadlines",
    own: { from: momentText(AHEAD, "A day of the first week.") },
    shows: "deadlines",
    read: (form) => readDays(context, form, budget),
    fields: (form) => <InputField name="from" label="From" form={form} help="empty: this week" type="date" />,
    view: (form, shown) => (
      <>
        <Calendar shown={shown} given={form.given} />
        <TakeAlong form={form} of="find" own={{ status: form.given.status ?? unendedStatuses, sort: "closes" }} />
      </>
    ),
  });
}

function later(date: string, days: number): string {
  return dateAt(Date.parse(date) + days * DAY_MS);
}

type Span = { date: string; since: EpochMs; until: EpochMs };

function spansFrom(first: string, number: number, days: number): Span[] {
  const startOf = (date: string) => startOfEasternDate(date) ?? Number.NaN; // NaN behind the end of the calendar.
  const dates = Array.from({ length: number }, (_, n) => later(first, n * days));
  return dates.map((date) => ({ date, since: startOf(date), until: startOf(later(date, days)) }));
}

function within(deadlines: readonly Deadline[], { since, until }: Span): Deadline[] {
  return deadlines.filter(({ due_at }) => due_at >= since && due_at < until);
}

function periodOf(spans: readonly Span[]) {
  return { since: spans[0]?.since ?? 0, until: spans.at(-1)?.until ?? 0 };
}

async function readDays({ catalog, index, now }: PageContext, form: SearchForm, budget: Budget) {
  const today = easternDate(now);
  const from = easternDate(readMoment(form.given.from ?? "today", now, AHEAD));
  const sunday = later(from, -new Date(`${from}T00:00:00Z`).getUTCDay());
  const spans = spansFrom(sunday, DAYS, 1);
  const most = { limit: COUNTED_MAX, allSources: form.allSources };
  const filter = { status: [...unendedStatuses], ...form.resolved };
  const { deadlines, duplicates, isWhole } = listDeadlines(index, filter, periodOf(spans), now, most, budget);
  const byDay = spans.map((span) => within(deadlines, span));
  const ids = byDay.flatMap((ofDay) => ofDay.slice(0, LISTED).map(({ id }) => id));
  const listed = new Map((await readOpportunities(catalog, ids, now)).map((opportunity) => [opportunity.id, opportunity]));
  const days = byDay.map((ofDay, n) => ({
    date: spans[n]?.date ?? "",
    count: ofDay.length,
    opportunities: ofDay.flatMap(({ id }) => listed.get(id) ?? []),
  }));
  const hasBars = isWhole && !budget.isSpent();
  const bars = hasBars ? spansFrom(sunday, BARS, 7) : [];
  const ofBars = hasBars ? deadlinesIn(index, filter, periodOf(bars), now, most) : [];
  const end = ofBars.length < COUNTED_MAX ? Number.POSITIVE_INFINITY : (ofBars.at(-1)?.due_at ?? 0); // Later weeks were not read.
  const weeks = bars.filter(({ until }) => until <= end).map((week) => ({ date: week.date, count: within(ofBars, week).length }));
  const isPartial = deadlines.length === COUNTED_MAX;
  return { weeks, days, total: deadlines.length, duplicates, isPartial, isWhole: hasBars, today, now };
}

function WeekBars({ weeks, given }: { weeks: ShownDeadlines["weeks"]; given: UrlQuery }) {
  const [first, last] = [weeks[0], weeks.at(-1)];
  if (first === undefined || last === undefined) return null;
  const span = `${dateInWords(first.date)} to ${dateInWords(later(last.date, 6))}`;
  return (
    <div class="week-bars">
      <Bars
        values={weeks.map(({ count }) => count)}
        names={weeks.map(({ date }) => `week of ${dateInWords(date)}`)}
        title={`Deadlines per week, ${span}. The first ${WEEKS} are those of the calendar.`}
        marked={WEEKS}
      />
      <FoldedTable
        summary="The numbers as a table"
        names={["Week of", "Deadlines"]}
        rows={weeks.map(({ date, count }) => [
          <a href={addressOf(PATH, { ...given, from: date })}>{dateInWords(date)}</a>,
          withCommas(count),
        ])}
      />
    </div>
  );
}

function Calendar({ shown, given }: { shown: ShownDeadlines; given: UrlQuery }) {
  const { weeks, days, total, duplicates, isPartial, isWhole, today } = shown;
  const [first, last] = [days[0]?.date ?? today, days.at(-1)?.date ?? today];
  return (
    <section aria-labelledby="weeks">
      <div class="weeks-bar">
        <h2 id="weeks" class="count">
          {isPartial && "more than "}
          {counted(total, "deadline")} from {wholeDate(first)} to {wholeDate(last)}
        </h2>
        <nav class="paging" aria-label="Weeks">
          <a href={addressOf(PATH, { ...given, from: later(first, -DAYS) })}>Earlier</a>
          {given.from !== undefined && <a href={addressOf(PATH, omit(given, "from"))}>This week</a>}
          <a href={addressOf(PATH, { ...given, from: later(first, DAYS) })}>Later</a>
        </nav>
      </div>
      <DuplicatesLeftOut duplicates={duplicates} address={addressOf(PATH, { ...given, all_sources: "yes" })} />
      {!isWhole && <p class="understood">{ENDED_EARLY}.</p>}
      <WeekBars weeks={weeks} given={given} />
      <p class="weekdays" aria-hidden="true">
        {days.slice(0, 7).map(({ date }) => (
          <span key={date}>{weekdayInWords(date)}</span>
        ))}
      </p>
      <ol class="calendar">
        {days.map((day) => (
          <DayCell day={day} shown={shown} given={given} />
        ))}
      </ol>
      {total === 0 && (
        <p class="empty">
          No deadlines in these weeks.{" "}
          <a href={addressOf("/", { ...omit(given, "from"), status: given.status ?? [...unendedStatuses], sort: "closes" })}>
            See all that are open or coming
          </a>
          , also without a date.
        </p>
      )}
    </section>
  );
}

function wholeDate(date: string): string {
  return dateInWords(date).replaceAll(" ", "\u00a0");
}

type DayProps = { day: ShownDeadlines["days"][number]; shown: ShownDeadlines; given: UrlQuery };

function DayCell({ day: { date, count, opportunities }, shown: { today, now }, given }: DayProps) {
  const kind = date === today ? "today" : date < today ? "past" : "";
  const ofDay = { closes_after: date, closes_before: later(date, 1), sort: "closes" };
  const all = addressOf("/", { ...omit(given, "from"), status: given.status ?? unendedStatuses, ...ofDay });
  return (
    <li class={`day ${kind} ${count === 0 ? "bare" : ""}`}>
      <h3>
        <time datetime={date}>
          <span class="weekday">{weekdayInWords(date)}, </span>
          {dateInWords(date).replace(/, \d{4}$/, "")}
        </time>
        {date === today && <> today</>}
      </h3>
      {opportunities.length > 0 && (
        <ul>
          {opportunities.map((opportunity) => {
            const doubts = doubtsOf(opportunity, now);
            return (
              <li>
                <a href={opportunityAddress(opportunity.id)}>{ellipsized(opportunity.title, TITLE_MAX)}</a>
                {doubts.length > 0 && <p class="quiet">{doubts.join(", ")}</p>}
              </li>
            );
          })}
        </ul>
      )}
      {count > opportunities.length && (
        <p>
          <a href={all}>
            {withCommas(count - opportunities.length)} more<span class="hidden"> on {dateInWords(date)}</span>
          </a>
        </p>
      )}
    </li>
  );
}
