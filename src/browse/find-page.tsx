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
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { cutText, DuplicatesLeftOut, Paging, Section } from "./marks.tsx";
import { addressOf, type BrowsePage, omit, type PageContext } from "./page.ts";
import { Results, type ShownResult, withLastChanges } from "./results.tsx";
import { findFields, type SearchForm, SelectField, searchPage, valueName } from "./search-form.tsx";
import { TakeAlong } from "./take-along.tsx";

const PAGE_SIZE = 20;

export function findPage(context: PageContext): Promise<BrowsePage> {
  const { catalog, index, now } = context;
  return searchPage(context, {
    path: "/",
    section: "find",
    heading: "Find funding opportunities",
    title: ({ given: { words } }) => (words === undefined ? "Find opportunities" : `${cutText(words, 80)} – Find`),
    own: findFields,
    shows: "results",
    read: async ({ resolved, given: { sort, after }, allSources }) => {
      const request = {
        filter: resolved,
        sort: sort as Sort | undefined,
        after,
        limit: PAGE_SIZE,
        countAtMost: COUNTED_MAX + 1,
        allSources,
      };
      const page = await search(catalog, index, request, now);
      return { ...page, results: await withLastChanges(catalog, page.results) };
    },
    fields: (form) => <SortField form={form} usual={defaultSort(form.filter)} />,
    view: (form, page) => <Found form={form} now={now} page={page} isMember={context.member !== undefined} />,
  });
}

type FoundProps = { form: SearchForm; now: EpochMs; page: SearchPage & { results: readonly ShownResult[] }; isMember: boolean };

function Found({ form, now, page, isMember }: FoundProps) {
  const { results, total, duplicates, next, understood, counts, hindered, inWords, agencyNotes, drop, isWhole } = page;
  const given = omit(form.given, "after");
  const matched = matchedInWords(page);
  return (
    <div class="columns">
      <Section class="main" id="found" title={countInWords(total, isWhole)}>
        <DuplicatesLeftOut duplicates={duplicates} address={addressOf("/", { ...given, all_sources: "yes" })} />
        <Sentences of={understood === null ? [] : readingInWords(understood)} />
        {matched !== null && (
          <p class="understood">
            {capitalized(matched)}.{" "}
            {(given.sort ?? "relevance") !== "relevance" && <a href={addressOf("/", omit(given, "sort"))}>Show the best matches first</a>}
          </p>
        )}
        {understood !== null && understood.preferences.length > 0 && (
          <ul class="understood">
            {understood.preferences.map((each) => (
              <li>
                {preferenceInWords(each, now)}. <a href={addressOf("/", { ...given, ...onlyThese(form.given.words, each) })}>Only these</a>
                {each.opportunities !== null && <span class="quiet"> {withCommas(each.opportunities)}</span>}
              </li>
            ))}
          </ul>
        )}
        <Sentences of={agencyNotes} />
        {hindered.length > 0 && <Sentences of={[hinderedSentence(hindered)]} />}
        {inWords > 0 && (
          <p class="understood">
            {applicantsSentence(inWords)}.{" "}
            <a href={addressOf("/", { ...given, applicant: [...(form.filter.applicant ?? []), IN_WORDS] })}>Show them, too</a>
          </p>
        )}
        {!isWhole && <Sentences of={[ENDED_EARLY]} />}
        {isMember && (
          <p class="line">
            <a class="button" href={addressOf("/watches/new", omit(given, "sort"))}>
              Mail me what changes
            </a>
          </p>
        )}
        {total === 0 && <NothingFound form={form} drop={drop} />}
        <Results results={results} understood={understood} now={now} line={`${partialInWords(page)}:`} />
        <Paging
          label="Pages of results"
          path="/"
          given={form.given}
          next={next === null ? undefined : { after: next }}
          first="First page"
          further="More results"
        />
        <TakeAlong form={form} of="find" own={{ sort: given.sort }} />
      </Section>
      {counts !== null && <CountLinks form={form} counts={counts} />}
    </div>
  );
}

function Sentences({ of }: { of: readonly string[] }) {
  return of.length === 0 ? null : <p class="understood">{of.map((sentence) => `${sentence}.`).join(" ")}</p>;
}

function onlyThese(asked = "", { filter: { words, ...filter } }: Understood["preferences"][number]) {
  return words === undefined ? filter : { words: `${asked} ${words}` };
}

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

const VALUES_MAX = 8;

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

function nameOf({ sources, agencies }: SearchForm, field: string, value: string): string {
  const named = field === "source" ? sources : field === "agency" ? agencies : [];
  return named.find(({ code }) => code === value)?.name ?? valueName(field, value);
}

function countInWords(total: number, isWhole: boolean): string {
  if (total === 0) return "Nothing found";
  if (total > COUNTED_MAX) return `More than ${withCommas(COUNTED_MAX)} opportunities`;
  return `${isWhole ? "" : "At least "}${counted(total, "opportunity", "opportunities")}`;
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
  const { sort = "" } = form.given;
  return <SelectField name="sort" label="Sort by" form={form} options={options} chosen={sort === usual ? "" : sort} />;
}
