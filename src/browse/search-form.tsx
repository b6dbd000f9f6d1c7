/** @jsxImportSource hono/jsx */
/** The form of words and filters, built from the table of filters (`src/filter`). It is read from an address and needs no script. */
import { Type } from "@sinclair/typebox";
import type { Child } from "hono/jsx";
import { shortNameOf } from "../agencies/understand.ts";
import { emptyRange, type FieldName, type Filter, fieldNames, fields } from "../filter/filter.ts";
import type { Field } from "../filter/kinds.ts";
import { resolveFilter, UnknownAgency } from "../filter/known.ts";
import { statusInWords } from "../opportunities/status.ts";
import { countByAgency } from "../search/agencies.ts";
import { sorts } from "../search/search.ts";
import { listSources, UnknownSource } from "../sources/source.ts";
import { didYouMean } from "../text/closest.ts";
import { capitalized, withCommas } from "../text/in-words.ts";
import { type EpochMs, isDate } from "../text/instant.ts";
import { PAST, readMoment, SINCE } from "../text/moment.ts";
import { BadValue } from "../text/read-value.ts";
import { choice, type GivenValue } from "../text/value.ts";
import { withBetween } from "./marks.tsx";
import { addressOf, type BrowsePage, type BrowseSection, omit, type PageContext } from "./page.ts";

/** The request of an address. `given` has the original texts, so that a wrong one can be corrected. */
export type SearchForm = {
  filter: Filter;
  /** The filter to search with: without `OTHER`, which stands for codes of the catalog. */
  resolved: Filter;
  given: Readonly<Record<string, string>>;
  allSources: boolean;
  /** The reason of refusal, by field. "" has errors that belong to no field. */
  errors: ReadonlyMap<string, string>;
  sources: readonly Option[];
  agencies: readonly (Option & { records: number })[];
};

type FormContext = Pick<PageContext, "catalog" | "index" | "query" | "now">;

/** Reads the filters and the page's own fields. A value that is refused becomes an error and is left out. */
export async function readSearchForm({ catalog, index, query, now }: FormContext, own: OwnFields): Promise<SearchForm> {
  const { given, errors, values } = readFields(query, { ...fields, ...own, all_sources: allSourcesField }, "filter", now);
  if (given.as_of !== undefined) errors.set("", `Lists are as of now: as_of is for the page of one opportunity; see /help/past.`);
  const filter: Filter = Object.fromEntries(values.filter(([name]) => fieldNames.some((each) => each === name)));
  const empty = emptyRange(filter, now);
  if (empty !== undefined) errors.set(empty.low, `It ${empty.relation} “${fields[empty.high].label}”.`);
  if (own.since !== undefined && errors.size === 0 && isEmptyPeriod(given, now)) errors.set("since", "It must be earlier than “Until”.");
  const resolved = await resolveFilter(catalog, filter, "find").catch((error: unknown) => {
    if (error instanceof UnknownSource) errors.set("source", `${capitalized(error.reason)}.`);
    else if (error instanceof UnknownAgency) errors.set("agency", capitalized(error.message));
    else throw error;
    return filter;
  });
  const allSources = given.all_sources === "yes";
  const sources = [...(await listSources(catalog)), { code: "OTHER", name: "others" }];
  const agencies = countByAgency(index).map(({ agency, records }) => ({ code: shortNameOf(agency), name: agency.name, records }));
  return { filter, resolved, given, allSources, errors, sources, agencies };
}

/** The texts of an address by name, the values that they mean, and why some are refused. `noun` is what a name stands for. */
export function readFields(query: URLSearchParams, known: OwnFields, noun: "filter" | "parameter", now: EpochMs) {
  const given = givenIn(query);
  const errors = new Map<string, string>();
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) errors.set("", `There is no ${noun} "${unknown}"${didYouMean(unknown, Object.keys(known))}.`);
  const values: [name: string, value: unknown][] = [];
  for (const [name, field] of Object.entries(known)) {
    try {
      if (given[name] !== undefined) values.push([name, field.read(given[name], now)]);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      errors.set(name, `It ${error.message}.`);
    }
  }
  for (const name of repeatedIn(query, known)) errors.set(name, "It takes one value, and must be given once.");
  return { given, errors, values };
}

function isEmptyPeriod({ since, until }: Readonly<Record<string, string>>, now: EpochMs): boolean {
  const begin = since === undefined ? "all" : readMoment(since, now, SINCE);
  return begin !== "all" && until !== undefined && begin >= readMoment(until, now, PAST);
}

/** Values of one name are joined with commas, as a list is on the command line. */
function givenIn(query: URLSearchParams): Record<string, string> {
  const texts = Map.groupBy(filledIn(query), ([name]) => name);
  return Object.fromEntries([...texts].map(([name, values]) => [name, values.map(([, text]) => text).join(",")]));
}

function filledIn(query: URLSearchParams): [name: string, text: string][] {
  return [...query].filter(([, text]) => text.trim() !== "").map(([name, text]) => [filterOf(name), text]);
}

function repeatedIn(query: URLSearchParams, known: OwnFields): string[] {
  const names = filledIn(query).map(([name]) => name);
  return names.filter((name, at) => names.indexOf(name) !== at && (known[name]?.schema.type ?? "array") !== "array");
}

/** The end of the name of a date picker, which stands beside a field for times such as 30d. */
const PICKER = "_date";

function isTime(name: string): name is FieldName {
  return fieldNames.some((each) => each === name && fields[each].value === "<when>");
}

function filterOf(name: string): string {
  const filter = name.endsWith(PICKER) ? name.slice(0, -PICKER.length) : "";
  return isTime(filter) ? filter : name;
}

/** The address without empty fields and repeated names, which browsers send for forms. Undefined if it is tidy, or is refused anyway. */
export function tidyAddress(path: string, query: URLSearchParams): string | undefined {
  const isUntidy = [...query.entries()].some(
    ([name, text]) => text.trim() === "" || query.getAll(name).length > 1 || filterOf(name) !== name,
  );
  return isUntidy && repeatedIn(query, fields).length === 0 ? addressOf(path, givenIn(query)) : undefined;
}

const filterNames = fieldNames.filter((name) => name !== "words");

type FormProps = { action: string; form: SearchForm; now: EpochMs; children?: Child; ownFilters?: Child };

/** The whole form. `children` are the page's own fields, and `ownFilters` those of them that stand before the filters. */
export function SearchFields({ action, form, now, children, ownFilters }: FormProps) {
  const { given, errors } = form;
  const filterCount = filterNames.filter((name) => given[name] !== undefined).length;
  const wrong = filterNames.filter((name) => errors.has(name));
  return (
    <search>
      <form class="search" method="get" action={action}>
        <Alert>{errors.get("")}</Alert>
        {wrong.length > 0 && ( // Above the form, as a phone shows no field of the filters on its first screen.
          <Alert>To be corrected: {withBetween(wrong.map((name) => <a href={`#${name}`}>{fields[name].label}</a>))}</Alert>
        )}
        <div class="words">
          <InputField
            name="words"
            label={fields.words.label}
            form={form}
            help={
              <>
                For example: sea level, <span class="typed">"sea level"</span> as a phrase, <span class="typed">sea -level</span> without a
                word
              </>
            }
            type="search"
          />
          {children}
          <button type="submit">Search</button>
        </div>
        <details class="filters" open={wrong.length > 0}>
          <summary>Filters{filterCount > 0 && ` (${filterCount})`}</summary>
          <div class="groups">
            {ownFilters}
            {groups.map(({ title, has }) => (
              <Group title={title} names={filterNames.filter((name) => has(fields[name] as unknown as Field<never>, name))} form={form} />
            ))}
            {/* Ids come from a link. Nobody types them, so the field is there only to keep them, and to correct them. */}
            {given.id !== undefined && <Group title="Opportunities" names={["id"]} form={form} />}
            <ChoiceGroup
              name="all_sources"
              title="Records"
              options={[{ code: "yes", name: "every source's record of an opportunity" }]}
              form={form}
            />
          </div>
          <button type="submit">Apply filters</button>
        </details>
        <ActiveFilters action={action} form={form} now={now} />
      </form>
    </search>
  );
}

const groups: readonly { title: string; has: (field: Field<never>, name: FieldName) => boolean }[] = [
  { title: "Status, source and program", has: ({ choices }, name) => (choices !== undefined && name !== "applicant") || name === "source" },
  { title: "Agency and eligibility", has: ({ value }) => ["<agencies>", "<text>", "<kinds>", "<places>"].includes(value) },
  { title: "Codes", has: ({ value }, name) => value === "<codes>" && name !== "source" },
  { title: "Dates", has: ({ value }) => value === "<when>" },
  { title: "Awards", has: ({ value }) => value === "<amount>" },
];

const [AGO, AHEAD] = ["For example: 7d for 7 days ago, or a date", "For example: 30d for 30 days from now, or a date"];
const examples: Partial<Record<FieldName, string>> = {
  agency: "For example: NIH, or Department of Energy",
  naics: "Industry. For example: 5417 for research and development",
  psc: "Product or service. For example: AC for defense research",
  listing: "For example: 93.242, or 93 for all of Health and Human Services",
  set_aside: "For example: SBA for small businesses, 8A, HUBZONE, SDVOSB or WOSB",
  place: "A US state or a country. For example: Texas, or Germany",
  eligibility: "A word in who may apply. For example: tribal",
  posted_after: AGO,
  posted_before: AGO,
  opens_after: AHEAD,
  opens_before: AHEAD,
  closes_after: AHEAD,
  closes_before: AHEAD,
  updated_after: AGO,
  min_amount: "In dollars. For example: 250000",
  max_amount: "In dollars. For example: 1000000",
};

function Group({ title, names, form }: { title: string; names: readonly FieldName[]; form: SearchForm }) {
  return (
    <section class="group">
      <h2>{title}</h2>
      <div class="members">
        {names.map((name) => (
          <FilterField name={name} form={form} />
        ))}
      </div>
    </section>
  );
}

/** A group of the form with one set of choices, which needs no label besides its title. */
export function ChoiceGroup({ title, ...choices }: Omit<FieldProps, "label"> & { title: string; options: readonly Option[] }) {
  return (
    <section class="group">
      <h2>{title}</h2>
      <Choices label={title} {...choices} isTitled />
    </section>
  );
}

function FilterField({ name, form }: { name: FieldName; form: SearchForm }) {
  const { label, help, choices }: Pick<Field<unknown>, "label" | "help" | "choices"> = fields[name];
  const options = name === "source" ? form.sources : choices?.map((code) => ({ code, name: valueName(name, code) }));
  const shown = examples[name] ?? help;
  if (options !== undefined) return <Choices name={name} label={label} options={options} form={form} />;
  if (isTime(name)) return <TimeField name={name} label={label} form={form} help={shown} />;
  const offered = form.agencies.map(({ code, name: agency, records }) => ({ code, name: `${agency} (${withCommas(records)})` }));
  return <InputField name={name} label={label} form={form} help={shown} {...(name === "agency" && { offered })} />;
}

type FieldProps = { name: string; label: string; form: Pick<SearchForm, "given" | "errors">; help?: Child };

type InputAttributes = { type?: string; required?: boolean; inputmode?: "numeric"; autocomplete?: string };
type InputProps = FieldProps & InputAttributes & { offered?: readonly Option[] };

export function InputField({ name, label, form, help, offered, ...input }: InputProps) {
  const list = offered && `${name}-list`;
  return (
    <Labelled {...{ name, label, form, help }}>
      <input
        id={name}
        name={name}
        value={form.given[name] ?? ""}
        list={list}
        autocomplete="off"
        {...input}
        {...describedBy(name, form, help)}
      />
      {offered && (
        <datalist id={list}>
          {offered.map(({ code, name: text }) => (
            <option value={code}>{text}</option>
          ))}
        </datalist>
      )}
    </Labelled>
  );
}

function TimeField({ name, label, form, help }: FieldProps) {
  const given = form.given[name] ?? "";
  const isDateGiven = isDate(given);
  return (
    <Labelled {...{ name, label, form, help }}>
      <div class="time">
        <input id={name} name={name} value={isDateGiven ? "" : given} autocomplete="off" {...describedBy(name, form, help)} />
        <input type="date" name={name + PICKER} value={isDateGiven ? given : ""} aria-label={`${label}: a date`} />
      </div>
    </Labelled>
  );
}

/** A value that is not offered is offered too, as it is chosen. */
export function SelectField({ name, label, form, help, options, chosen }: FieldProps & { options: readonly Option[]; chosen: string }) {
  const isOffered = chosen === "" || options.some(({ code }) => code === chosen);
  const offered = isOffered ? options : [...options, { code: chosen, name: chosen }];
  return (
    <Labelled {...{ name, label, form, help }}>
      <select id={name} name={name} {...describedBy(name, form, help)}>
        {offered.map(({ code, name: text }) => (
          <option value={code} selected={code === chosen}>
            {text}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

function Labelled({ name, label, form, help, children }: FieldProps & { children: Child }) {
  return (
    <div class="field">
      <label for={name}>{capitalized(label)}</label>
      {children}
      <Hint name={name} errors={form.errors} help={help} />
    </div>
  );
}

type Option = { code: string; name: string };

function Choices({ name, label, options, form, isTitled = false }: FieldProps & { options: readonly Option[]; isTitled?: boolean }) {
  const chosen = (form.given[name] ?? "").split(",").map((text) => text.trim().toLowerCase());
  const isKnown = (text: string) => options.some(({ code }) => code.toLowerCase() === text);
  const unknown = chosen.filter((text) => text !== "" && !isKnown(text)).map((code) => ({ code, name: code }));
  return (
    <fieldset id={name} {...describedBy(name, form)}>
      <legend class={isTitled ? "hidden" : undefined}>{capitalized(label)}</legend>
      {[...options, ...unknown].map((option) => (
        <label class="choice" key={option.code}>
          <input type="checkbox" name={name} value={option.code} checked={chosen.includes(option.code.toLowerCase())} />
          {option.name}
        </label>
      ))}
      <Hint name={name} errors={form.errors} />
    </fieldset>
  );
}

function Hint({ name, errors, help }: Pick<FieldProps, "name" | "help"> & Pick<SearchForm, "errors">) {
  const error = errors.get(name);
  if (error === undefined && help === undefined) return null;
  return (
    <p class={error === undefined ? "hint" : "error"} id={`${name}-hint`}>
      {error ?? help}
    </p>
  );
}

function describedBy(name: string, { errors }: FieldProps["form"], help?: Child) {
  const isWrong = errors.has(name);
  return { "aria-describedby": isWrong || help !== undefined ? `${name}-hint` : undefined, "aria-invalid": isWrong ? "true" : undefined };
}

/** Why something was refused; nothing without a reason. */
export function Alert({ children }: { children?: Child }) {
  return children === undefined ? null : (
    <p class="error" role="alert">
      {children}
    </p>
  );
}

function ActiveFilters({ action, form: { filter, given, errors, sources }, now }: Pick<FormProps, "action" | "form" | "now">) {
  const active: { name: string; words: string; without: string }[] = filterNames.flatMap((name) => {
    const value = filter[name];
    if (value === undefined || errors.has(name)) return [];
    const field = fields[name] as unknown as Field<unknown>;
    const nameOf = (code: string) => (name === "source" && sources.find((each) => each.code === code)?.name) || valueName(name, code);
    const chosen = field.choices === undefined && name !== "source" ? undefined : [value].flat().map((each) => nameOf(String(each)));
    const words =
      chosen === undefined ? field.words(value, now).replaceAll("_", " ") : `${field.label.toLowerCase()} ${chosen.join(" or ")}`;
    return [{ name, words, without: addressOf(action, omit(given, name)) }];
  });
  if (given.all_sources === "yes")
    active.push({ name: "all_sources", words: "every source's record", without: addressOf(action, omit(given, "all_sources")) });
  if (active.length === 0) return null;
  return (
    <section aria-label="Filters that apply">
      <ul class="active">
        {active.map(({ name, words, without }) => (
          <li key={name}>
            <a href={without} aria-label={`Remove the filter: ${words}`}>
              {words} <span aria-hidden="true">✕</span>
            </a>
          </li>
        ))}
        <li>
          <a class="clear" href={addressOf(action, { words: given.words })}>
            Remove all filters
          </a>
        </li>
      </ul>
    </section>
  );
}

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

export type OwnFields = Readonly<Record<string, GivenValue<unknown>>>;

export function listedIn(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

/** Where a list continues. Any text is accepted here; a wrong one is refused where it is used. */
export const afterField: GivenValue<string> = {
  schema: Type.String({ description: "`next_cursor` of the page before, with the same other parameters." }),
  read: (given) => `${given}`,
};

export const allSourcesField = choice(["yes"], "`yes` gives every source's record of an opportunity, not one for all.");

export const findFields = {
  sort: choice(sorts, "The order. Without it: the best matches first, with words, else the last change first."),
  after: afterField,
} satisfies OwnFields;

const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  program_type: {
    SBIR: "small business research (SBIR)",
    STTR: "small business technology transfer (STTR)",
    BAA: "broad agency announcement (BAA)",
    RFI: "request for information (RFI)",
    RFP: "request for proposals (RFP)",
    OTA: "other transaction (OTA)",
    GRANT: "grant",
    CONTRACT: "contract",
    PRIZE: "prize or challenge",
    CSO: "commercial solutions opening (CSO)",
    CRADA: "joint research agreement (CRADA)",
    INDUSTRY_EVENT: "event for industry",
    OTHER: "other",
  },
  applicant: {
    university: "universities and colleges",
    "small-business": "small businesses",
    "for-profit": "other companies",
    nonprofit: "nonprofits",
    individual: "individuals",
    tribe: "tribes",
    state: "states",
    county: "counties",
    city: "cities and towns",
    "special-district": "special districts",
    "school-district": "school districts",
    "housing-authority": "housing authorities",
    other: "others, as the text says",
    unrestricted: "anyone",
  },
};

/** "small businesses" for `small-business` of `applicant`. A value without a name is shown as it is. */
export function valueName(field: string, value: string): string {
  if (field === "status") return statusInWords(value);
  return names[field]?.[value] ?? value.replaceAll("_", " ");
}
