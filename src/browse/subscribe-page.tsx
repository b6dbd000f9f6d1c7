/** @jsxImportSource hono/jsx */
/** The page with the addresses of a search for calendars and feed readers. */
import { fieldNames } from "../filter/filter.ts";
import { Fact, Section } from "./marks.tsx";
import { addressOf, type BrowsePage } from "./page.ts";

export type Subscriptions = { ics: string; atom: string; csv: string };

const ROWS = "1000";

/** The addresses of the outputs of a search. Fields that are not parameters of an output are left out. */
export function outputsFor(query: URLSearchParams, origin = ""): Subscriptions {
  const given = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, query.getAll(name).join(",")]));
  const search = [...fieldNames, "all_sources"];
  return {
    ics: addressOf(`${origin}/find.ics`, given(search)),
    csv: addressOf(`${origin}/find.csv`, { ...given([...search, "sort"]), limit: ROWS }),
    atom: addressOf(`${origin}/changes.atom`, given([...search, "type", "at_least"])),
  };
}

/** `isSigned`: anyone who has an address can read the output. */
export function subscribePage({ ics, csv, atom }: Subscriptions, isSigned = false, what = "this search"): BrowsePage {
  const body = (
    <>
      <h1>Subscribe to {what}</h1>
      <p class="lead">Your calendar, spreadsheet or feed reader asks for the newest state by itself.</p>
      <Section class="subscription" id="calendar" title="Deadlines in a calendar">
        <p>
          <a class="button" href={ics.replace(/^https?:/, "webcal:")}>
            Open in your calendar
          </a>
        </p>
        <Address id="ics" address={ics} />
        <dl>
          <Fact name="Google Calendar">Beside “Other calendars” choose +, then “From URL”, and paste the address.</Fact>
          <Fact name="Outlook">Choose “Add calendar”, then “Subscribe from web”, and paste the address.</Fact>
          <Fact name="Apple Calendar">Press the button above, or choose “New Calendar Subscription” and paste the address.</Fact>
        </dl>
      </Section>
      <Section class="subscription" id="reader" title="Changes in a feed reader">
        <p>Paste the address where your reader adds a feed.</p>
        <Address id="atom" address={atom} />
      </Section>
      <Section class="subscription" id="spreadsheet" title="Rows in a spreadsheet">
        <p>At most 1,000. In Google Sheets: =IMPORTDATA("…") with the address; in Excel: Data, From Web.</p>
        <Address id="csv" address={csv} />
      </Section>
      {isSigned && (
        <p>
          Keep these addresses to yourself: whoever has one can read {what}, as long as you may sign in here. Each request counts as one of
          yours.
        </p>
      )}
    </>
  );
  return { title: "Subscribe", body, hasCopyButtons: true };
}

function Address({ id, address }: { id: string; address: string }) {
  return (
    <p class="address">
      <code id={id}>{address}</code>{" "}
      <button type="button" data-copies={id} data-second hidden>
        Copy
      </button>
    </p>
  );
}
