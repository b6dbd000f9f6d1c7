/** @jsxImportSource hono/jsx */
/** The first page: the form, and the opportunities open for applications, by next deadline. */

import { shortNameOf } from "../agencies/understand.ts";
import { amountInShort } from "../opportunities/funding.ts";
import { obstacleOf } from "../opportunities/obstacle.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { CLOSING_SOON_MS, openStatuses } from "../opportunities/status.ts";
import { deadlinesIn } from "../search/deadlines.ts";
import { hinderedInWords } from "../search/hindered.ts";
import { countOpenings, type DepartmentOpenings, type Openings } from "../search/openings.ts";
import { readFreshness, silentInWords } from "../sources/freshness.ts";
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import { SortField } from "./find-page.tsx";
import { Fact, Section, Table } from "./marks.tsx";
import { addressOf, type BrowsePage, type PageContext, type UrlQuery } from "./page.ts";
import { Results, withLastChanges } from "./results.tsx";
import { readSearchForm, SearchFields } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";

const LISTED = 20;
const DEPARTMENTS = 8;
const AFTER_ALL = 8.64e15;

/** The page at `/` without a search. */
export async function homePage({ catalog, index, now, query }: PageContext): Promise<BrowsePage> {
  const form = await readSearchForm({ catalog, index, query, now }, {});
  const next = deadlinesIn(index, { status: [...openStatuses] }, { since: now, until: AFTER_ALL }, now, {
    limit: 2 * LISTED,
    allSources: false,
  });
  const ids = next.map(({ id }) => id);
  const duplicates = await readDuplicates(catalog, ids, now);
  const found = (await readOpportunities(catalog, ids, now)).map((opportunity) => {
    return {
      opportunity,
      snippet: null,
      isMatch: true,
      isFar: false,
      missing: [],
      named: [],
      duplicates: duplicates.get(opportunity.id) ?? [],
    };
  });
  const coming = found.filter(({ opportunity, duplicates }) => obstacleOf(opportunity, now, duplicates) === null).slice(0, LISTED);
  const results = await withLastChanges(catalog, coming);
  const openings = countOpenings(index);
  const silent = silentInWords(await readFreshness(catalog, now));
  const body = (
    <>
      <h1>Find funding opportunities</h1>
      <SearchFields action="/" form={form} now={now}>
        <SortField form={form} usual="relevance" />
      </SearchFields>
      <OpeningCounts openings={openings} now={now} />
      {silent !== null && <p class="understood">{capitalized(silent)}. What is open there may be over.</p>}
      <div class="columns">
        <Section class="main" id="next" title="Due next">
          {results.length === 0 && (
            <p class="empty">
              {openings.open === 0 ? "Nothing is open." : "Nothing that is open states a date that lies ahead."} If this catalog is new, its
              first import has not ended: <a href="/sources">Sources</a> says what is there.
            </p>
          )}
          <Results results={results} now={now} />
          <p class="paging">
            <a class="button" href={openAddress({})}>
              All that are open, by deadline
            </a>
            <a href={addressOf("/", { sort: "updated" })}>All opportunities, by last change</a>
          </p>
          <TakeAlong form={{ ...form, given: { status: openStatuses.join(",") } }} of="find" own={{ sort: "closes" }} />
        </Section>
        {openings.open > 0 && (
          <aside aria-labelledby="departments">
            <h2 id="departments">Open by department</h2>
            <Departments departments={openings.departments} />
          </aside>
        )}
      </div>
    </>
  );
  return { title: "Find opportunities", section: "find", body };
}

function openAddress(query: UrlQuery): string {
  return addressOf("/", { ...query, status: openStatuses, sort: "closes" });
}

function OpeningCounts({ openings: { open, uncounted, coming, dueAt, departments }, now }: { openings: Openings; now: EpochMs }) {
  const days = CLOSING_SOON_MS / DAY_MS;
  const soon = dueAt.filter((at) => at >= now && at < now + CLOSING_SOON_MS).length;
  return (
    <section aria-labelledby="open">
      <h2 id="open" class="count">
        {counted(open, "opportunity", "opportunities")} can be applied for
      </h2>
      <dl class="figures openings">
        <Fact name={`Due within ${days} days`}>
          <a href={openAddress({ closes_after: "0d", closes_before: `${days}d` })}>{withCommas(soon)}</a>
        </Fact>
        <Fact name="Due later">
          <a href={openAddress({ closes_after: `${days}d` })}>{withCommas(dueAt.filter((at) => at >= now + CLOSING_SOON_MS).length)}</a>
        </Fact>
        <Fact name="No date stated">{withCommas(open - dueAt.length)}</Fact>
        <Fact name="Forecast">
          <a href={addressOf("/", { status: ["forecast", "pre_release"], sort: "closes" })}>{withCommas(coming)}</a>
        </Fact>
        {departments.length > 0 && (
          <Fact name="Departments">
            <a href="#departments">{withCommas(departments.length)}</a>
          </Fact>
        )}
      </dl>
      {uncounted.length > 0 && <p class="understood">Not counted, though their sources call them open: {hinderedInWords(uncounted)}.</p>}
    </section>
  );
}

function Departments({ departments }: { departments: readonly DepartmentOpenings[] }) {
  const [first, others] = [departments.slice(0, DEPARTMENTS), departments.slice(DEPARTMENTS)];
  const most = departments[0]?.opportunities ?? 1;
  const table = (some: readonly DepartmentOpenings[]) => (
    <Table
      class="departments"
      names={["Department", "Open", "Awards"]}
      rows={some.map(({ agency, opportunities, withAmount, amount }) => [
        <>
          {agency === undefined ? "Others" : <a href={openAddress({ agency: shortNameOf(agency) })}>{agency.name}</a>}
          <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width={Math.max(0.5, (100 * opportunities) / most)} height="4" class="part" />
          </svg>
        </>,
        withCommas(opportunities),
        withAmount > 0 && amountInShort(amount),
      ])}
    />
  );
  return (
    <>
      {table(first)}
      {others.length > 0 && (
        <details>
          <summary>{others.length} more</summary>
          {table(others)}
        </details>
      )}
      <p class="hint">Awards: the largest award of each opportunity that states one, added up.</p>
    </>
  );
}
