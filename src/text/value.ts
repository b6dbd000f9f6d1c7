/** Values that a person or a program gives: how each is described, read and refused. The doors bind these to their names. (E-136) */
import { type TSchema, Type } from "@sinclair/typebox";
import type { EpochMs } from "./instant.ts";
import { type MomentField, readMoment } from "./moment.ts";
import { readChoice, readChoices, readInteger } from "./read-value.ts";

export type GivenValue<T> = {
  /** What `read` accepts, as JSON Schema. `read` also accepts numbers and lists as text, with commas between items. */
  schema: TSchema;
  /** Reads a value from JSON, an address or the command line. Throws a BadValue that says what it must be. Only moments need `now`. */
  read: (given: unknown, now?: EpochMs) => T;
};

export function choice<const Name extends string>(names: readonly Name[], description: string): GivenValue<Name> {
  return { schema: Type.Unsafe<Name>({ type: "string", enum: [...names], description }), read: readChoice(names) };
}

export function choices<const Name extends string>(names: readonly Name[], description?: string): GivenValue<Name[]> {
  const item = Type.Unsafe<Name>({ type: "string", enum: [...names] });
  return {
    schema: Type.Array(item, { minItems: 1, ...(description !== undefined && { description }) }),
    read: readChoices(names),
  };
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
    read: readInteger(min, max),
  };
}

/** A moment as text: it is read again at each use, on later pages at the time of the first. Without `now`, only its form is checked. */
export function momentText(field: MomentField, description: string): GivenValue<string> {
  return {
    schema: Type.String({ description }),
    read: (given, now = 0) => {
      readMoment(given, now, field);
      return `${given}`.trim();
    },
  };
}
