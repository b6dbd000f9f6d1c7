/** @jsxImportSource hono/jsx */
/** The page with the addresses of a search for calendars and feed readers. */
import { fieldNames } from "../filter/filter.ts";
import { addressOf } from "./addresses.ts";
import type { BrowsePage } from "./page.ts";

/** The outputs to subscribe to. */
export type Subscriptions = { ics: string; atom: string; csv: string };

/** The rows of a table that is subscribed to: as many as an output has at most. */
const ROWS = "1000";

/** The paths of the outputs of a search. What they have no parameter for is left out. */
export function outputsFor(query: URLSearchParams): Subscriptions {
  const given = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, query.getAll(name).join(",")]));
  const search = [...fieldNames, "all_sources"];
  return {
    ics: addressOf("/find.ics", given(search)),
    csv: addressOf("/find.csv", { ...given([...search, "sort"]), limit: ROWS }),
    atom: addressOf("/changes.atom", given([...search, "type", "at_least"])),
  };
}

/** `isSigned`: whoever has an address can read what it leads to. */
export function subscribePage({ ics, csv, atom }: Subscriptions, isSigned = false): BrowsePage {
  const body = (
    <>
      <h1>Subscribe to this search</h1>
      <p class="lead">Copy an address into a program that subscribes to it.</p>
      <dl class="subscribe">
        <dt>Deadlines, for a calendar</dt>
        <dd>
          <code>{ics}</code>
        </dd>
        <dt>Rows, for a spreadsheet (at most 1,000)</dt>
        <dd>
          <code>{csv}</code>
        </dd>
        <dt>What changes, for a feed reader</dt>
        <dd>
          <code>{atom}</code>
        </dd>
      </dl>
      {isSigned && (
        <p>
          These addresses need no key: whoever has one can read this search, until your key is revoked or expires. Each request counts as
          one of your key.
        </p>
      )}
    </>
  );
  return { title: "Subscribe", body };
}
