/** @jsxImportSource hono/jsx */
/** Small signs that several pages show: severity, status, amounts, facts, and times as they were published and how far away they are. */
import type { Child } from "hono/jsx";
import { type Severity, severities } from "../events/event.ts";
import { type Due, dueParts, isDueSoon } from "../opportunities/due.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { statusThere } from "../opportunities/related.ts";
import { statusInWords } from "../opportunities/status.ts";
import { dateInWords, timeInWords, whenInWords } from "../text/date-in-words.ts";
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, dateAt, type EpochMs, parseStoredMs } from "../text/instant.ts";
import { relativeTime } from "../text/relative-time.ts";
import { webAddress } from "../text/web-address.ts";
import { addressOf, omit, opportunityAddress, type UrlQuery } from "./page.ts";

const shapes: Readonly<Record<Severity, string>> = {
  critical: "M8 1 15 8 8 15 1 8z",
  material: "M8 2 15 14 1 14z",
  informational: "M8 3a5 5 0 1 0 .01 0z",
  cosmetic: "M8 5a3 3 0 1 0 .01 0z",
  noise: "M3 7h10v2H3z",
  unknown: "M3 3h10v10H3z",
};

export function SeverityMark({ severity }: { severity: string }) {
  const known = severities.find((each) => each === severity) ?? "unknown";
  return (
    <span class={`severity ${known}`}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d={shapes[known]} />
      </svg>
      {known}
    </span>
  );
}

export function StatusBadge({ status }: { status: string }) {
  const kind = { open: "open", closing_soon: "soon", forecast: "coming", pre_release: "coming" }[status] ?? "over";
  return <span class={`status ${kind}`}>{statusInWords(status)}</span>;
}

type FactLineProps = {
  facts: readonly (string | null | undefined)[];
  duplicates: readonly Opportunity[];
  status: string;
  children?: Child;
};

/** A line of facts about a record, those that it has, and where else it is. `children` come first. */
export function FactLine({ facts, duplicates, status, children }: FactLineProps) {
  return (
    <p class="facts">
      {children}
      {facts.map((fact) => fact != null && <span>{cutText(fact, 200)}</span>)}
      <AlsoAtLinks duplicates={duplicates} shown={status} />
    </p>
  );
}

/** "also at NSF, SBIR.gov (closed there)" with links, next to a record whose status is `shown`; nothing without linked records. */
export function AlsoAtLinks({ duplicates, shown }: { duplicates: readonly Opportunity[]; shown: string }) {
  if (duplicates.length === 0) return null;
  const links = duplicates.map(({ id, source, status }) => [
    <a href={opportunityAddress(id)}>{cutText(source.name, 100)}</a>,
    statusThere(status, shown),
  ]);
  return <span>also at {withBetween(links)}</span>;
}

/** Parts of a line, with commas or another text between them. */
export function withBetween(parts: readonly Child[], between = ", "): Child[] {
  return parts.map((part, n) => (n === 0 ? part : [between, part]));
}

/** The title of an opportunity, as a link to its page. */
export function TitleLink({ id, title, max, asOf }: { id: string; title: string; max: number; asOf?: string | undefined }) {
  return (
    <a href={opportunityAddress(id, asOf)}>
      <bdi>{cutText(title, max)}</bdi>
    </a>
  );
}

/** A link to another site, if the address is one of the web; otherwise only the text. */
export function ExternalLink({ url, children, class: kind }: { url: string | null | undefined; children: Child; class?: string }) {
  const address = webAddress(url ?? null);
  if (address === undefined) return <>{children}</>;
  return (
    <a class={kind} href={address} rel="noreferrer external">
      {children}
    </a>
  );
}

/** The last item of a list that shows only some of its items; nothing if it shows all. */
export function MoreItems({ count }: { count: number }) {
  return count > 0 ? <li class="quiet">{withCommas(count)} more</li> : null;
}

type SectionProps = { id: string; title: Child; class?: string; children: Child };

export function Section({ id, title, class: kind, children }: SectionProps) {
  return (
    <section class={kind} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** How many records were left out because another one of their opportunity is shown, and where each is; nothing if none was. */
export function DuplicatesLeftOut({ duplicates, address }: { duplicates: number; address: string }) {
  if (duplicates === 0) return null;
  return (
    <p class="understood">
      {counted(duplicates, "more record")} of the same opportunities. <a href={address}>Show each</a>
    </p>
  );
}

export function Fact({ name, children }: { name: string; children: Child }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

type TableProps = { names: readonly Child[]; rows: readonly (readonly [Child, ...Child[]])[]; class?: string };

/** A table with the names of its columns. The first cell of each row is its head. */
export function Table({ names, rows, class: kind }: TableProps) {
  return (
    <table class={kind}>
      <thead>
        <tr>
          {names.map((name) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...cells]) => (
          <tr>
            <th scope="row">{head}</th>
            {cells.map((cell) => (
              <td>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function FoldedTable({ summary, ...table }: TableProps & { summary: Child }) {
  return (
    <details class="numbers">
      <summary>{summary}</summary>
      <Table {...table} />
    </details>
  );
}

type PagingProps = { label: string; path: string; given: UrlQuery; next: UrlQuery | undefined | ""; first: string; further: string };

/** Links to the first page of a list and to the next one. `first` and `further` are their texts, `next` is what the next has in its address. */
export function Paging({ label, path, given, next, first, further }: PagingProps) {
  if (given.after === undefined && !next) return null;
  return (
    <nav class="paging" aria-label={label}>
      {given.after !== undefined && <a href={addressOf(path, omit(given, "after"))}>{first}</a>}
      {next && (
        <a class="button" href={addressOf(path, { ...given, ...next })} rel="next">
          {further}
        </a>
      )}
    </nav>
  );
}

/** Cuts a text that is too long for a page, and marks the cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).toWellFormed()} … (${withCommas(text.length - max)} more characters)`;
}

/** "in 12 days"; the exact time is shown when the pointer rests on it. */
export function Relative({ at, now }: { at: string; now: EpochMs }) {
  const ms = parseStoredMs(at);
  return (
    <time dateTime={at} title={timeInWords(at)}>
      {ms === undefined ? at : relativeTime(ms, now)}
    </time>
  );
}

/** "today" or "12 days ago", for a date without a time. */
export function DaysAgo({ date, now }: { date: string; now: EpochMs }) {
  const today = Date.parse(dateAt(now));
  const midnight = Date.parse(date);
  return (
    <time dateTime={date} title={dateInWords(date)}>
      {midnight >= today ? "today" : midnight === today - DAY_MS ? "yesterday" : relativeTime(midnight, today)}
    </time>
  );
}

/** "Dec 4, 2026, 5:00 PM ET" */
export function Exact({ at }: { at: string }) {
  return <time dateTime={at}>{whenInWords(at)}</time>;
}

/** When it is due: the sentence of `dueInWords`, preceded by how far away that is. */
export function DueLine({ due, now }: { due: Due; now: EpochMs }) {
  const { first, verb, when, distance, more } = dueParts(due, now);
  const { kind, at } = due;
  const words = capitalized(first + verb);
  const rest = more.map((part) => (kind === "in_words" ? `: ${part}` : `; ${part}`)).join("");
  if (at === null) {
    return (
      <span class="quiet">
        {words}
        {rest}
      </span>
    );
  }
  // "Due in 12 days Dec 4, 2026", but "accepted anytime until Dec 31, 2026 in 86 days".
  const [main, besides] = distance === "" || kind === "anytime" ? [when, distance] : [distance, when];
  return (
    <span class={`due ${kind === "over" ? "past" : isDueSoon(due, now) ? "soon" : "later"}`}>
      <strong>
        {words}{" "}
        <time dateTime={at} title={when}>
          {main}
        </time>
      </strong>{" "}
      <span class="quiet">
        {besides}
        {rest}
      </span>
    </span>
  );
}
