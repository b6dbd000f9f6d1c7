/** The kinds of filter fields: how the values of each are read, said in words, and compared with an opportunity or a row of search.db. (E-136) */
import { Type } from "@sinclair/typebox";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { didYouMean } from "../text/closest.ts";
import { decimalKey, isDecimal } from "../text/decimal.ts";
import { fold } from "../text/fold.ts";
import { capitalized } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { AHEAD, momentInWords, PAST, readMoment } from "../text/moment.ts";
import { BadValue, readItems, shownValue, textReader } from "../text/read-value.ts";
import { upperCaseCode } from "../text/source-code.ts";
import { UUID } from "../text/uuid.ts";
import { type GivenValue, momentText } from "../text/value.ts";
import { codesOf, columns, requirementsCell, type Scheme } from "./columns.ts";

export type Condition = { sql: string; values: readonly (string | number)[] };

export type Field<T> = GivenValue<T> & {
  label: string;
  choices?: readonly string[];
  value: string;
  help: string;
  words: (value: T, now: EpochMs) => string;
  matches: (value: T, opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]) => boolean;
  condition: (value: T, now: EpochMs) => Condition;
};

type ListField = Omit<Field<string[]>, "read" | "schema"> & { item: (text: string) => string; max?: number };

/** In JSON an array of texts, on the command line one text with commas. One of them must match. */
function list({ item, max, ...field }: ListField): Field<string[]> {
  const { choices, help } = field;
  return {
    ...field,
    schema:
      choices === undefined
        ? Type.Array(Type.String(), { description: help })
        : Type.Array(Type.Unsafe<string>({ type: "string", enum: choices })),
    read: (given) => [...new Set(readItems(given, max).map(item))],
  };
}

export const readPlain = textReader(200);

/** The most ids of a filter. */
export const IDS_MAX = 200;

/** Lists and feeds tell what each of them has at its other sources too, as with any filter. */
export const idField = list({
  label: "Opportunities",
  value: "<ids>",
  help: "only these opportunities, by id",
  max: IDS_MAX,
  item: (id) => {
    if (!UUID.test(id)) throw new BadValue(`must be ids of opportunities; not ${shownValue(id)}`);
    return id.toLowerCase();
  },
  words: (values) => (values.length === 1 ? `opportunity ${values}` : `${values.length} chosen opportunities`),
  matches: (values, { id }) => values.includes(id),
  condition: (values) => ({ sql: "id in (select value from json_each(?))", values: [JSON.stringify(values)] }),
});

export const sourceField = list({
  label: "Source",
  value: "<codes>",
  help: "only these sources, by code; OTHER for all that are not named",
  item: upperCaseCode,
  words: (values) => `source ${or(values)}`,
  ...isOneOf("source"),
});

/** One of the values that the API knows, in any letter case. */
export function choiceField(name: "status" | "program_type", known: readonly string[]): Field<string[]> {
  const words = name.replace("_", " ");
  return list({
    label: capitalized(words),
    choices: known,
    value: name === "status" ? "<statuses>" : "<types>",
    help: `only these: ${known.join(", ")}`,
    item: (text) => {
      const found = known.find((each) => each.toLowerCase() === text.toLowerCase());
      if (found !== undefined) return found;
      throw new BadValue(`must be of ${known.join(", ")}; not "${text}"${didYouMean(text, known)}`);
    },
    words: (values) => `${words} ${or(values)}`,
    ...isOneOf(name),
  });
}

const ELIGIBILITY = "eligibility contains this text";

/** A text that another one contains, in any letter case (D-12). */
export const eligibilityField: Field<string> = {
  label: "Eligibility",
  value: "<text>",
  help: ELIGIBILITY,
  schema: Type.String({ description: ELIGIBILITY }),
  read: readPlain,
  words: (part) => `eligibility contains "${part}"`,
  matches: (part, opportunity) => requirementsCell(opportunity).includes(fold(part)),
  condition: (part) => ({ sql: "(select instr(requirements, ?) from eligibilities where row = seq) > 0", values: [fold(part)] }),
};

type CodeField = Pick<Field<string[]>, "help" | "label" | "choices"> & {
  column: Scheme;
  value?: string;
  read: (text: string) => string;
  show?: (code: string) => string;
  fits: (code: string, sought: string) => boolean;
  /** A code cell contains one of these texts if one of its codes fits. */
  needles: (sought: string) => readonly string[];
};

/** A list of codes. A record matches if one of its codes fits one of them. */
export function codesField({ column, label, read, show = (code) => code, fits, needles, ...field }: CodeField): Field<string[]> {
  return list({
    label: capitalized(label),
    value: "<codes>",
    ...field,
    item: read,
    words: (values) => `${label} ${or(values.map(show))}`,
    matches: (sought, opportunity) => codesOf(column, opportunity).some((code) => sought.some((each) => fits(code, each))),
    condition: (sought) => {
      const parts = [...new Set(sought.flatMap(needles))];
      return { sql: parts.map(() => `instr(${column}, ?) > 0`).join(" or "), values: parts };
    },
  });
}

/** Reads a code in any letter case, with blanks and brackets. */
export function codeReader(form: RegExp, mustBe: string): (text: string) => string {
  return (text) => {
    const code = text.toUpperCase().replace(/[\s()]/g, "");
    if (!form.test(code)) throw new BadValue(`must be ${mustBe}; not "${text}"`);
    return code;
  };
}

/** `after` includes the instant and `before` does not, so that neighboring ranges share no record. Without a date, neither matches. */
const comparisons = {
  ">=": { side: "after", help: "at this time or later", holds: (left: EpochMs, right: EpochMs) => left >= right },
  ">": { side: "after", help: "later than this, not at it", holds: (left: EpochMs, right: EpochMs) => left > right },
  "<": { side: "before", help: "earlier than this", holds: (left: EpochMs, right: EpochMs) => left < right },
};

/** What was posted 7d ago lies in the past, what closes in 7d lies ahead. */
export const dates = { posted: PAST, opens: AHEAD, closes: AHEAD, updated: PAST };

export function dateField(
  verb: keyof typeof dates,
  operator: keyof typeof comparisons,
  column: "posted_at" | "opens_at" | "due_at" | "updated_at",
  get: (opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]) => EpochMs | null,
): Field<string> {
  const { side, help: comparison, holds } = comparisons[operator];
  const description = `${verb} ${comparison}`;
  const moment = dates[verb];
  return {
    label: `${capitalized(verb)} ${side}`,
    value: "<when>",
    help: `${description}: ${moment === PAST ? "7d ago" : "30d, -7d"}, today, monday, 2026-12-31 or a timestamp`,
    ...momentText(moment, description),
    words: (given, now) => `${verb} ${side} ${momentInWords(given, now, moment)}`,
    matches: (given, opportunity, now, duplicates) => {
      const ms = get(opportunity, now, duplicates);
      return ms !== null && holds(ms, readMoment(given, now, moment));
    },
    condition: (given, now) => ({ sql: `${column} ${operator} ?`, values: [readMoment(given, now, moment)] }),
  };
}

type AmountField = { label: string; help: string; words: string; column: "amount_low" | "amount_high"; operator: ">=" | "<=" };

export function amountField({ label, help, words, column, operator }: AmountField): Field<string> {
  return {
    label,
    value: "<amount>",
    help,
    schema: Type.String({ description: `${help}: "250000"` }),
    read: (given) => {
      const plain = typeof given === "string" ? decimalOf(given.trim()) : undefined;
      if (plain === undefined) {
        const asText = typeof given === "string" ? "" : " as text"; // A number in a file of filters may have lost digits.
        throw new BadValue(`must be an amount in dollars${asText}, such as "250000", "$1,500.50", "500k" or "1.5m"`);
      }
      return plain;
    },
    words: (given) => `awards of $${given.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",")} ${words}`,
    matches: (given, opportunity) => {
      const [stated, asked] = [columns[column](opportunity), decimalKey(given)];
      return stated !== null && (operator === ">=" ? stated >= asked : stated <= asked);
    },
    condition: (given) => ({ sql: `${column} ${operator} ?`, values: [decimalKey(given)] }),
  };
}

const SUFFIX_DIGITS: Readonly<Record<string, number>> = { k: 3, m: 6 };

/** "1500000.50" of "$1,500,000.50". The digits move as text, so it is exact. */
function decimalOf(text: string): string | undefined {
  const [, number = "", suffix = ""] = /^\$?(.*?)([km]?)$/i.exec(text) ?? [];
  const plain = number.replace(/,(?=\d{3}(?!\d))/g, "");
  const shift = SUFFIX_DIGITS[suffix.toLowerCase()];
  if (!isDecimal(plain)) return undefined;
  if (shift === undefined) return plain;
  const [whole = "", fraction = ""] = plain.split(".");
  const [moved, rest] = [fraction.slice(0, shift).padEnd(shift, "0"), fraction.slice(shift)];
  return `${whole}${moved}`.replace(/^(-?)0+(?=\d)/, "$1") + (rest === "" ? "" : `.${rest}`);
}

function isOneOf(column: "status" | "source" | "program_type"): Pick<Field<readonly string[]>, "matches" | "condition"> {
  return {
    matches: (values, opportunity) => values.includes(columns[column](opportunity)),
    condition: (values) => ({ sql: `${column} in (${values.map(() => "?").join(", ")})`, values }),
  };
}

function or(values: readonly string[]): string {
  return values.join(" or ");
}
