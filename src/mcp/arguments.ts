/** The arguments of the tools: how each is described, read and refused. */
import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { Failure } from "../../db/reason.ts";
import { emptyRange, type FieldName, type Filter, fieldNames, fields } from "../filter/filter.ts";
import { didYouMean } from "../text/closest.ts";
import type { EpochMs } from "../text/instant.ts";
import type { JsonObject } from "../text/json-value.ts";
import { BadValue, shownValue, textReader } from "../text/read-value.ts";
import { upperCaseCode } from "../text/source-code.ts";
import type { GivenValue } from "../text/value.ts";

type ToolArgument<T> = GivenValue<T> & { isRequired?: boolean };

export type ToolArguments = Readonly<Record<string, ToolArgument<unknown>>>;

export type Values<T extends ToolArguments> = { [Name in keyof T]: T[Name] extends ToolArgument<infer V> ? V | undefined : never };

/** The filters as arguments, by the table that the command line uses. */
export const filterArguments = fields as Record<FieldName, ToolArgument<unknown>>;

/** The filter among the values. Throws an Error that names the arguments of a range that has nothing in it. */
export function filterAmong(action: string, values: Readonly<Record<string, unknown>>, now: EpochMs): Filter {
  const filter: Filter = Object.fromEntries(fieldNames.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
  const empty = emptyRange(filter, now);
  if (empty !== undefined) throw new Failure(`Cannot ${action}: "${empty.low}" ${empty.relation} "${empty.high}"`);
  return filter;
}

export function requiredText(description: string): ToolArgument<string> & { isRequired: true } {
  return { schema: Type.String({ description }), read: (given) => readLine(given).trim(), isRequired: true };
}

const readLine = textReader(500);

export const sourceCode: ToolArgument<string> = {
  schema: Type.String({ description: "Source code, if several sources use the number." }),
  read: (given) => upperCaseCode(readLine(given).trim()),
};

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
    : `there is no argument ${shownValue(name)}${didYouMean(name, names)}. There are ${names.join(", ")}`;
}
