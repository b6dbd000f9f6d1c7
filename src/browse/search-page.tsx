/** @jsxImportSource hono/jsx */
/** What pages of searches share: a form, and below it what was found, or a request to correct the form. */
import type { Child } from "hono/jsx";
import type { OwnFields } from "./own-fields.ts";
import type { BrowsePage, BrowseSection, PageContext } from "./page.ts";
import { readSearchForm, SearchFields, type SearchForm, tidyAddress } from "./search-form.tsx";

type SearchPageParts<Found> = {
  path: string;
  section: BrowseSection;
  heading: string;
  title?: (form: SearchForm) => string;
  own: OwnFields;
  shows: string;
  read: (form: SearchForm) => Promise<Found>;
  fields: (form: SearchForm, found?: Found) => Child;
  ownFilters?: (form: SearchForm) => Child;
  view: (form: SearchForm, found: Found) => Child;
};

/** The page of a search, or a redirect to its tidier address. Nothing is read if a value of the form is wrong. */
export async function searchPage<Found>(context: PageContext, parts: SearchPageParts<Found>): Promise<BrowsePage> {
  const { path, section, heading, title, own, shows, read, fields, ownFilters, view } = parts;
  const location = tidyAddress(path, context.query);
  if (location !== undefined) return { location };
  const form = await readSearchForm(context, own);
  const found = form.errors.size > 0 ? undefined : await read(form);
  const body = (
    <>
      <h1>{heading}</h1>
      <SearchFields action={path} form={form} now={context.now} ownFilters={ownFilters?.(form)}>
        {fields(form, found)}
      </SearchFields>
      {found === undefined ? <p class="empty">Correct the marked values to see {shows}.</p> : view(form, found)}
    </>
  );
  return { title: title?.(form) ?? heading, section, status: found === undefined ? 400 : 200, body };
}
