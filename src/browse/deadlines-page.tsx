/** @jsxImportSource hono/jsx */
/** The page of deadlines: a calendar of six weeks. */
import type { CatalogDb } from "../../db/engine.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { acceptingStatuses } from "../search/accepting.ts";
import { COUNTED_MAX } from "../search/candidates.ts";
import { type Deadline, listDeadlines } from "../search/deadlines.ts";
import type { SearchFile } from "../search/search-file.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { easternDate, easternInstant } from "../text/eastern.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import { addressOf, opportunityAddress, type UrlQuery } from "./addresses.ts";
import { cutText, TwinsLeftOut } from "./marks.tsx";
import { dateOf } from "./own-fields.ts";
import type { BrowsePage, PageContext } from "./page.ts";
import { InputField, omit, readSearchForm, SearchFields, type SearchForm, tidyAddress } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";
import { utcDate } from "./times.tsx";

const PATH = "/deadlines";
const WEEKS = 6;
const DAYS = 7 * WEEKS;
/** Opportunities that a day lists. The others are on the page of results that its number leads to. */
const LISTED = 3;
const TITLE_MAX = 110;

type Day = { date: string; count: number; opportunities: readonly WholeOpportunity[] };
type Shown = { days: readonly Day[]; total: number; twins: number; isPartial: boolean; today: string };

export async function deadlinesPage({ catalog, index, now, query }: PageContext): Promise<BrowsePage> {
  const location = tidyAddress(PATH, query);
  if (location !== undefined) return { location };
  const form = await readSearchForm(
    { catalog, index, query },
    {
      from: dateOf((text) => startOf(text) !== undefined, "The first day."),
    },
  );
  const [title, section] = ["Deadlines", "deadlines"] as const;
  if (form.errors.size > 0) return { title, section, status: 400, body: <DeadlinesBody form={form} now={now} /> };
  const shown = await readDays(catalog, index, form, now);
  return { title, section, body: <DeadlinesBody form={form} now={now} shown={shown} /> };
}

/** The midnight that a date begins with, US Eastern time; undefined if there is no such date. */
function startOf(date: string): EpochMs | undefined {
  const midnight = /^\d{4}-\d\d-\d\d$/.test(date) ? easternInstant(date, "00:00:00") : undefined;
  return midnight === undefined ? undefined : Date.parse(midnight);
}

/** A date so many days later. */
function later(date: string, days: number): string {
  return utcDate(Date.parse(date) + days * DAY_MS);
}

async function readDays(catalog: CatalogDb, index: SearchFile, form: SearchForm, now: EpochMs): Promise<Shown> {
  const today = easternDate(now);
  const from = form.given.from ?? today;
  const sunday = later(from, -new Date(`${from}T00:00:00Z`).getUTCDay());
  const dates = Array.from({ length: DAYS + 1 }, (_, n) => later(sunday, n));
  const starts = dates.map((date) => startOf(date) ?? Number.NaN);
  const period = { since: starts[0] ?? now, until: starts[DAYS] ?? now };
  const most = { limit: COUNTED_MAX, allSources: form.allSources };
  const { deadlines, twins } = listDeadlines(index, { status: [...acceptingStatuses], ...form.resolved }, period, now, most);
  const byDay = Array.from({ length: DAYS }, (_, n) => deadlines.filter(({ due_at }) => isWithin(due_at, starts[n], starts[n + 1])));
  const listed = new Map((await readListed(catalog, byDay, now)).map((opportunity) => [opportunity.id, opportunity]));
  const days = byDay.map((ofDay, n) => ({
    date: dates[n] ?? "",
    count: ofDay.length,
    opportunities: ofDay.flatMap(({ id }) => listed.get(id) ?? []),
  }));
  return { days, total: deadlines.length, twins, isPartial: deadlines.length === COUNTED_MAX, today };
}

function isWithin(at: EpochMs, since = 0, until = 0): boolean {
  return at >= since && at < until;
}

async function readListed(catalog: CatalogDb, byDay: readonly (readonly Deadline[])[], now: EpochMs): Promise<WholeOpportunity[]> {
  const ids = byDay.flatMap((ofDay) => ofDay.slice(0, LISTED).map(({ id }) => id));
  return readOpportunities(catalog, ids, now);
}

function DeadlinesBody({ form, now, shown }: { form: SearchForm; now: EpochMs; shown?: Shown }) {
  return (
    <>
      <h1>Deadlines</h1>
      <SearchFields action={PATH} form={form} now={now}>
        <InputField name="from" label="From" form={form} help="empty: this week" type="date" />
      </SearchFields>
      {shown === undefined ? <p class="empty">Correct the marked values to see deadlines.</p> : <Calendar shown={shown} form={form} />}
      {shown !== undefined && <TakeAlong form={form} of="find" own={{ status: form.given.status ?? acceptingStatuses, sort: "closes" }} />}
    </>
  );
}

function Calendar({ shown: { days, total, twins, isPartial, today }, form: { given } }: { shown: Shown; form: SearchForm }) {
  const [first, last] = [days[0]?.date ?? today, days.at(-1)?.date ?? today];
  const count = `${isPartial ? "more than " : ""}${total.toLocaleString("en-US")}`;
  return (
    <section aria-labelledby="weeks">
      <div class="weeks-bar">
        <h2 id="weeks" class="count">
          {count} {total === 1 ? "deadline" : "deadlines"} from {dateInWords(first)} to {dateInWords(last)}
        </h2>
        <nav class="paging" aria-label="Weeks">
          <a href={addressOf(PATH, { ...given, from: later(first, -DAYS) })}>Earlier</a>
          {given.from !== undefined && <a href={addressOf(PATH, omit(given, "from"))}>This week</a>}
          <a href={addressOf(PATH, { ...given, from: later(first, DAYS) })}>Later</a>
        </nav>
      </div>
      <TwinsLeftOut twins={twins} address={addressOf(PATH, { ...given, all_sources: "yes" })} />
      <p class="weekdays" aria-hidden="true">
        {days.slice(0, 7).map(({ date }) => (
          <span key={date}>{weekdayInWords(date)}</span>
        ))}
      </p>
      <ol class="calendar">
        {days.map((day) => (
          <DayCell key={day.date} day={day} today={today} given={given} />
        ))}
      </ol>
      {total === 0 && <p class="empty">No deadlines in these weeks.</p>}
    </section>
  );
}

function DayCell({ day: { date, count, opportunities }, today, given }: { day: Day; today: string; given: UrlQuery }) {
  const kind = date === today ? "today" : date < today ? "past" : "";
  const statuses = given.status ?? [...acceptingStatuses];
  const all = addressOf("/", {
    ...omit(given, "from"),
    status: statuses,
    closes_after: date,
    closes_before: later(date, 1),
    sort: "closes",
  });
  return (
    <li class={`day ${kind} ${count === 0 ? "bare" : ""}`}>
      <h3>
        <time datetime={date}>
          <span class="weekday">{weekdayInWords(date)}, </span>
          {dateInWords(date).replace(/, \d{4}$/, "")}
        </time>
        {date === today && <span class="now"> today</span>}
      </h3>
      {opportunities.length > 0 && (
        <ul>
          {opportunities.map(({ id, title }) => (
            <li key={id}>
              <a href={opportunityAddress(id)}>{cutTitle(title)}</a>
            </li>
          ))}
        </ul>
      )}
      {count > opportunities.length && (
        <p>
          <a href={all}>
            {(count - opportunities.length).toLocaleString("en-US")} more<span class="hidden"> on {dateInWords(date)}</span>
          </a>
        </p>
      )}
    </li>
  );
}

function cutTitle(title: string): string {
  return title.length <= TITLE_MAX ? title : `${cutText(title, TITLE_MAX).replace(/ … \(.*$/, "")}…`;
}
