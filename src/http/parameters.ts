/**
 * The parameters of a route: one table by which they are read, refused and documented.
 *
 * Elysia validates with it, but does not read the query: its own parser accepts `1e1` for 10 and loses the name of the bad field.
 */
import { type TObject, Type } from "@sinclair/typebox";
import { closest } from "../text/closest.ts";
import { Call, type ParameterValues } from "./call.ts";
import type { Parameter } from "./parameter-kinds.ts";
import { type FieldError, invalidParameters, Problem } from "./problem.ts";
import { parseQuery, type Sent } from "./query-string.ts";

type Parameters = Readonly<Record<string, Parameter<unknown>>>;

type GivenNames<P extends Parameters> = { [N in keyof P]: P[N] extends Parameter<infer _, true> ? N : never }[keyof P];

/** What a table reads: a property for each parameter, optional if the parameter is. */
type Values<P extends Parameters> = { [N in GivenNames<P>]: P[N] extends Parameter<infer T> ? T : never } & {
  [N in Exclude<keyof P, GivenNames<P>>]?: P[N] extends Parameter<infer T> ? T : never;
};

/** A route's parameters as Elysia takes them: `params` for the path, `query` for the query. */
export function parameters<Query extends Parameters>(tables: { query: Query }): { query: StandardSchema<Values<Query>> };
export function parameters<Path extends Parameters>(tables: { params: Path }): { params: StandardSchema<Values<Path>> };
export function parameters<Path extends Parameters, Query extends Parameters>(tables: {
  params: Path;
  query: Query;
}): { params: StandardSchema<Values<Path>>; query: StandardSchema<Values<Query>> };
export function parameters({ params, query }: { params?: Parameters; query?: Parameters }) {
  // Elysia validates `params`, then `query`. What is wrong with either is one problem (D-17), so the first reads both.
  const tables = { params: params ?? {}, query: query ?? {} };
  const read = (call: Call) => {
    call.values ??= readParameters(call, tables);
    return call.values;
  };
  return {
    ...(params && { params: standardSchema(schemaOf(params), (call) => read(call).params) }),
    ...(query && { query: standardSchema(Type.Partial(schemaOf(query)), (call) => read(call).query) }),
  };
}

/** Standard Schema, by which Elysia validates, and Standard JSON Schema, from which its OpenAPI plugin documents. */
type StandardSchema<T> = {
  "~standard": {
    version: 1;
    vendor: "fundfeed";
    validate: (value: unknown) => { value: T };
    jsonSchema: { input: () => TObject; output: () => TObject };
    types?: { input: unknown; output: T } | undefined;
  };
};

function standardSchema<T>(schema: TObject, read: (call: Call) => T): StandardSchema<T> {
  const validate = (value: unknown) => {
    if (!(value instanceof Call)) throw new Error("A route with parameters needs withKey: it passes on the call");
    return { value: read(value) };
  };
  return { "~standard": { version: 1, vendor: "fundfeed", validate, jsonSchema: { input: () => schema, output: () => schema } } };
}

function schemaOf(table: Parameters): TObject {
  return Type.Object(Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema])));
}

/** Reads all parameters of a call. Throws a problem that names every bad one (D-2, D-6, D-7, D-17). */
function readParameters(call: Call, { params, query }: { params: Parameters; query: Parameters }): ParameterValues {
  const sent = parseQuery(call.query);
  refuseUnlisted(sent, query);

  const values = { params: {}, query: {} };
  const errors: FieldError[] = [];
  for (const name in params) readParameter(name, params[name], [call.params[name] ?? null], values.params, errors);
  for (const name in query) readParameter(name, query[name], sent.get(name), values.query, errors);
  if (errors.length > 0) throw invalidParameters(errors);
  return values;
}

/** Adds its value to `values`, or what is wrong with it to `errors`. */
function readParameter(
  field: string,
  parameter: Parameter<unknown> | undefined,
  sent: readonly Sent[] | undefined,
  values: Record<string, unknown>,
  errors: FieldError[],
): void {
  if (parameter === undefined) return;
  if (sent === undefined) {
    if (parameter.fallback !== undefined) values[field] = parameter.fallback;
    return;
  }
  const reading = parameter.read(sent);
  if ("reason" in reading) errors.push({ field, reason: reading.reason });
  else if (hasOne(values, parameter.withOne)) values[field] = reading.value;
  else errors.push({ field, reason: `must be sent with exactly one "${parameter.withOne}" value` });
}

function hasOne(values: Readonly<Record<string, unknown>>, list: string | undefined): boolean {
  if (list === undefined) return true;
  const items = values[list];
  return Array.isArray(items) && items.length === 1;
}

/** Unsupported parameters that one problem names. */
const NAMED_MAX = 20;

function refuseUnlisted(sent: ReadonlyMap<string, readonly Sent[]>, table: Parameters): void {
  if (sent.size === 0) return;
  const isListed = (name: string) => Object.hasOwn(table, name);
  const unlisted = [...sent.keys()].filter((name) => !isListed(name));
  if (unlisted.length === 0) return;

  const listed = Object.keys(table);
  const wanted = listed.length === 0 ? "must be left out: this operation takes no query parameters" : `must be one of ${listed.join(", ")}`;
  const errors = unlisted.slice(0, NAMED_MAX).map((name) => {
    const meant = closest(name, listed);
    return { field: shown(name), reason: meant === undefined ? wanted : `${wanted}; did you mean "${meant}"?` };
  });
  const detail =
    unlisted.length === 1 ? `"${shown(unlisted[0] ?? "")}" is not a supported parameter.` : "Some parameters are not supported.";
  throw new Problem("unsupported_parameter", detail, { errors });
}

/** A name as sent, but short, and never a key. */
function shown(name: string): string {
  return /ffk_/i.test(name) ? "(a key)" : name.toWellFormed().slice(0, 64);
}
