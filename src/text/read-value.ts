/** Reads values that a person or a program gives. Each reader throws a BadValue that says what it must be. No package: every start loads it. */
import { didYouMean } from "./closest.ts";
import { ellipsized } from "./quoted.ts";

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

/** A reader of texts that are not blank, have at most `max` characters, and no control characters. */
export function textReader(max: number): (given: unknown) => string {
  return (given) => {
    if (typeof given !== "string" || given.trim() === "") throw new BadValue("must be a text that is not blank");
    if (/[\x00-\x1f\x7f]/.test(given)) throw new BadValue("must not contain control characters");
    if ([...given].length > max) throw new BadValue(`must have at most ${max} characters`);
    return given;
  };
}

export function readChoice<const Name extends string>(names: readonly Name[]): (given: unknown) => Name {
  const mustBe = names.length === 1 ? `${names}` : `one of ${names.join(", ")}`;
  return (given) => nameAmong(names, given, mustBe);
}

export function readChoices<const Name extends string>(names: readonly Name[]): (given: unknown) => Name[] {
  return (given) => readItems(given).map((each) => nameAmong(names, each, `of ${names.join(", ")}`));
}

function nameAmong<Name extends string>(names: readonly Name[], given: unknown, mustBe: string): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw new BadValue(`must be ${mustBe}; not ${shownValue(given)}${typeof given === "string" ? didYouMean(given, names) : ""}`);
}

/** A value for an error message, on one line and not too long. */
export function shownValue(value: unknown): string {
  return ellipsized(JSON.stringify(value) ?? "undefined", 60);
}

/** A reader of whole numbers, also in plain digits. */
export function readInteger(min: number, max: number): (given: unknown) => number {
  return (given) => {
    const number = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : given;
    if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
    throw new BadValue(`must be a whole number from ${min} to ${max}`);
  };
}

export class BadValue extends Error {}
