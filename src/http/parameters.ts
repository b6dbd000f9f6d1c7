/**
 * The parameters of a route: one table that reads, refuses and documents them.
 *
 * Elysia validates with the table, but does not read the query: its own parser accepts `1e1` for 10, and loses the name of a bad field.
 * (E-2)
 */
import { type TObject, Type } from "@sinclair/typebox";
import { closest } from "../text/closest.ts";
import { ApiCall, type ParameterValues } from "./call.ts";
import type { Parameter } from "./parameter-kinds.ts";
import { type FieldError, invalidParameters, Problem } from "./problem.ts";
import { parseQuery, type SentValue } from "./query-text.ts";

type Table = Readonly<Record<string, Parameter<unknown>>>;

/** The names of the parameters that always have a value. */
type RequiredNames<T extends Table> = { [N in keyof T]: T[N] extends Parameter<infer _, true> ? N : never }[keyof T];

/** The values that a table reads: one property for each parameter, optional if the parameter is. */
type Values<T extends Table> = { [N in RequiredNames<T>]: T[N] extends Parameter<infer V> ? V : never } & {
  [N in Exclude<keyof T, RequiredNames<T>>]?: T[N] extends Parameter<infer V> ? V : never;
};

/** A route's parameters in Elysia's form: `params` for the path, `query` for the query. */
export function parameters<Path extends Table, Query extends Table>(tables: {
  params?: Path;
  query?: Query;
}): { params: StandardSchema<Values<Path>>; query: StandardSchema<Values<Query>> };
export function parameters({ params = {}, query = {} }: { params?: Table; query?: Table }) {
  // Elysia validates `params` first, then `query`. One problem names what is wrong with both (D-17), so the first validation reads both.
  const read = (call: ApiCall) => {
    call.values ??= readParameters(call, { params, query });
    return call.values;
  };
  return {
    params: standardSchema(schemaOf(params), (call) => read(call).params),
    query: standardSchema(Type.Partial(schemaOf(query)), (call) => read(call).query),
  };
}

/** Standard Schema, with which Elysia validates, and Standard JSON Schema, from which its OpenAPI plugin generates the description. */
type StandardSchema<T> = {
  "~standard": {
    version: 1;
    vendor: "fundfeed";
    validate: (value: unknown) => { value: T };
    jsonSchema: { input: () => TObject; output: () => TObject };
    types?: { input: unknown; output: T } | undefined;
  };
};

function standardSchema<T>(schema: TObject, read: (call: ApiCall) => T): StandardSchema<T> {
  const validate = (value: unknown) => {
    if (!(value instanceof ApiCall)) throw new Error("A route with parameters needs withKey: it passes on the call");
    return { value: read(value) };
  };
  return { "~standard": { version: 1, vendor: "fundfeed", validate, jsonSchema: { input: () => schema, output: () => schema } } };
}

function schemaOf(table: Table): TObject {
  return Type.Object(Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema])));
}

/** Reads all parameters of a call. Throws one problem that names every bad parameter (D-2, D-6, D-7, D-17). */
function readParameters(call: ApiCall, { params, query }: { params: Table; query: Table }): ParameterValues {
  const sent = parseQuery(call.query);
  refuseUnsupported(sent, query);

  const values = { params: {}, query: {} };
  const errors: FieldError[] = [];
  for (const name in params) readParameter(name, params[name], [call.params[name] ?? null], values.params, errors);
  for (const name in query) readParameter(name, query[name], sent.get(name), values.query, errors);
  if (errors.length > 0) throw invalidParameters(errors);
  return values;
}

/** Adds the value of one parameter to `values`, or what is wrong with it to `errors`. */
function readParameter(
  field: string,
  parameter: Parameter<unknown> | undefined,
  sent: readonly SentValue[] | undefined,
  values: Record<string, unknown>,
  errors: FieldError[],
): void {
  if (parameter === undefined) return;
  if (sent === undefined) {
    if (parameter.fallback !== undefined) values[field] = parameter.fallback;
    return;
  }
  const result = parameter.read(sent);
  if ("reason" in result) errors.push({ field, reason: result.reason });
  else if (parameter.needsOne === undefined || isOneItem(values[parameter.needsOne])) values[field] = result.value;
  else errors.push({ field, reason: `must be sent with exactly one "${parameter.needsOne}" value` });
}

function isOneItem(list: unknown): boolean {
  return Array.isArray(list) && list.length === 1;
}

/** How many unsupported parameters one problem names. */
const NAMED_MAX = 20;

function refuseUnsupported(sent: ReadonlyMap<string, readonly SentValue[]>, table: Table): void {
  const unsupported = sent.size === 0 ? [] : [...sent.keys()].filter((name) => !Object.hasOwn(table, name));
  if (unsupported.length === 0) return;

  const supported = Object.keys(table);
  const rule =
    supported.length === 0 ? "must be left out: this operation takes no query parameters" : `must be one of ${supported.join(", ")}`;
  const errors = unsupported.slice(0, NAMED_MAX).map((name) => {
    const suggestion = closest(name, supported);
    return { field: safeName(name), reason: suggestion === undefined ? rule : `${rule}; did you mean "${suggestion}"?` };
  });
  const detail =
    unsupported.length === 1 ? `"${safeName(unsupported[0] ?? "")}" is not a supported parameter.` : "Some parameters are not supported.";
  throw new Problem("unsupported_parameter", detail, { errors });
}

/** A name as it was sent, but shortened, and never a key. */
function safeName(name: string): string {
  return /ffk_/i.test(name) ? "(a key)" : name.toWellFormed().slice(0, 64);
}
