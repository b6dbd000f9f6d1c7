/** Judges one record of an import: every field in its place, or a Rejection that names the field and the wanted state. */
import { type Static, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import type { Incoming, StatusBasis } from "../changes/content.ts";
import { parseInstant, parseStoredMs } from "../instant.ts";
import { lastAnswer } from "../memo.ts";
import { Attachment, Opportunity, Question } from "../opportunities/opportunity.ts";
import { isObject } from "./json-value.ts";

/** Why a record is rejected, as a sentence for the rejects file. */
export class Rejection extends Error {}

const {
  id: _id,
  source,
  title,
  summary,
  description,
  status: _status,
  created_at: _created,
  updated_at: _updated,
  ...rest
} = Opportunity.properties;
const optionalText = Type.Union([Type.String(), Type.Null()]);
const optionalInstant = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

/** A line of `import records`: the resource's fields in the resource's order, then those that are not served. */
export const RecordLine = Type.Object({
  source: Type.Object({ ...source.properties, name: optionalText }),
  title,
  summary,
  description,
  status: optionalText,
  ...rest,
  attachments: Type.Array(Attachment),
  questions: Type.Array(Question),
  lineage: optionalText,
  earlier_ids: Type.Array(Type.String()),
  status_basis: Type.Union([Type.Literal("stated"), Type.Literal("dates"), Type.Null()]),
  id: Type.Unknown(),
  created_at: optionalInstant,
  updated_at: optionalInstant,
});

/** Longest text of one field in UTF-16 units, and most items of one array. The longest real description has some 100,000. */
const TEXT_MAX = 2_000_000;
const ITEMS_MAX = 10_000;

/** Longest source code and upstream id: as long as filters take them. */
const CODE_MAX = 64;
const UPSTREAM_ID_MAX = 256;

const readLine = readerOf(RecordLine) as (value: unknown, path: string) => Static<typeof RecordLine>;

/** The record with absent fields as null or [], or a Rejection. `names`: the catalogue's name of each source code. */
export function judgeRecord(record: unknown, names: ReadonlyMap<string, string>): Incoming {
  const { lineage, earlier_ids, status_basis, id: _ignored, created_at, updated_at, ...content } = readLine(record, "");
  const code = content.source.code.toUpperCase();
  refuseBlank(code, "source.code");
  if (/[\s,]/.test(code)) throw new Rejection("source.code must not contain blanks or commas");
  refuseLong(code, "source.code", CODE_MAX);
  refuseBlank(content.source.opportunity_id, "source.opportunity_id");
  for (const id of [content.source.opportunity_id, ...earlier_ids]) refuseLong(id, "source.opportunity_id", UPSTREAM_ID_MAX);
  refuseBlank(content.title, "title");
  if (lineage !== null) refuseBlank(lineage, "lineage");
  if (content.status !== null) refuseBlank(content.status, "status");
  if (status_basis === "stated" && content.status === null) throw new Rejection('status is required where status_basis is "stated"');
  const basis: StatusBasis = status_basis ?? (content.status === null ? "dates" : "stated");
  const incoming: Incoming = {
    lineage: lineage ?? content.source.opportunity_id,
    earlier_ids,
    status_basis: basis,
    content: {
      ...content,
      source: { ...content.source, code, name: content.source.name ?? names.get(code) ?? code },
      status: content.status ?? "",
    },
  };
  const [created, updated] = [created_at, updated_at].map((instant) => (instant === null ? undefined : parseStoredMs(instant)));
  if (created === undefined || updated === undefined || created > updated) return incoming; // Not what `export` writes.
  return { ...incoming, restored: { created_at: created, updated_at: updated } };
}

export type NaturalKey = { source: string; lineage: string | undefined; upstreamId: string | undefined };

/** Natural key of a record that was not judged, where it can be read. */
export function readNaturalKey(record: unknown): NaturalKey | undefined {
  if (!isObject(record) || !isObject(record.source)) return undefined;
  const { code, opportunity_id } = record.source;
  if (typeof code !== "string") return undefined;
  return { source: code.toUpperCase(), lineage: textOf(record.lineage), upstreamId: textOf(opportunity_id) };
}

export type Reader = (value: unknown, path: string) => unknown;

/** A reader made from a schema once: absent is null, [] or a refusal, as the schema allows; what is unknown or ill-formed is refused. */
export function readerOf(schema: TSchema): Reader {
  if (TypeGuard.IsObject(schema))
    return objectReader(Object.entries(schema.properties).map(([name, property]) => [name, readerOf(property)]));
  if (TypeGuard.IsArray(schema)) return arrayReader(readerOf(schema.items));
  if (TypeGuard.IsUnion(schema)) return nullableReader(schema.anyOf.filter((option) => !TypeGuard.IsNull(option)));
  if (TypeGuard.IsLiteral(schema)) return constantReader([schema.const]);
  if (TypeGuard.IsNull(schema)) return constantReader([null]);
  if (TypeGuard.IsUnknown(schema)) return readAnything;
  if (typeof schema.pattern === "string") return amountReader(new RegExp(schema.pattern), schema.maxLength);
  return required(schema.format === "date-time" ? readInstant : readText);
}

function objectReader(properties: [name: string, read: Reader][]): Reader {
  const names = properties.map(([name]) => name);
  const readers = properties.map(([, reader]) => reader);
  const pathsIn = lastAnswer((path: string) => names.map((name) => join(path, name)));
  return (value, path) => {
    const object = value ?? {};
    if (!isObject(object)) throw new Rejection(`${path === "" ? "a record" : path} must be an object`);
    const paths = pathsIn(path);
    const read: Record<string, unknown> = {};
    let found = 0;
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      const field = object[name];
      if (field !== undefined) found++;
      read[name] = (readers[index] as Reader)(field, paths[index] as string);
    }
    if (found !== Object.keys(object).length) refuseUnknown(object, names, path);
    return read;
  };
}

function refuseUnknown(object: object, names: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Rejection(`unknown field "${join(path, unknown)}"`);
}

function arrayReader(readItem: Reader): Reader {
  return (value, path) => {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw new Rejection(`${path} must be an array`);
    if (value.length > ITEMS_MAX) throw new Rejection(`${path} must have at most ${ITEMS_MAX} items`);
    return value.map((item, index) => {
      if (item === null) throw new Rejection(`${path}[${index}] must not be null`);
      return readItem(item, `${path}[${index}]`);
    });
  };
}

function nullableReader(options: TSchema[]): Reader {
  const [first] = options;
  const read = options.length === 1 && first !== undefined ? readerOf(first) : constantReader(options.map((option) => option.const));
  return (value, path) => (value === undefined || value === null ? null : read(value, path));
}

/** `null` among the constants allows absence; a single constant is filled in where it is absent. */
function constantReader(constants: unknown[]): Reader {
  return (value, path) => {
    if (value === undefined && constants.length === 1) return constants[0];
    if (constants.includes(value ?? null)) return value ?? null;
    throw new Rejection(`${path} must be ${constants.map((constant) => JSON.stringify(constant)).join(" or ")}`);
  };
}

function required(read: (text: string, path: string) => string): Reader {
  return (value, path) => {
    if (value === undefined || value === null) throw new Rejection(`${path} is required`);
    if (typeof value !== "string") throw new Rejection(`${path} must be a string`);
    return read(value, path);
  };
}

/** Any JSON value; NUL and lone surrogates are looked for in its text. */
function readAnything(value: unknown, path: string): unknown {
  const json = JSON.stringify(value ?? null);
  if (/(?:^|[^\\])(?:\\\\)*\\u(0000|d[89ab][0-9a-f]{2}|d[c-f][0-9a-f]{2})/.test(json))
    throw new Rejection(`${path} must not contain NUL or a lone surrogate`);
  return value ?? null;
}

function readText(text: string, path: string): string {
  if (text.includes("\0")) throw new Rejection(`${path} must not contain NUL`);
  if (!text.isWellFormed()) throw new Rejection(`${path} must be well-formed Unicode: it has a lone surrogate`);
  if (text.length > TEXT_MAX) throw new Rejection(`${path} must have at most ${TEXT_MAX} characters`);
  return text;
}

function readInstant(text: string, path: string): string {
  if (parseInstant(text) !== undefined) return text;
  throw new Rejection(`${path} must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00-05:00, not ${shown(text)}`);
}

function amountReader(pattern: RegExp, maxLength: number): Reader {
  const read = required((text, path) => {
    if (text.length > maxLength) throw new Rejection(`${path} must have at most ${maxLength} characters`);
    if (pattern.test(text)) return text;
    throw new Rejection(`${path} must be a decimal string such as "2500.00", not ${shown(text)}`);
  });
  return (value, path) => {
    if (typeof value === "number") throw new Rejection(`${path} must be a decimal string such as "2500.00", not a number`);
    return read(value, path);
  };
}

/** What a filter could not name (D-7) could not be found. */
function refuseLong(text: string, path: string, max: number): void {
  if (text.length > max) throw new Rejection(`${path} must have at most ${max} characters`);
  if (/\p{Cc}/u.test(text)) throw new Rejection(`${path} must not contain control characters`);
}

function refuseBlank(text: string, path: string): void {
  if (text.trim() === "") throw new Rejection(`${path} must not be blank`);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
