/**
 * Parameters: one table for each operation, which reads them, refuses them and documents them.
 *
 * Query strings are read here and not by the framework, whose coercion accepts `1e1` for 10 and forgets which field was wrong.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { closest } from "../closest.ts";
import { parseInstant } from "../instant.ts";
import { CURSOR_LENGTH_MAX } from "./cursor.ts";
import { type FieldError, invalidParameters, Problem } from "./problem.ts";

/** Items of a list parameter, counted before they collapse (D-7). */
export const LIST_ITEMS_MAX = 50;

/** Unsupported parameters that one problem names. */
const NAMED_MAX = 20;

/** A value as sent; `null` where it is not well-formed UTF-8 or holds control characters. */
type Sent = string | null;

type Reading<T> = { value: T } | { reason: string };

/** `Given` is true when a value is always there: a fallback, or a part of the path. */
export type Parameter<T, Given extends boolean = boolean> = {
  in: "query" | "path";
  description: string;
  /** As the description of the service shows it. */
  schema: TSchema;
  given: Given;
  fallback?: T;
  /** The list parameter that must hold exactly one value beside this one. */
  withOne?: string;
  read: (sent: readonly Sent[]) => Reading<T>;
};

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

type GivenNames<P extends Parameters> = { [N in keyof P]: P[N] extends Parameter<infer _, true> ? N : never }[keyof P];

/** What a table reads: a member for each parameter, optional where one may be left out. */
export type Values<P extends Parameters> = { [N in GivenNames<P>]: P[N] extends Parameter<infer T> ? T : never } & {
  [N in Exclude<keyof P, GivenNames<P>>]?: P[N] extends Parameter<infer T> ? T : never;
};

/** Reads all parameters of a request, or refuses it naming every one at fault (D-2, D-6, D-7, D-17). */
export function readParameters<P extends Parameters>(
  { query, params }: { query: string; params: Readonly<Record<string, Sent>> },
  table: P,
): Values<P> {
  const sent = parseQuery(query);
  refuseUnlisted(sent, table);

  const values: Record<string, unknown> = {};
  const errors: FieldError[] = [];
  for (const field in table) {
    const parameter = table[field] as Parameter<unknown>; // A name of the table's own.
    const texts = parameter.in === "path" ? [params[field] ?? null] : sent.get(field);
    if (texts === undefined) {
      if (parameter.fallback !== undefined) values[field] = parameter.fallback;
      continue;
    }
    const reading = parameter.read(texts);
    if ("reason" in reading) errors.push({ field, reason: reading.reason });
    else if (hasOne(values, parameter.withOne)) values[field] = reading.value;
    else errors.push({ field, reason: `must come with exactly one "${parameter.withOne}" value` });
  }
  if (errors.length > 0) throw invalidParameters(errors);
  return values as Values<P>;
}

/** The query of the same request on another page: every parameter as it was sent, the cursor replaced. */
export function queryWithCursor(query: string, cursor: string): string {
  const kept = [...parseQuery(query)].filter(([name]) => name !== "cursor");
  const pairs = kept.flatMap(([name, texts]) => texts.map((text) => `${encode(name)}=${encode(text ?? "")}`));
  return [...pairs, `cursor=${cursor}`].join("&");
}

/** A comma-separated or repeated list; `allowed` are the only values that an item may have, any where it is left out. */
export function listOf<T extends string>(options: { description: string; allowed: readonly T[] }): Parameter<T[], false>;
export function listOf(options: { description: string; upperCase?: boolean; example?: string }): Parameter<string[], false>;
export function listOf({
  description,
  allowed,
  upperCase = false,
  example,
}: {
  description: string;
  allowed?: readonly string[];
  upperCase?: boolean;
  example?: string;
}): Parameter<string[], false> {
  const item = Type.String({ minLength: 1, ...(allowed && { enum: [...allowed] }), ...(example && { examples: [example] }) });
  return {
    in: "query",
    description,
    schema: Type.Array(item, { minItems: 1, maxItems: LIST_ITEMS_MAX }),
    given: false,
    read: (sent) => {
      if (sent.includes(null)) return NOT_TEXT;
      const items = sent.flatMap((text) => (text ?? "").split(",")).map((text) => text.trim());
      if (items.includes("")) return { reason: "must hold no empty value" };
      if (items.length > LIST_ITEMS_MAX) return { reason: `must hold at most ${LIST_ITEMS_MAX} values` };
      if (allowed !== undefined && !items.every((text) => allowed.includes(text))) {
        return { reason: `must hold only these values: ${allowed.join(", ")}` };
      }
      return { value: [...new Set(upperCase ? items.map((text) => text.toUpperCase()) : items)] };
    },
  };
}

export function text(options: { description: string; lengthMax: number; withOne?: string; example?: string }): Parameter<string, false> {
  const { description, lengthMax, withOne, example } = options;
  return {
    in: "query",
    description,
    schema: Type.String({ minLength: 1, maxLength: lengthMax, ...(example && { examples: [example] }) }),
    given: false,
    ...(withOne !== undefined && { withOne }),
    read: single((value) => ([...value].length <= lengthMax ? { value } : { reason: `must have at most ${lengthMax} characters` })),
  };
}

/** Plain decimal digits without a leading zero (D-9). */
export function integer(options: { description: string; min: number; max: number; fallback: number }): Parameter<number, true> {
  const { description, min, max, fallback } = options;
  const reason = `must be an integer from ${min} to ${max}`;
  return {
    in: "query",
    description,
    schema: Type.Integer({ minimum: min, maximum: max, default: fallback }),
    given: true,
    fallback,
    read: single((value) => {
      const number = /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? { value: number } : { reason };
    }),
  };
}

/** An RFC 3339 date-time with an offset (D-10). */
export function instant({ description }: { description: string }) {
  const reason = "must be an RFC 3339 date-time with an offset, such as 2026-01-31T00:00:00Z";
  return {
    in: "query",
    description,
    schema: Type.String({ format: "date-time", examples: ["2026-01-31T00:00:00Z"] }),
    given: false,
    read: single((text) => {
      const value = parseInstant(text.replace(/ (\d\d:\d\d)$/, "+$1")); // A "+" that was not encoded arrives as a blank.
      return value === undefined ? { reason } : { value };
    }),
  } satisfies Parameter<unknown>;
}

export function flag({ description, fallback }: { description: string; fallback: boolean }): Parameter<boolean, true> {
  return {
    in: "query",
    description,
    schema: Type.Boolean({ default: fallback }),
    given: true,
    fallback,
    read: single((value) => (value === "true" || value === "false" ? { value: value === "true" } : { reason: "must be true or false" })),
  };
}

/** Judged by `decodeCursor`, after all other parameters (D-2): here an empty, repeated or damaged one is just no cursor of ours. */
export function cursor({ description }: { description: string }): Parameter<string, false> {
  return {
    in: "query",
    description,
    schema: Type.String({ minLength: 1, maxLength: CURSOR_LENGTH_MAX, pattern: "^[A-Za-z0-9_-]+$" }),
    given: false,
    read: (sent) => ({ value: sent.length === 1 ? (sent[0] ?? "") : "" }),
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A UUID in the path, in either letter case (D-17). */
export function pathId({ description }: { description: string }): Parameter<string, true> {
  return {
    in: "path",
    description,
    schema: Type.String({ format: "uuid" }),
    given: true,
    read: ([id]) => (typeof id === "string" && UUID.test(id) ? { value: id.toLowerCase() } : { reason: "must be a UUID" }),
  };
}

const NOT_TEXT = { reason: "must be percent-encoded UTF-8 without control characters" };

/** A parameter that takes one value. */
function single<T>(read: (value: string) => Reading<T>) {
  return (sent: readonly Sent[]): Reading<T> => {
    const [value] = sent;
    if (sent.length > 1) return { reason: "must be sent once" };
    if (value === null || value === undefined) return NOT_TEXT;
    return value.trim() === "" ? { reason: "must not be empty" } : read(value);
  };
}

function hasOne(values: Readonly<Record<string, unknown>>, list: string | undefined): boolean {
  if (list === undefined) return true;
  const items = values[list];
  return Array.isArray(items) && items.length === 1;
}

function refuseUnlisted(sent: ReadonlyMap<string, readonly Sent[]>, table: Parameters): void {
  if (sent.size === 0) return;
  const isListed = (name: string) => Object.hasOwn(table, name) && table[name]?.in === "query";
  const unlisted = [...sent.keys()].filter((name) => !isListed(name));
  if (unlisted.length === 0) return;

  const listed = Object.keys(table).filter(isListed);
  const wanted = listed.length === 0 ? "must be left out: there are no parameters here" : `must be one of ${listed.join(", ")}`;
  const errors = unlisted.slice(0, NAMED_MAX).map((name) => {
    const meant = closest(name, listed);
    return { field: shown(name), reason: meant === undefined ? wanted : `${wanted}; did you mean "${meant}"?` };
  });
  const detail =
    unlisted.length === 1 ? `"${shown(unlisted[0] ?? "")}" is not a parameter here.` : "Some parameters are not supported here.";
  throw new Problem("unsupported_parameter", detail, { errors });
}

/** A name as sent, but short, and never what could be a key. */
function shown(name: string): string {
  return /ffk_/i.test(name) ? "(a key)" : name.toWellFormed().slice(0, 64);
}

/** Names and values, decoded; a name that cannot be decoded stands as it was sent. A Map: no name is special to it. */
function parseQuery(query: string): Map<string, Sent[]> {
  const sent = new Map<string, Sent[]>();
  if (query === "") return sent;
  for (const pair of query.split("&")) {
    if (pair === "" || pair === "=") continue;
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const decoded = decode(name) ?? name;
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const values = sent.get(decoded);
    if (values === undefined) sent.set(decoded, [value]);
    else values.push(value);
  }
  return sent;
}

/** U+FFFD is refused too: it stands where the server met bytes that are not UTF-8. */
const NOT_IN_TEXT = /[\p{Cc}\uFFFD]/u;

function decode(text: string): Sent {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    return NOT_IN_TEXT.test(decoded) ? null : decoded;
  } catch {
    return null; // Malformed percent-encoding, or not UTF-8.
  }
}

/** As in a query, colons and commas left readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");
}
