/** @jsxImportSource hono/jsx */
/** The page of search results. */
import type { CatalogDb } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { listOpportunityEvents } from "../events/list.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readTwins } from "../opportunities/related.ts";
import { defaultSort, type Found, type FoundPage, find, MATCH_BEGIN, MATCH_END, type Sort, sorts } from "../search/find.ts";
import { numberOf } from "../search/number.ts";
import type { EpochMs } from "../text/instant.ts";
import { addressOf, opportunityAddress } from "./addresses.ts";
import { changeInShort } from "./history.tsx";
import { AlsoAtLinks, awardsInWords, cutText, SeverityMark, StatusBadge, TwinsLeftOut } from "./marks.tsx";
import type { BrowsePage, PageContext } from "./page.ts";
import { omit, readSearchForm, SearchFields, type SearchForm, SelectField, tidyAddress } from "./search-form.tsx";
import { Due, Relative } from "./times.tsx";

const PAGE_SIZE = 20;
/** More results are not counted. */
const COUNTED_MAX = 10_000;
export const TITLE_MAX = 600;

type Result = {
  opportunity: WholeOpportunity;
  twins: readonly WholeOpportunity[];
  snippet: string | null;
  lastChange: OpportunityEvent | undefined;
};

export async function findPage({ catalog, index, now, query }: PageContext): Promise<BrowsePage> {
  const location = tidyAddress("/", query);
  if (location !== undefined) return { location };
  const form = await readSearchForm({ catalog, index, query }, { sort: isSort, after: () => true });
  const { given, errors } = form;
  const title = given.words === undefined ? "Find opportunities" : `${cutText(given.words, 80)} – Find`;
  if (errors.size > 0) return { title, section: "find", status: 400, body: <FindBody form={form} now={now} /> };
  const { sort, after } = given;
  const search = {
    filter: form.resolved,
    sort: sort as Sort | undefined,
    after,
    limit: PAGE_SIZE,
    countAtMost: COUNTED_MAX + 1,
    allSources: form.allSources,
  };
  const page = find(index, search, now);
  const results = await readResults(catalog, page.found, now);
  return { title, section: "find", body: <FindBody form={form} now={now} results={results} page={page} /> };
}

function isSort(text: string): boolean {
  return sorts.some((sort) => sort === text);
}

async function readResults(catalog: CatalogDb, found: readonly Found[], now: EpochMs): Promise<Result[]> {
  const snippets = new Map(found.map(({ id, snippet }) => [id, snippet]));
  const ids = found.map(({ id }) => id);
  const [opportunities, twins] = [await readOpportunities(catalog, ids, now), await readTwins(catalog, ids, now)];
  const changes = await Promise.all(opportunities.map(({ id }) => lastChangeOf(catalog, id)));
  return opportunities.map((opportunity, n) => ({
    opportunity,
    twins: twins.get(opportunity.id) ?? [],
    snippet: snippets.get(opportunity.id) ?? null,
    lastChange: changes[n],
  }));
}

/** The newest change of some significance. */
async function lastChangeOf(catalog: CatalogDb, id: string): Promise<OpportunityEvent | undefined> {
  const page = await listOpportunityEvents({ db: catalog }, id, { include_insignificant: false }, 1, null);
  const [document] = page?.documents ?? [];
  return document === undefined ? undefined : JSON.parse(new TextDecoder().decode(document));
}

type BodyProps = { form: SearchForm; now: EpochMs; results?: readonly Result[]; page?: FoundPage };

function FindBody({ form, now, results, page: { total, twins, next } = { total: 0, twins: 0, found: [], next: null } }: BodyProps) {
  return (
    <>
      <h1>Find funding opportunities</h1>
      <SearchFields action="/" form={form} now={now}>
        <SortField form={form} />
      </SearchFields>
      {results === undefined ? (
        <p class="empty">Correct the marked values to see results.</p>
      ) : (
        <section aria-labelledby="found">
          <h2 id="found" class="count">
            {countInWords(total)}
          </h2>
          <TwinsLeftOut twins={twins} address={addressOf("/", { ...omit(form.given, "after"), all_sources: "yes" })} />
          <ol class="results">
            {results.map((result) => (
              <ResultItem key={result.opportunity.id} result={result} now={now} />
            ))}
          </ol>
          <Paging form={form} next={next} />
        </section>
      )}
    </>
  );
}

function countInWords(total: number): string {
  if (total === 0) return "Nothing found";
  if (total > COUNTED_MAX) return `More than ${COUNTED_MAX.toLocaleString("en-US")} opportunities`;
  return `${total.toLocaleString("en-US")} ${total === 1 ? "opportunity" : "opportunities"}`;
}

function Paging({ form: { given }, next }: { form: SearchForm; next: string | null }) {
  if (next === null && given.after === undefined) return null;
  return (
    <nav class="paging" aria-label="Pages of results">
      {given.after !== undefined && <a href={addressOf("/", omit(given, "after"))}>First page</a>}
      {next !== null && (
        <a class="button" href={addressOf("/", { ...given, after: next })} rel="next">
          More results
        </a>
      )}
    </nav>
  );
}

const sortNames: Readonly<Record<Sort, string>> = {
  relevance: "best match",
  closes: "next deadline",
  posted: "newest posting",
  updated: "last change",
  amount: "largest award",
};

function SortField({ form }: { form: SearchForm }) {
  const usual = defaultSort(form.filter);
  const others = sorts.filter((sort) => sort !== usual).map((code) => ({ code, name: sortNames[code] }));
  const options = [{ code: "", name: `${sortNames[usual]} (default)` }, ...others];
  return <SelectField name="sort" label="Sort by" form={form} options={options} chosen={form.given.sort ?? ""} />;
}

function ResultItem({ result: { opportunity, twins, snippet, lastChange }, now }: { result: Result; now: EpochMs }) {
  const { id, title, status, organization, funding, source } = opportunity;
  const facts = [numberOf(opportunity), organization.sub_agency ?? organization.agency, awardsInWords(funding), source.code];
  return (
    <li class="result">
      <h3>
        <a href={opportunityAddress(id)}>{cutText(title, TITLE_MAX)}</a>
      </h3>
      <p class="line">
        <StatusBadge status={status} /> <Due opportunity={opportunity} now={now} />
      </p>
      <p class="facts">
        {facts
          .filter((fact) => fact !== null && fact !== undefined)
          .map((fact) => (
            <span key={fact}>{cutText(fact, 200)}</span>
          ))}
        <AlsoAtLinks twins={twins} />
      </p>
      {snippet !== null && <Snippet text={snippet} />}
      {lastChange !== undefined && (
        <p class="change">
          <SeverityMark severity={lastChange.severity} /> <Relative at={lastChange.detected_at} now={now} />: {changeInShort(lastChange)}
        </p>
      )}
    </li>
  );
}

/** The words around a match, with the match marked. */
function Snippet({ text }: { text: string }) {
  return (
    <p class="snippet">
      {text.split(MATCH_BEGIN).map((part, n) => {
        const [matched = "", rest] = n === 0 ? ["", part] : part.split(MATCH_END);
        return (
          <>
            {matched !== "" && <mark>{matched}</mark>}
            {rest}
          </>
        );
      })}
    </p>
  );
}
