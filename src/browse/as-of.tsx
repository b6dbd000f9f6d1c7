/** @jsxImportSource hono/jsx */
/** Pages as of an earlier instant: reading the instant in an address, the line above a page, and the field to choose a day. (E-91) */
import type { Child } from "hono/jsx";
import { momentOf } from "../filter/kinds.ts";
import { NoSuchPast, PastNotReady } from "../past/kept-past.ts";
import { capitalized } from "../text/capitalized.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { addressOf, type UrlQuery } from "./addresses.ts";
import { cutText } from "./marks.tsx";
import type { BrowsePage } from "./page.ts";
import { InputField, omit, type SearchForm } from "./search-form.tsx";
import { Exact } from "./times.tsx";

/** The instant that an address asks for, and its text in the links of a page. */
export type AsOf = { given: string; at: EpochMs };

/** Why a page of an earlier instant cannot be shown: 400 for no such instant, 404 if nothing is known of it, 503 while its records are made. */
export class NoPastPage extends Error {
  constructor(
    readonly status: 400 | 404 | 503,
    readonly reason: Child,
    message = "",
  ) {
    super(message);
  }
}

/** The instant in an address; undefined without one. Throws a NoPastPage if it is not in the past. */
export function readAsOf(query: URLSearchParams, now: EpochMs): AsOf | undefined {
  const given = query
    .getAll("as_of")
    .filter((text) => text.trim() !== "")
    .join(","); // Several are no date, and are refused.
  if (given === "") return undefined;
  const at = momentOf(given, now);
  const is = "is no day of the past, such as 2026-03-01";
  if (at === undefined || at > now) throw new NoPastPage(400, `“${cutText(given, 100)}” ${is}.`, `It ${is}.`);
  const isRelative = momentOf(given, 0) !== momentOf(given, 1);
  return { given: isRelative ? formatInstant(at) : given, at };
}

/** The NoPastPage for an error of `KeptPast.use`. Other errors are returned as they are. */
export function noPastOf(error: unknown, { at }: Pick<AsOf, "at">): unknown {
  if (!(error instanceof NoSuchPast || error instanceof PastNotReady)) return error;
  const reason = (
    <>
      As of <Exact at={formatInstant(at)} />
      {error instanceof PastNotReady ? ": " : " it is not known: "}
      {error.message}.
    </>
  );
  return new NoPastPage(error instanceof PastNotReady ? 503 : 404, reason, `${capitalized(error.message)}.`);
}

/** Seconds after which a page that is being made is asked for again. */
export const RETRY_SECONDS = 3;

/** The page that is shown instead: it says why, and has a field for another day. */
export function noPastPage({ status, reason }: NoPastPage, path: string, query: UrlQuery): BrowsePage {
  const title = { 400: "No such day", 404: "Not known", 503: "One moment" }[status];
  const body = (
    <>
      <h1>{title}</h1>
      <p>
        {reason} {status === 503 && "This page then shows them by itself. "}
        <NowLink address={addressOf(path, omit(query, "as_of", "after"))} />
      </p>
      {status !== 503 && <AsOfForm action={path} query={query} />}
    </>
  );
  return { title, section: "find", status, body, ...(status === 503 && { reloadSeconds: RETRY_SECONDS }) };
}

function NowLink({ address }: { address: string }) {
  return <a href={address}>Show it as it is now</a>;
}

/** The line above a page of the past. `address` shows the same page as it is now. `unknown` says what is not known of it. */
export function PastNote({ at, address, unknown }: { at: EpochMs; address: string; unknown?: string | undefined }) {
  return (
    <p class="past" role="note">
      As it was on <Exact at={formatInstant(at)} />
      {unknown !== undefined && `; ${unknown}`}. <NowLink address={address} />
    </p>
  );
}

/** The line above a page that only shows the present, if its address has an instant. */
export function PresentNote({ asOf: { at, given } }: { asOf: AsOf }) {
  return (
    <p class="past" role="note">
      This page is as of now, not of <Exact at={formatInstant(at)} />.{" "}
      <a href={addressOf("/", { as_of: given })}>Opportunities as they were then</a>
    </p>
  );
}

/** A form with only the day. The other parameters of the address stay. */
export function AsOfForm({ action, query = {} }: { action: string; query?: UrlQuery }) {
  const others = Object.entries(omit(query, "as_of", "after")).filter(([, text]) => text !== "");
  return (
    <form action={action} class="as-of">
      {others.map(([name, text]) => (
        <input key={name} type="hidden" name={name} value={`${text}`} />
      ))}
      <label>
        As it was at the beginning of <input type="date" name="as_of" required />
      </label>{" "}
      <button type="submit">Show</button>
    </form>
  );
}

/** The day among the filters of a form. */
export function AsOfField({ form }: { form: SearchForm }) {
  const isDay = /^(\d{4}-\d\d-\d\d)?$/.test(form.given.as_of ?? "");
  return (
    <section class="group">
      <h2>The past</h2>
      <div class="members">
        <InputField
          name="as_of"
          label="As it was at the beginning of"
          form={form}
          help="empty: now"
          {...(isDay && { type: "date" as const })}
        />
      </div>
    </section>
  );
}
