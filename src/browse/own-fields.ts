/** The fields of addresses besides the filters, declared as filters are: each declaration reads, refuses and documents. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { Field } from "../filter/kinds.ts";
import { sorts } from "../search/search.ts";
import { BadValue } from "../text/bad-value.ts";
import { type MomentField, readMoment } from "../text/moment.ts";

type OwnField = Pick<Field<string>, "schema" | "read">;

export type OwnFields = Readonly<Record<string, OwnField>>;

/** One of a few values. */
export function oneOf(values: readonly string[], description: string): OwnField {
  const schema = Type.Unsafe<string>({ type: "string", enum: [...values], description });
  return ownField(schema, (text) => values.includes(text), values.length === 1 ? `${values}` : `one of ${values.join(", ")}`);
}

/** Any number of a few values, with commas between them. */
export function someOf(values: readonly string[], description: string): OwnField {
  const item = Type.Unsafe<string>({ type: "string", enum: [...values] });
  const isKnown = (text: string) => listedIn(text).every((each) => values.includes(each));
  return ownField(Type.Array(item, { minItems: 1, description }), isKnown, `of ${values.join(", ")}`);
}

/** The items of a list with commas, without the blanks around them. */
export function listedIn(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

/** A date of the calendar. */
export function dateOf(isDate: (text: string) => boolean, description: string): OwnField {
  return ownField(Type.String({ format: "date", description }), isDate, "a date such as 2026-12-31");
}

/** A moment, as the text that means it. One that must not lie ahead is refused where the time is known. */
export function momentField(field: MomentField, description: string): OwnField {
  return {
    schema: Type.String({ description }),
    read: (given) => {
      readMoment(given, 0, field);
      return `${given}`;
    },
  };
}

/** A whole number in plain digits. */
export function numberOfMost(max: number, fallback: number, description: string): OwnField {
  const schema = Type.Integer({ minimum: 1, maximum: max, default: fallback, description });
  const isNumber = (text: string) => /^[1-9]\d{0,8}$/.test(text) && Number(text) <= max;
  return ownField(schema, isNumber, `a whole number from 1 to ${max}`);
}

/** Where a list goes on. Any text is read: a wrong one is refused where it is used. */
export const afterField: OwnField = {
  schema: Type.String({ description: "`next_cursor` of the page before, with the same other parameters." }),
  read: (given) => `${given}`,
};

/** Every record, not one of each opportunity. */
export const allSourcesField = oneOf(["yes"], "`yes` gives every source's record of an opportunity, not one for all.");

/** The fields of `/` besides the filters. */
export const findFields = {
  sort: oneOf(sorts, "The order. Without it: the best matches first, with words, else the last change first."),
  after: afterField,
} satisfies OwnFields;

function ownField(schema: TSchema, accepts: (text: string) => boolean, mustBe: string): OwnField {
  return {
    schema,
    read: (given) => {
      if (typeof given === "string" && accepts(given)) return given;
      throw new BadValue(`must be ${mustBe}`);
    },
  };
}
