/** The arguments of the tools: how each is described, read and refused. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Failure } from "../../db/reason.ts";
import { emptyRange, type FieldName, type Filter, fieldNames, fields } from "../filter/filter.ts";
import { BadValue } from "../text/bad-value.ts";
import { didYouMean } from "../text/closest.ts";
import type { EpochMs } from "../text/instant.ts";
import type { JsonObject } from "../text/json-value.ts";
import { type MomentField, readMoment } from "../text/moment.ts";
import { upperCaseCode } from "../text/source-code.ts";

type ToolArgument<T> = {
  schema: TSchema;
  isRequired?: boolean;
  /** Throws a BadValue that says what the value must be. */
  read: (given: unknown, now: EpochMs) => T;
};

export type ToolArguments = Readonly<Record<string, ToolArgument<unknown>>>;

/** The values that were given; `undefined` for the others. */
export type Values<T extends ToolArguments> = { [Name in keyof T]: T[Name] extends ToolArgument<infer V> ? V | undefined : never };

/** The filters as arguments, by the table that the command line uses. */
export const filterArguments = Object.fromEntries<ToolArgument<unknown>>(
  fieldNames.map((name) => [name, { schema: fields[name].schema, read: fields[name].read }]),
) as Record<FieldName, ToolArgument<unknown>>;

/** The filter among the values. Throws an Error that names the arguments of a range that has nothing in it. */
export function filterAmong(action: string, values: Readonly<Record<string, unknown>>, now: EpochMs): Filter {
  const filter: Filter = Object.fromEntries(fieldNames.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
  const empty = emptyRange(filter, now);
  if (empty !== undefined) throw new Failure(`Cannot ${action}: "${empty.low}" ${empty.relation} "${empty.high}"`);
  return filter;
}

export function requiredText(description: string): ToolArgument<string> & { isRequired: true } {
  return { ...optionalText(description), isRequired: true };
}

const TEXT_MAX = 500;

function optionalText(description: string): ToolArgument<string> {
  return {
    schema: Type.String({ description }),
    read: (given) => {
      if (typeof given !== "string" || given.trim() === "" || given.length > TEXT_MAX)
        throw new BadValue(`must be a text of 1 to ${TEXT_MAX} characters`);
      return given.trim();
    },
  };
}

/** The code of one source, in any letter case. */
export const sourceCode: ToolArgument<string> = {
  ...optionalText("Source code, if several sources use the number."),
  read: (given, now) => upperCaseCode(optionalText("").read(given, now)),
};

export function choice<const Name extends string>(names: readonly Name[], description: string): ToolArgument<Name> {
  return { schema: Type.Unsafe<Name>({ type: "string", enum: names, description }), read: (given) => oneOf(names, given) };
}

export function choices<const Name extends string>(names: readonly Name[]): ToolArgument<Name[]> {
  return {
    schema: Type.Array(Type.Unsafe<Name>({ type: "string", enum: names })),
    read: (given) => {
      if (!Array.isArray(given) || given.length === 0) throw new BadValue(`must be a list of ${names.join(", ")}`);
      return [...new Set(given.map((each) => oneOf(names, each)))].sort();
    },
  };
}

function oneOf<Name extends string>(names: readonly Name[], given: unknown): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  const meant = typeof given === "string" ? didYouMean(given, names) : "";
  throw new BadValue(`must be one of ${names.join(", ")}; not ${shown(given)}${meant}`);
}

export function limit(fallback: number, max: number): ToolArgument<number> {
  return {
    schema: Type.Integer({ minimum: 1, maximum: max, default: fallback }),
    read: (given) => {
      if (typeof given !== "number" || !Number.isInteger(given) || given < 1 || given > max)
        throw new BadValue(`must be a whole number from 1 to ${max}; not ${shown(given)}`);
      return given;
    },
  };
}

/** Whether each record is shown, not one of each opportunity. */
export const allSourcesArgument: ToolArgument<boolean> = {
  schema: Type.Boolean({ description: "Every source's record, not one of each opportunity." }),
  read: (given) => {
    if (typeof given !== "boolean") throw new BadValue("must be true or false");
    return given;
  },
};

/** Every result that has a cursor says what it is for. */
export const cursorArgument: ToolArgument<string> = {
  schema: Type.String(),
  read: (given) => {
    if (typeof given !== "string" || given === "") throw new BadValue("must be a cursor that a tool returned");
    return given;
  },
};

/** The same arguments with their types alone: a model reads the rest once, in the schema of `find`. */
export function inShort<T extends ToolArguments>(table: T): T {
  const short = ({ type, items }: TSchema) => Type.Unsafe({ type, ...(items !== undefined && { items: { type: items.type } }) });
  return Object.fromEntries(Object.entries(table).map(([name, { schema, read }]) => [name, { schema: short(schema), read }])) as T;
}

/** A moment, as the text that means it: later pages of a list read it at the time of the first. */
export function momentArgument(field: MomentField, description: string): ToolArgument<string> {
  return {
    schema: Type.String({ description }),
    read: (given, now) => {
      readMoment(given, now, field);
      return String(given).trim();
    },
  };
}

/** The schema of a tool's input. */
export function inputSchema(table: ToolArguments): TObject {
  const properties = Object.entries(table).map(([name, { schema, isRequired }]) => [name, isRequired ? schema : Type.Optional(schema)]);
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false });
}

/** Reads what a client gave. Null counts as not given. Throws a Failure that names the argument. */
export function readArguments<T extends ToolArguments>(action: string, table: T, given: JsonObject, now: EpochMs): Values<T> {
  const names = Object.keys(table);
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const argument = Object.hasOwn(table, name) ? table[name] : undefined;
    if (argument === undefined) throw new Failure(`Cannot ${action}: ${unknownArgument(name, names)}`);
    if (value === null) continue;
    try {
      values[name] = argument.read(value, now);
    } catch (error) {
      if (error instanceof BadValue) throw new Failure(`Cannot ${action}: "${name}" ${error.message}`);
      throw error;
    }
  }
  for (const name of names) {
    if (table[name]?.isRequired && values[name] === undefined) throw new Failure(`Cannot ${action}: "${name}" is required`);
  }
  return values as Values<T>;
}

function unknownArgument(name: string, names: readonly string[]): string {
  return names.length === 0
    ? "it takes no arguments"
    : `there is no argument ${shown(name)}${didYouMean(name, names)}. There are ${names.join(", ")}`;
}

/** A value for an error message, on one line and not too long. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
