/** Values that a person or a program gives: how each is described, read and refused. The doors bind these to their names. (E-136) */
import { type TSchema, Type } from "@sinclair/typebox";
import { BadValue } from "./bad-value.ts";
import { didYouMean } from "./closest.ts";
import type { EpochMs } from "./instant.ts";
import { type MomentField, readMoment } from "./moment.ts";

export type GivenValue<T> = {
  /** What `read` accepts, as JSON Schema. `read` also accepts numbers and lists as text, with commas between items. */
  schema: TSchema;
  /** Reads a value from JSON, an address or the command line. Throws a BadValue that says what it must be. Only moments need `now`. */
  read: (given: unknown, now?: EpochMs) => T;
};

/** The most items of a list. */
export const ITEMS_MAX = 50;

/** The items of a list, which is one text with commas or a list of texts, without blanks around them. */
export function readItems(given: unknown, max = ITEMS_MAX): string[] {
  const texts = typeof given === "string" ? given.split(",") : given;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === "string")) throw new BadValue("must be a list of texts");
  const items = texts.map((text) => text.trim());
  if (items.length === 0 || items.includes("")) throw new BadValue("must not be empty or contain an empty value");
  if (items.length > max) throw new BadValue(`must have at most ${max} values`);
  return [...new Set(items)];
}

/** One of a few names. */
export function choice<const Name extends string>(names: readonly Name[], description: string): GivenValue<Name> {
  const mustBe = names.length === 1 ? `${names}` : `one of ${names.join(", ")}`;
  return {
    schema: Type.Unsafe<Name>({ type: "string", enum: [...names], description }),
    read: (given) => nameAmong(names, given, mustBe),
  };
}

/** Any number of a few names. */
export function choices<const Name extends string>(names: readonly Name[], description?: string): GivenValue<Name[]> {
  const item = Type.Unsafe<Name>({ type: "string", enum: [...names] });
  return {
    schema: Type.Array(item, { minItems: 1, ...(description !== undefined && { description }) }),
    read: (given) => readItems(given).map((each) => nameAmong(names, each, `of ${names.join(", ")}`)),
  };
}

function nameAmong<Name extends string>(names: readonly Name[], given: unknown, mustBe: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new BadValue(`must be ${mustBe}; not ${shownValue(given)}${typeof given === "string" ? didYouMean(given, names) : ""}`);
}

/** A value for an error message, on one line and not too long. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** A whole number, also in plain digits. */
export function integer(min: number, max: number, fallback?: number, description?: string): GivenValue<number> {
  return {
    schema: Type.Integer({
      minimum: min,
      maximum: max,
      ...(fallback !== undefined && { default: fallback }),
      ...(description !== undefined && { description }),
    }),
    read: (given) => {
      const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : given;
      if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
      throw new BadValue(`must be a whole number from ${min} to ${max}`);
    },
  };
}

/** A moment, as the text that means it: it is read again whenever it is used, and later pages of a list read it at the time of the first. */
export function momentText(field: MomentField, description: string): GivenValue<string> {
  return {
    schema: Type.String({ description }),
    read: (given, now = 0) => {
      readMoment(given, now, field);
      return `${given}`.trim();
    },
  };
}
