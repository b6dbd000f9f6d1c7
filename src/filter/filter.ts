/** One table declares each field, for all doors and search.db. Texts stay as given: `30d` counts from whenever it is used. (E-136) */
import { Failure } from "../../db/reason.ts";
import { dueOf } from "../opportunities/due.ts";
import { programTypes, statuses, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { didYouMean } from "../text/closest.ts";
import { compareDecimals } from "../text/decimal.ts";
import type { EpochMs } from "../text/instant.ts";
import { isObject } from "../text/json-value.ts";
import { readMoment } from "../text/moment.ts";
import { BadValue } from "../text/read-value.ts";
import { agencyField } from "./agency.ts";
import { applicantKinds, codesOfKind } from "./applicants.ts";
import { columns, instantCell } from "./columns.ts";
import {
  amountField,
  type Condition,
  choiceField,
  codeReader,
  codesField,
  dateField,
  dates,
  eligibilityField,
  type Field,
  idField,
  sourceField,
} from "./kinds.ts";
import { namedPlaces, nameOfPlace, placeCode } from "./places.ts";
import { codesOfFamily, setAsideMeant } from "./set-asides.ts";
import { words } from "./words.ts";

const SET_ASIDE = "a set-aside code such as SBA or 8A";
const byBeginning = { fits: (code: string, sought: string) => code.startsWith(sought), needles: (sought: string) => [`\n${sought}`] };

export const fields = {
  id: idField,
  status: choiceField("status", statuses),
  source: sourceField,
  agency: agencyField,
  program_type: choiceField("program_type", programTypes),
  naics: codesField({
    column: "naics",
    help: "NAICS code begins with one of these: 5417",
    label: "NAICS",
    read: codeReader(/^\d{2,6}$/, "2 to 6 digits"),
    ...byBeginning,
  }),
  psc: codesField({
    column: "psc",
    help: "product or service code (PSC) begins with one of these: AC",
    label: "PSC",
    read: codeReader(/^[0-9A-Z]{1,4}$/, "1 to 4 letters and digits"),
    ...byBeginning,
  }),
  listing: codesField({
    column: "listing",
    help: "assistance listing (ALN): 93.242, or 93 for all of an agency",
    label: "assistance listing",
    read: codeReader(/^\d\d(\.[0-9A-Z]{1,4})?$/, "an assistance listing such as 93.242, or the two digits of an agency"),
    fits: (code, sought) => code === sought || (sought.length === 2 && code.startsWith(`${sought}.`)),
    needles: (sought) => [sought.length === 2 ? `\n${sought}.` : `\n${sought}\n`],
  }),
  set_aside: codesField({
    column: "set_aside",
    help: "set-aside, by family or code: SBA, 8A, HUBZONE, SDVOSB, WOSB; 8AN for its sole source alone",
    label: "set-aside",
    read: (text) => {
      const code = codeReader(/^[0-9A-Z]{1,20}$/, SET_ASIDE)(text);
      const meant = setAsideMeant(code);
      if (meant !== undefined) throw new BadValue(`must be ${SET_ASIDE}; not "${text}" (did you mean "${meant}"?)`);
      return code;
    },
    fits: (code, sought) => codesOfFamily(sought).includes(code),
    needles: (sought) => codesOfFamily(sought).map((code) => `\n${code}\n`),
  }),
  applicant: codesField({
    column: "applicant",
    help: `who may apply: ${applicantKinds.join(", ")}; or a code of Grants.gov: 06`,
    label: "open to",
    choices: applicantKinds,
    value: "<kinds>",
    read: applicantKind,
    fits: (code, sought) => codesOfKind(sought).includes(code),
    needles: (sought) => codesOfKind(sought).map((code) => `\n${code}\n`),
  }),
  place: codesField({
    column: "place",
    help: "place of performance, a US state or a country, by code or name: TX, Germany",
    label: "place",
    value: "<places>",
    read: placeGiven,
    show: nameOfPlace,
    fits: (code, sought) => code === sought,
    needles: (sought) => [`\n${sought}\n`],
  }),
  eligibility: eligibilityField,
  posted_after: dateField("posted", ">=", "posted_at", columns.posted_at),
  posted_before: dateField("posted", "<", "posted_at", columns.posted_at),
  opens_after: dateField("opens", ">=", "opens_at", columns.opens_at),
  opens_before: dateField("opens", "<", "opens_at", columns.opens_at),
  closes_after: dateField("closes", ">=", "due_at", dueAt),
  closes_before: dateField("closes", "<", "due_at", dueAt),
  min_amount: amountField({
    label: "Award at least",
    help: "awards of this many dollars or more are possible",
    words: "or more",
    column: "amount_high",
    operator: ">=",
  }),
  max_amount: amountField({
    label: "Award at most",
    help: "awards of this many dollars or less are possible",
    words: "or less",
    column: "amount_low",
    operator: "<=",
  }),
  updated_after: dateField("updated", ">", "updated_at", columns.updated_at), // As `updated_since` of the API (D-11).
  words, // Last, because it takes longest to match.
} satisfies Record<string, Field<string> | Field<string[]>>;

function dueAt(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): EpochMs | null {
  return instantCell(dueOf(opportunity, now, duplicates).at);
}

function applicantKind(text: string): string {
  const kind = text.toLowerCase().replaceAll(/[\s_]+/g, "-");
  if (applicantKinds.includes(kind) || /^\d\d$/.test(kind)) return kind;
  throw new BadValue(`must be of ${applicantKinds.join(", ")}, or a code such as 06; not "${text}"${didYouMean(kind, applicantKinds)}`);
}

function placeGiven(text: string): string {
  const code = placeCode(text);
  if (code !== undefined) return code;
  throw new BadValue(`must be US states or countries, such as TX, Texas, DEU or Germany; not "${text}"${didYouMean(text, namedPlaces())}`);
}

export type FieldName = keyof typeof fields;

export type Filter = { [Name in FieldName]?: ReturnType<(typeof fields)[Name]["read"]> };

export const fieldNames = Object.keys(fields) as FieldName[];

/** Whether an opportunity meets all conditions at an instant. `duplicates` are its other records. */
export function matches(
  filter: Filter,
  opportunity: WholeOpportunity,
  now: EpochMs,
  duplicates: readonly WholeOpportunity[] = [],
): boolean {
  return conditionsOf(filter).every(([field, value]) => field.matches(value, opportunity, now, duplicates));
}

/** All conditions as SQL on `records` of search.db. */
export function conditionOf(filter: Filter, now: EpochMs): Condition {
  const conditions = conditionsOf(filter).map(([field, value]) => field.condition(value, now));
  return { sql: conditions.map(({ sql }) => `(${sql})`).join(" and ") || "true", values: conditions.flatMap(({ values }) => values) };
}

/** The two ends of a range in which nothing can be, and how they must be related; `undefined` if there is none. */
export function emptyRange(filter: Filter, now: EpochMs): { low: FieldName; relation: string; high: FieldName } | undefined {
  const { min_amount: least, max_amount: most } = filter;
  if (least !== undefined && most !== undefined && compareDecimals(least, most) > 0)
    return { low: "min_amount", relation: "must not be more than", high: "max_amount" };
  for (const verb of ["posted", "opens", "closes"] as const) {
    const [low, high] = [`${verb}_after`, `${verb}_before`] as const;
    const [begin, end] = [filter[low], filter[high]];
    if (begin !== undefined && end !== undefined && readMoment(begin, now, dates[verb]) >= readMoment(end, now, dates[verb]))
      return { low, relation: "must be earlier than", high };
  }
  return undefined;
}

/** Each condition for people. */
export function describeFilter(filter: Filter, now: EpochMs): string[] {
  return conditionsOf(filter).map(([field, value]) => field.words(value, now));
}

/** Reads a filter from a JSON object. `place` is what the error names. */
export function readFilter(json: unknown, place: string): Filter {
  if (!isObject(json)) throw new Failure(`Cannot read ${place}: it must be a JSON object of filters, such as {"status": ["open"]}`);
  const read = Object.entries(json).map(([name, value]) => {
    if (!isFieldName(name)) throw new Failure(`Cannot read ${place}: there is no filter "${name}"${didYouMean(name, fieldNames)}`);
    try {
      return [name, fields[name].read(value)];
    } catch (error) {
      if (error instanceof BadValue) throw new Failure(`Cannot read ${place}: "${name}" ${error.message}`);
      throw error;
    }
  });
  return Object.fromEntries(read) as Filter;
}

/** A filter that was stored. Its agency was once a text. */
export function storedFilter({ agency, ...filter }: Omit<Filter, "agency"> & { agency?: string | string[] }): Filter {
  return { ...filter, ...(agency !== undefined && { agency: [agency].flat() }) };
}

function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(fields, name);
}

function conditionsOf(filter: Filter): [Field<unknown>, unknown][] {
  return fieldNames.flatMap((name): [Field<unknown>, unknown][] =>
    filter[name] === undefined ? [] : [[fields[name] as unknown as Field<unknown>, filter[name]]],
  );
}
