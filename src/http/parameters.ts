/** The parameters of a route: one table that reads, refuses and documents them. (E-2) */
import { type TObject, Type } from "@sinclair/typebox";
import { closest } from "../text/closest.ts";
import type { ApiCall } from "./call.ts";
import type { Parameter } from "./parameter-kinds.ts";
import { type FieldError, invalidParameters, Problem } from "./problem.ts";
import { parseQuery, type SentValue } from "./query-text.ts";

type Table = Readonly<Record<string, Parameter<unknown>>>;

type RequiredNames<T extends Table> = { [N in keyof T]: T[N] extends Parameter<infer _, true> ? N : never }[keyof T];

type Values<T extends Table> = { [N in RequiredNames<T>]: T[N] extends Parameter<infer V> ? V : never } & {
  [N in Exclude<keyof T, RequiredNames<T>>]?: T[N] extends Parameter<infer V> ? V : never;
};

/** A route's parameters for Elysia: schemas, and the hook that reads them. Elysia's own values have lost repeats and brackets (`http/odd-queries`). */
export function parameters<Path extends Table, Query extends Table>(tables: {
  params?: Path;
  query?: Query;
}): {
  params: StandardSchema<Values<Path>>;
  query: StandardSchema<Values<Query>>;
  beforeHandle: (context: AdmittedContext) => void;
};
export function parameters({ params = {}, query = {} }: { params?: Table; query?: Table }) {
  return {
    params: standardSchema(schemaOf(params)),
    query: standardSchema(Type.Partial(schemaOf(query))),
    beforeHandle: (context: AdmittedContext) => {
      // Elysia reads the source of this function: if it passed the context on, Elysia would first parse all headers and cookies of every request.
      const values = readParameters(context.call, { params, query });
      context.params = values.params;
      context.query = values.query;
    },
  };
}

/** What the hook needs of Elysia's context: a route without `withKey` has no call, and does not compile. */
type AdmittedContext = { call: ApiCall; params: unknown; query: unknown };

/** Standard JSON Schema, from which Elysia's OpenAPI plugin generates the description, and Standard Schema, by which handlers get types. */
type StandardSchema<T> = {
  "~standard": {
    version: 1;
    vendor: "fundfeed";
    validate: (value: unknown) => { value: T };
    jsonSchema: { input: () => TObject; output: () => TObject };
    types?: { input: unknown; output: T } | undefined;
  };
};

/** Accepts any value: the hook, which comes later, reads and refuses. */
function standardSchema(schema: TObject): StandardSchema<unknown> {
  const jsonSchema = { input: () => schema, output: () => schema };
  return { "~standard": { version: 1, vendor: "fundfeed", validate: (value) => ({ value }), jsonSchema } };
}

function schemaOf(table: Table): TObject {
  return Type.Object(Object.fromEntries(Object.entries(table).map(([name, { schema }]) => [name, schema])));
}

type ParameterValues = { params: Readonly<Record<string, unknown>>; query: Readonly<Record<string, unknown>> };

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

function safeName(name: string): string {
  return /ffk_/i.test(name) ? "(a key)" : name.toWellFormed().slice(0, 64);
}
