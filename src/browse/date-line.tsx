/** @jsxImportSource hono/jsx */
/** The dates of an opportunity: a line of time with today and each deadline that moved, and the same dates as a list. */
import type { MovedDeadline } from "../events/moved-deadlines.ts";
import type { Due } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { dateInWords, startInWords } from "../text/date-in-words.ts";
import { easternAt } from "../text/eastern.ts";
import { counted } from "../text/in-words.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { cutText, Exact, Relative, Section } from "./marks.tsx";

type Sign = "posted" | "opens" | "due" | "expected" | "moved" | "expires";

/** A date of the line. `ms` is missing if the text is not a date. `to` is the new date of a moved deadline. */
type LineDate = { sign: Sign; name: string; at: string; ms: EpochMs | undefined; to?: EpochMs | undefined };

const LISTED = 8;

const NOTE_MAX = 3000;

const UNPLACED = Number.MAX_SAFE_INTEGER;

type Props = { opportunity: WholeOpportunity; due: Due; moved: readonly MovedDeadline[]; now: EpochMs };

/** The section of dates; nothing if none is stated. */
export function Dates({ opportunity, due, moved, now }: Props) {
  const dates = datesOf(opportunity, due, moved);
  if (dates.length === 0 && due.note === null) return null; // The line under the title says so.
  return (
    <Section class="dates" id="dates" title="Dates">
      {due.note !== null && <p>Deadline: {cutText(due.note, NOTE_MAX)}</p>}
      {dates.length > 0 && <Line dates={dates} now={now} />}
      {dates.length > 0 && <DateList dates={dates} now={now} />}
    </Section>
  );
}

function datesOf({ dates }: WholeOpportunity, due: Due, moved: readonly MovedDeadline[]): LineDate[] {
  const isExpected = due.kind === "expected";
  const [sign, name] = isExpected ? (["expected", "Expected"] as const) : (["due", "Due"] as const);
  const stated: [Sign, string, string | null][] = [
    ["posted", "Posted", dates.posted_at],
    ["opens", "Opens", dates.opens_at],
    ...due.dates.map(({ at, words }): [Sign, string, string] => [sign, words === null ? name : `${name}: ${cutText(words, 100)}`, at]),
    ["expected", "Expected: NIH standard due date", due.standard_at],
    ["expires", "Expires", due.kind === "expires" ? due.at : due.expires_at],
  ];
  const all: LineDate[] = [
    ...stated.flatMap(([sign, name, at]) => (at === null ? [] : [{ sign, name, at, ms: parseStoredMs(at) }])),
    ...moved.map(({ at, until, to }): LineDate => {
      return { sign: "moved", name: `Deadline until ${dateInWords(until)}`, at, ms: parseStoredMs(at), to: parseStoredMs(to) };
    }),
  ];
  return all.sort((left, right) => (left.ms ?? UNPLACED) - (right.ms ?? UNPLACED));
}

const shapes: Readonly<Record<Sign, string>> = {
  posted: "M0 -5a5 5 0 1 0 .01 0z",
  opens: "M-4 -6 6 0 -4 6z",
  due: "M0 7 -7 -5H7z",
  expected: "M0 7 -7 -5H7z",
  moved: "M0 7 -7 -5H7z",
  expires: "M-5 -5H5V5H-5z",
};

const [HEIGHT, MIDDLE] = [54, 36];

function Line({ dates, now }: { dates: readonly LineDate[]; now: EpochMs }) {
  const placed = dates.filter(({ ms }) => ms !== undefined) as (LineDate & { ms: EpochMs })[];
  const [first, last] = [placed[0], placed.at(-1)];
  if (first === undefined || last === undefined) return null;
  const { placeOf, cut } = scaleOf([...placed.map(({ ms }) => ms), now]);
  const isPlaced = (at: EpochMs | undefined): at is EpochMs => placed.some(({ ms }) => ms === at);
  const x = (ms: EpochMs) => `${placeOf(ms).toFixed(2)}%`;
  const [begin, end] = [first.ms < now ? first.at : easternAt(now), last.ms > now ? last.at : easternAt(now)].map((at) => dateInWords(at));
  const today = placeOf(now);
  return (
    <figure class="line-of-time">
      <svg width="100%" height={HEIGHT} role="img" aria-label={describe(placed, `${begin} to ${end}`)}>
        <line class="base" x1="0%" y1={MIDDLE} x2={cut === undefined ? "100%" : `${cut - 1}%`} y2={MIDDLE} />
        {cut !== undefined && <line class="base" x1={`${cut + 1}%`} y1={MIDDLE} x2="100%" y2={MIDDLE} />}
        {cut !== undefined && (
          <text class="cut" x={`${cut}%`} y={MIDDLE + 5} text-anchor="middle">
            ⁄⁄
          </text>
        )}
        <line class="now" x1={x(now)} y1="16" x2={x(now)} y2={HEIGHT} />
        <text class="now" x={x(now)} y="12" text-anchor={today < 8 ? "start" : today > 92 ? "end" : "middle"}>
          today
        </text>
        {placed.map(({ ms, to }) => isPlaced(to) && <line class="move" x1={x(ms)} y1={MIDDLE - 10} x2={x(to)} y2={MIDDLE - 10} />)}
        {placed
          .toSorted((left, right) => Number(right.sign === "moved") - Number(left.sign === "moved"))
          .map((date) => (
            <svg x={x(date.ms)} y={MIDDLE} overflow="visible" aria-hidden="true">
              <path class={classOf(date, now)} d={shapes[date.sign]}>
                <title>{`${date.name}: ${dateInWords(date.at)}`}</title>
              </path>
            </svg>
          ))}
      </svg>
      <p class="axis" aria-hidden="true">
        <span>{begin}</span>
        <span>{end}</span>
      </p>
      {cut !== undefined && <figcaption>The longest stretch without a date is shortened.</figcaption>}
    </figure>
  );
}

function classOf({ sign, ms }: LineDate, now: EpochMs): string {
  return `sign ${sign}${ms !== undefined && ms < now ? " past" : ""}`;
}

function describe(placed: readonly LineDate[], span: string): string {
  const [due, moved] = (["due", "moved"] as const).map((sign) => placed.filter((date) => date.sign === sign).length);
  const parts = [due ? counted(due, "due date") : "", moved ? `${counted(moved, "deadline")} that moved` : ""].filter(Boolean);
  return `Line of time, ${span}${parts.length > 0 ? `, with ${parts.join(" and ")}` : ""}. The list below has all dates.`;
}

const MARGIN = 2.5;
const SHARE = 3;

/** Where instants are, in percent of the line. A stretch longer than `SHARE` times all others is shortened to that; `cut` is its middle. */
function scaleOf(instants: readonly EpochMs[]): { placeOf: (ms: EpochMs) => number; cut: number | undefined } {
  const points = [...new Set(instants)].sort((left, right) => left - right);
  const gaps = points.slice(1).map((ms, n) => ms - (points[n] as number));
  const longest = gaps.indexOf(Math.max(...gaps));
  const others = gaps.reduce((sum, gap, n) => (n === longest ? sum : sum + gap), 0);
  const isCut = others > 0 && (gaps[longest] ?? 0) > SHARE * others;
  const drawn = gaps.map((gap, n) => (isCut && n === longest ? SHARE * others : gap));
  const length = drawn.reduce((sum, gap) => sum + gap, 0) || 1;
  const places = points.map((_, n) => MARGIN + ((100 - 2 * MARGIN) * drawn.slice(0, n).reduce((sum, gap) => sum + gap, 0)) / length);
  const placeOf = (ms: EpochMs) => (points.length === 1 ? 50 : (places[points.indexOf(ms)] ?? 0));
  return { placeOf, cut: isCut ? ((places[longest] ?? 0) + (places[longest + 1] ?? 0)) / 2 : undefined };
}

function DateList({ dates, now }: { dates: readonly LineDate[]; now: EpochMs }) {
  if (dates.length <= LISTED) return <Listed dates={dates} now={now} />;
  const due = dates.filter(({ sign }) => sign === "due");
  const chosen = [due.find(({ ms = 0 }) => ms >= now), due.at(-1)];
  const shown = dates.filter((date) => (date.sign === "due" || date.sign === "moved" ? chosen.includes(date) : true));
  return (
    <>
      <Listed dates={shown} now={now} />
      <details>
        <summary>All {dates.length} dates</summary>
        <Listed dates={dates} now={now} />
      </details>
    </>
  );
}

function Listed({ dates, now }: { dates: readonly LineDate[]; now: EpochMs }) {
  return (
    <ol class="date-list">
      {dates.map((date) => (
        <li key={`${date.sign} ${date.at}`}>
          <svg viewBox="-8 -8 16 16" width="14" height="14" aria-hidden="true">
            <path class={classOf(date, now)} d={shapes[date.sign]} />
          </svg>
          <span>
            <bdi class="quiet">{date.name}</bdi>
            <br />
            {date.sign === "moved" || (date.sign === "due" && (date.ms ?? now) < now) ? (
              <s>
                <Exact at={date.at} />
              </s>
            ) : date.sign === "posted" || date.sign === "opens" ? (
              <time dateTime={date.at}>{date.sign === "posted" ? dateInWords(date.at) : startInWords(date.at)}</time>
            ) : (
              <Exact at={date.at} />
            )}{" "}
            {date.sign !== "moved" && date.ms !== undefined && (
              <small>
                <Relative at={date.at} now={now} />
              </small>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
