/** @jsxImportSource hono/jsx */
/** The page of search results. */
import { IN_WORDS } from "../filter/applicants.ts";
import { fields } from "../filter/filter.ts";
import { ENDED_EARLY } from "../search/budget.ts";
import { COUNTED_MAX } from "../search/candidates.ts";
import { hinderedSentence } from "../search/hindered.ts";
import { applicantsSentence } from "../search/in-words.ts";
import { defaultSort, type SearchPage, type Sort, search, sorts } from "../search/search.ts";
import { matchedInWords, partialInWords, preferenceInWords, readingInWords, type Understood } from "../search/understood.ts";
import { capitalized } from "../text/capitalized.ts";
import { counted, withCommas } from "../text/counted.ts";
import type { EpochMs } from "../text/instant.ts";
import { addressOf } from "./addresses.ts";
import { cutText, DuplicatesLeftOut } from "./marks.tsx";
import { findFields } from "./own-fields.ts";
import type { BrowsePage, PageContext } from "./page.ts";
import { Results, type ShownResult, withLastChanges } from "./results.tsx";
import { omit, readSearchForm, SearchFields, type SearchForm, SelectField, tidyAddress } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";
import { valueName } from "./value-names.ts";

const PAGE_SIZE = 20;

export async function findPage({ catalog, index, now, query, member }: PageContext): Promise<BrowsePage> {
  const location = tidyAddress("/", query);
  if (location !== undefined) return { location };
  const form = await readSearchForm({ catalog, index, query, now }, findFields);
  const { given, errors } = form;
  const title = given.words === undefined ? "Find opportunities" : `${cutText(given.words, 80)} – Find`;
  if (errors.size > 0) return { title, section: "find", status: 400, body: <FindBody form={form} now={now} /> };
  const { sort, after } = given;
  const request = {
    filter: form.resolved,
    sort: sort as Sort | undefined,
    after,
    limit: PAGE_SIZE,
    countAtMost: COUNTED_MAX + 1,
    allSources: form.allSources,
  };
  const page = await search(catalog, index, request, now);
  const results = await withLastChanges(catalog, page.results);
  const isMember = member !== undefined;
  return { title, section: "find", body: <FindBody form={form} now={now} results={results} page={page} isMember={isMember} /> };
}

type BodyProps = { form: SearchForm; now: EpochMs; results?: readonly ShownResult[]; page?: SearchPage; isMember?: boolean };

function FindBody({ form, now, results, page, isMember = false }: BodyProps) {
  const {
    total = 0,
    duplicates = 0,
    next = null,
    understood = null,
    counts = null,
    hindered = [],
    inWords = 0,
    agencyNotes = [],
    drop = [],
    isWhole = true,
  } = page ?? {};
  const sentences = understood === null ? [] : readingInWords(understood);
  const matched = page === undefined ? null : matchedInWords(page);
  return (
    <>
      <h1>Find funding opportunities</h1>
      <SearchFields action="/" form={form} now={now}>
        <SortField form={form} usual={defaultSort(form.filter)} />
      </SearchFields>
      {results === undefined ? (
        <p class="empty">Correct the marked values to see results.</p>
      ) : (
        <div class="columns">
          <section class="main" aria-labelledby="found">
            <h2 id="found">{countInWords(total, isWhole)}</h2>
            <DuplicatesLeftOut duplicates={duplicates} address={addressOf("/", { ...omit(form.given, "after"), all_sources: "yes" })} />
            {sentences.length > 0 && <p class="understood">{sentences.map((sentence) => `${sentence}.`).join(" ")}</p>}
            {matched !== null && (
              <p class="understood">
                {capitalized(matched)}.{" "}
                {isInOrder(form) && <a href={addressOf("/", omit(omit(form.given, "after"), "sort"))}>Show the best matches first</a>}
              </p>
            )}
            {understood !== null && understood.preferences.length > 0 && (
              <Preferences form={form} preferences={understood.preferences} now={now} />
            )}
            {agencyNotes.length > 0 && <p class="understood">{agencyNotes.map((note) => `${note}.`).join(" ")}</p>}
            {hindered.length > 0 && <p class="understood">{hinderedSentence(hindered)}.</p>}
            {inWords > 0 && (
              <p class="understood">
                {applicantsSentence(inWords)}.{" "}
                <a
                  href={addressOf("/", { ...omit(form.given, "after"), applicant: [...(form.filter.applicant ?? []), IN_WORDS].join(",") })}
                >
                  Show them, too
                </a>
              </p>
            )}
            {!isWhole && <p class="understood">{ENDED_EARLY}.</p>}
            {isMember && (
              <p class="line">
                <a class="button" href={addressOf("/watches/new", omit(form.given, "after", "sort"))}>
                  Mail me what changes
                </a>
              </p>
            )}
            {total === 0 && <NothingFound form={form} drop={drop} />}
            <Results results={results} understood={understood} now={now} line={page === undefined ? "" : `${partialInWords(page)}:`} />
            <Paging form={form} next={next} />
            <TakeAlong form={form} of="find" own={{ sort: form.given.sort }} />
          </section>
          {counts !== null && <CountLinks form={form} counts={counts} />}
        </div>
      )}
    </>
  );
}

type PreferencesProps = { form: SearchForm; preferences: Understood["preferences"]; now: EpochMs };

/** The preferences in the question, each with a link that shows only results that meet it. */
function Preferences({ form: { given }, preferences, now }: PreferencesProps) {
  return (
    <ul class="understood">
      {preferences.map((each) => (
        <li key={each.asked}>
          {preferenceInWords(each, now)}.{" "}
          <a href={addressOf("/", { ...omit(given, "after"), ...onlyThese(given.words, each) })}>Only these</a>
          {each.opportunities !== null && <span class="quiet"> {withCommas(each.opportunities)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The fields of an address that make a preference strict. */
function onlyThese(asked = "", { filter: { words, ...filter } }: Understood["preferences"][number]) {
  return words === undefined ? filter : { words: `${asked} ${words}` };
}

/** Whether the results are in another order than best matches first. */
function isInOrder({ given: { sort = "relevance" } }: SearchForm): boolean {
  return sort !== "relevance";
}

/** What to try next: the same search without a filter that leaves nothing, other words, or all that is open. */
function NothingFound({ form, drop }: { form: SearchForm; drop: SearchPage["drop"] }) {
  return (
    <div class="empty">
      <p>No opportunity meets all of these conditions.</p>
      <ul>
        {drop.map(({ name, records }) => (
          <li key={name}>
            <a href={addressOf("/", omit(form.given, name))}>Without {fields[name].label.toLowerCase()}</a>: {withCommas(records)}
          </li>
        ))}
        {form.given.words !== undefined && <li>Try fewer or more common words. Endings do not matter.</li>}
        <li>
          <a href="/">See all that can be applied for</a>
        </li>
      </ul>
    </div>
  );
}

/** The most values of a field that are links. */
const VALUES_MAX = 8;

/** How many results have each value, as links to these results. */
function CountLinks({ form, counts }: { form: SearchForm; counts: NonNullable<SearchPage["counts"]> }) {
  const shown = (Object.keys(counts) as (keyof typeof counts)[]).filter((name) => counts[name].length > 1);
  if (shown.length === 0) return null;
  return (
    <aside aria-labelledby="narrow">
      <h2 id="narrow">Narrow it down</h2>
      <dl class="counts">
        {shown.map((name) => (
          <div key={name}>
            <dt>{capitalized(fields[name].label)}</dt>
            {counts[name].slice(0, VALUES_MAX).map(({ value, records }) => (
              <dd key={value}>
                <a href={addressOf("/", { ...omit(form.given, "after"), [name]: value })}>{nameOf(form, name, value)}</a>{" "}
                <span class="quiet">{withCommas(records)}</span>
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </aside>
  );
}

/** The label of a value: the name of a source or agency, or the words for a status. */
function nameOf({ sources, agencies }: SearchForm, field: string, value: string): string {
  const named = field === "source" ? sources : field === "agency" ? agencies : [];
  return named.find(({ code }) => code === value)?.name ?? valueName(field, value);
}

function countInWords(total: number, isWhole: boolean): string {
  if (total === 0) return "Nothing found";
  if (total > COUNTED_MAX) return `More than ${withCommas(COUNTED_MAX)} opportunities`;
  return `${isWhole ? "" : "At least "}${counted(total, "opportunity", "opportunities")}`;
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

/** The order of the results. `usual` is the default order. */
export function SortField({ form, usual }: { form: SearchForm; usual: Sort }) {
  const others = sorts.filter((sort) => sort !== usual).map((code) => ({ code, name: sortNames[code] }));
  const options = [{ code: "", name: `${sortNames[usual]} (default)` }, ...others];
  return <SelectField name="sort" label="Sort by" form={form} options={options} chosen={form.given.sort ?? ""} />;
}
