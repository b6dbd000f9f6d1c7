/** @jsxImportSource hono/jsx */
/** An opportunity as of an earlier instant: reading the instant in an address, the line above the page, and the field to choose a day. */
import type { Child } from "hono/jsx";
import { BadValue } from "../text/bad-value.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { AS_OF, isRelativeMoment, readMoment } from "../text/moment.ts";
import type { BrowsePage } from "./page.ts";
import { Exact } from "./times.tsx";

type AsOf = { given: string; at: EpochMs };

/** The instant in an address; null if there is none; a message if it is not an instant of the past. */
export function readAsOf(given: readonly string[], now: EpochMs): AsOf | BadValue | null {
  const text = given.filter((each) => each.trim() !== "").join(","); // Several values are not a date, so they are refused.
  if (text === "") return null;
  try {
    const at = readMoment(text, now, AS_OF);
    return { given: isRelativeMoment(text) ? formatInstant(at) : text, at };
  } catch (error) {
    if (error instanceof BadValue) return error;
    throw error;
  }
}

/** The page that is shown if the instant is not in the past, or if the opportunity, at this address, was not known then. */
export function noPastPage(status: 400 | 404, title: string, reason: Child, address: string): BrowsePage {
  const body = (
    <>
      <h1>{title}</h1>
      <p>
        {reason} <a href={address}>{SHOW_NOW}</a>
      </p>
      <AsOfForm address={address} />
    </>
  );
  return { title, section: "find", status, body };
}

const SHOW_NOW = "Show it as it is now";

/** The line above a page of the past. `address` shows the same page as it is now. `unknown`: which data of that time is missing. */
export function PastNote({ at, address, unknown }: { at: EpochMs; address: string; unknown: string | undefined }) {
  return (
    <p class="past-note" role="note">
      As it was on <Exact at={formatInstant(at)} />
      {unknown !== undefined && `; ${unknown}`}. <a href={address}>{SHOW_NOW}</a>
    </p>
  );
}

export function AsOfForm({ address }: { address: string }) {
  return (
    <form action={address} class="as-of">
      <label>
        As it was at the beginning of <input type="date" name="as_of" required />
      </label>{" "}
      <button type="submit" data-second>
        Show
      </button>
    </form>
  );
}
