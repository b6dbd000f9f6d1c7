/** Validates one record of an import against the schema and the limits. */

import { type Static, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { Unstorable } from "../../db/value.ts";
import type { ValidRecord } from "../changes/content.ts";
import type { StatusBasis, StatusTerms } from "../opportunities/clock.ts";
import { Opportunity, onlyExported, Sidecar, withNoteApart } from "../opportunities/opportunity.ts";
import { closest } from "../text/closest.ts";
import { type EpochMs, formatInstant, isFuture, parseInstant, parseStoredMs } from "../text/instant.ts";
import { isObject } from "../text/json-value.ts";
import { memoizeLast } from "../text/memoize.ts";
import { ellipsized } from "../text/quoted.ts";
import { nullable } from "../text/schema.ts";
import { upperCaseCode } from "../text/source-code.ts";
import { hasStrayByte } from "../text/utf8.ts";
import { UUID } from "../text/uuid.ts";

/** Why a record is rejected: a sentence that names the field and what it must be. */
export class Rejection extends Error {
  /** The reason without found value and list indexes, by which faults are counted. */
  readonly kind: string;

  constructor(reason: string, found = "") {
    super(reason + found);
    this.kind = reason.replaceAll(/\[\d+\]/g, "[]");
  }
}

export function refuseFuture(name: string, instant: EpochMs, now: EpochMs): void {
  if (isFuture(instant, now)) throw new Rejection(`${name} must not lie in the future`, `, not ${formatInstant(instant)}`);
}

/** The error as a rejection of its record. Throws an error that no record causes. */
export function rejectionOf(error: unknown): Rejection {
  if (error instanceof Rejection) return error;
  if (error instanceof Unstorable) return new Rejection(error.message);
  if (error instanceof RangeError) return new Rejection(`the record cannot be read: ${error.message}`);
  throw error;
}

const { id: _, source, title, summary, description, status: __, created_at: _from, updated_at: _until, ...rest } = Opportunity.properties;
const optionalText = nullable(Type.String());
const optionalInstant = nullable(Type.String({ format: "date-time" }));

/** A line of `import records`: the resource's fields in its order, then those that are not served. */
const RecordLine = Type.Object({
  source: Type.Object({ ...source.properties, name: optionalText }),
  title,
  summary,
  description,
  status: optionalText,
  ...rest,
  ...Sidecar.properties,
  ...onlyExported,
  lineage: optionalText,
  status_basis: nullable(onlyExported.status_basis),
  stated: nullable(onlyExported.stated),
  status_until: nullable(onlyExported.status_until),
  archives_at: nullable(onlyExported.archives_at),
  as_stored: nullable(onlyExported.as_stored),
  last_seen: nullable(onlyExported.last_seen),
  id: Type.Unknown(),
  created_at: optionalInstant,
  updated_at: optionalInstant,
});

/** Most characters of a text, and items of a list. The longest real description has some 100,000. */
const TEXT_MAX = 2_000_000;
const ITEMS_MAX = 10_000;
const NESTING_MAX = 100;

/** Most characters of fields used to look up records. Real agencies have 118, lineages 101, numbers 75. */
const CODE_MAX = 64;
const UPSTREAM_ID_MAX = 256;
const LINEAGE_MAX = 512;
const SOLICITATION_ID_MAX = 256;
const AGENCY_MAX = 500;
export const WORD_MAX = 64;

const lineReader = readerOf(RecordLine);
const readLine = (record: unknown) => lineReader(record, "") as Static<typeof RecordLine>;

/** Returns the record with absent fields as null or []. `names` has the name of each source code. Throws a Rejection. */
export function validateRecord(record: unknown, names: ReadonlyMap<string, string>): ValidRecord {
  const { lineage, earlier_ids, status_basis, stated, status_until, archives_at, linked, as_stored, last_seen, ...line } = readLine(record);
  const { id: _ignored, created_at, updated_at, ...shown } = line;
  const content = as_stored === null ? shown : asStored(shown, as_stored);
  const code = sourceCodeOf(content.source.code);
  for (const id of [content.source.opportunity_id, ...earlier_ids]) requireName(id, "source.opportunity_id", UPSTREAM_ID_MAX);
  if (content.title.trim() === "") throw new Rejection("title must not be blank");
  if (lineage !== null) requireName(lineage, "lineage", LINEAGE_MAX);
  if (content.status !== null) requireName(content.status, "status", WORD_MAX);
  if (stated?.status != null) requireName(stated.status, "stated.status", WORD_MAX);
  if (content.program.type !== null) requireName(content.program.type, "program.type", WORD_MAX);
  refuseLong(content.program.solicitation_id, "program.solicitation_id", SOLICITATION_ID_MAX);
  refuseLong(content.organization.agency, "organization.agency", AGENCY_MAX);
  if (status_basis === "stated" && content.status === null) throw new Rejection('status is required where status_basis is "stated"');
  const basis: StatusBasis = status_basis ?? (content.status === null ? "dates" : "stated");
  if (status_until !== null && basis === "dates") throw new Rejection("status is required where status_until is given");
  const valid: ValidRecord = {
    lineage: lineage ?? content.source.opportunity_id,
    earlier_ids,
    status_basis: basis,
    content: {
      ...content,
      ...(content.deadline_note === null ? withNoteApart(content) : {}),
      source: { ...content.source, code, name: content.source.name ?? names.get(code) ?? code },
      relationships: {
        parent_id: idOf(content.relationships.parent_id, "relationships.parent_id"),
        canonical_id: idOf(content.relationships.canonical_id, "relationships.canonical_id"),
      },
      ...(linked.length === 0 ? {} : { linked }),
      status: content.status ?? "",
      ...statusTermsOf(basis, stated ?? content, status_until, archives_at),
    },
  };
  const [created, updated] = [created_at, updated_at].map(parseStoredMs);
  if (created === undefined || updated === undefined || created > updated) return valid; // Not a record that `export` wrote.
  const [seen, missed_at = null] = [last_seen?.at, last_seen?.missed_at].map((instant) => parseStoredMs(instant ?? null));
  return {
    ...valid,
    restored: { created_at: created, updated_at: updated, ...(seen !== undefined && { last_seen: { at: seen, missed_at } }) },
  };
}

function asStored<Line extends Pick<Static<typeof RecordLine>, "status" | "status_display" | "dates">>(
  line: Line,
  { status, status_display, response_at }: NonNullable<Static<typeof RecordLine>["as_stored"]>,
): Line {
  return { ...line, status, status_display, dates: { ...line.dates, response_at } };
}

/** Terms of a status that changes at its own instants: in UTC, as a different spelling is no change. */
function statusTermsOf(
  basis: StatusBasis,
  { status, status_display }: { status: string | null; status_display: string | null },
  status_until: string | null,
  archives_at: string | null,
): StatusTerms {
  if (status_until === null && archives_at === null) return {};
  return {
    stated: { status: basis === "dates" ? null : status, status_display },
    ...(status_until === null ? {} : { status_until: inUtc(status_until, "status_until") }),
    ...(archives_at === null ? {} : { archives_at: inUtc(archives_at, "archives_at") }),
  };
}

function inUtc(text: string, path: string): string {
  const instant = parseStoredMs(text);
  if (instant === undefined) throw new Rejection(`${path} must lie in the years 0000 to 9999 of UTC`);
  return formatInstant(instant);
}

function idOf(text: string | null, path: string): string | null {
  if (text === null || UUID.test(text)) return text?.toLowerCase() ?? null;
  throw new Rejection(`${path} must be the id of an opportunity, a UUID`, `, not ${shown(text)}`);
}

/** A source code in upper case. Commas separate codes in filters. */
export function sourceCodeOf(text: string): string {
  requireName(text, "source.code", CODE_MAX);
  if (/[\s,]/.test(text)) throw new Rejection("source.code must not contain blanks or commas");
  if (BEYOND_ASCII.test(text)) throw new Rejection("source.code must have only ASCII characters");
  return upperCaseCode(text);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

export type NaturalKey = { source: string; lineage: string | undefined; upstreamId: string | undefined };

/** The natural key of a record before validation, as far as it can be read. */
export function readNaturalKey(record: unknown): NaturalKey | undefined {
  if (!isObject(record) || !isObject(record.source)) return undefined;
  const { code, opportunity_id } = record.source;
  return usableKey(code, record.lineage, opportunity_id);
}

/** The valid parts of a natural key; undefined without a valid source. */
export function usableKey(code: unknown, lineage: unknown, upstreamId: unknown): NaturalKey | undefined {
  const source = usableName(code, CODE_MAX);
  if (source === undefined || BEYOND_ASCII.test(source)) return undefined;
  return { source: upperCaseCode(source), lineage: usableName(lineage, LINEAGE_MAX), upstreamId: usableName(upstreamId, UPSTREAM_ID_MAX) };
}

/** Whether records of this source can have this upstream id. */
export function isUsableId(source: string, id: string): boolean {
  return usableKey(source, undefined, id)?.upstreamId !== undefined;
}

function usableName(name: unknown, lengthMax: number): string | undefined {
  return typeof name === "string" && nameFault(name, lengthMax) === undefined ? name : undefined;
}

type ValueReader = (value: unknown, path: string) => unknown;

/** Makes a reader from a schema. Absent values become null or [] if allowed; unknown and ill-formed ones are rejected. */
export function readerOf(schema: TSchema): ValueReader {
  if (TypeGuard.IsObject(schema))
    return objectReader(
      Object.entries(schema.properties).map(([name, property]) => [name, readerOf(property)]),
      new Set(Object.keys(schema.properties).filter((name) => !schema.required?.includes(name))),
    );
  if (TypeGuard.IsArray(schema)) return arrayReader(readerOf(schema.items));
  if (TypeGuard.IsUnion(schema)) return nullableReader(schema.anyOf.filter((option) => !TypeGuard.IsNull(option)));
  if (TypeGuard.IsLiteral(schema)) return constantReader([schema.const]);
  if (TypeGuard.IsNull(schema)) return constantReader([null]);
  if (TypeGuard.IsUnknown(schema)) return readAnything;
  if (TypeGuard.IsInteger(schema)) return readCount;
  if (typeof schema.pattern === "string") return amountReader(new RegExp(schema.pattern), schema.maxLength);
  return required(schema.format === "date-time" ? readInstant : readText);
}

function objectReader(properties: [name: string, read: ValueReader][], optional: ReadonlySet<string>): ValueReader {
  const names = properties.map(([name]) => name);
  const known = new Set(names);
  const readers = properties.map(([, reader]) => reader);
  const pathsIn = memoizeLast((path: string) => names.map((name) => join(path, name)));
  return (value, path) => {
    const object = value ?? {};
    if (!isObject(object)) throw new Rejection(`${path === "" ? "a record" : path} must be an object`);
    // First: a missing field may be there under a mistyped name.
    for (const name of Object.keys(object)) if (!known.has(name)) throw unknownField(name, names, path);
    const paths = pathsIn(path);
    const read: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) {
      const name = names[index] as string;
      if (object[name] == null && optional.has(name)) continue;
      read[name] = (readers[index] as ValueReader)(object[name], paths[index] as string);
    }
    return read;
  };
}

function unknownField(name: string, names: readonly string[], path: string): Rejection {
  const meant = closest(name, names);
  return new Rejection(`unknown field ${shown(join(path, name))}${meant === undefined ? "" : ` (did you mean "${join(path, meant)}"?)`}`);
}

function arrayReader(readItem: ValueReader): ValueReader {
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

function nullableReader(options: TSchema[]): ValueReader {
  const [first] = options;
  const read = options.length === 1 && first !== undefined ? readerOf(first) : constantReader(options.map((option) => option.const));
  return (value, path) => (value === undefined || value === null ? null : read(value, path));
}

function constantReader(constants: unknown[]): ValueReader {
  return (value, path) => {
    if (value === undefined && constants.length === 1) return constants[0];
    if (constants.includes(value ?? null)) return value ?? null;
    throw new Rejection(`${path} must be ${constants.map((constant) => JSON.stringify(constant)).join(" or ")}`);
  };
}

function required(read: (text: string, path: string) => string): ValueReader {
  return (value, path) => {
    if (value === undefined || value === null) throw new Rejection(`${path} is required`);
    if (typeof value !== "string") throw new Rejection(`${path} must be a string`);
    return read(value, path);
  };
}

function readCount(value: unknown, path: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Rejection(`${path} must be a whole number`, `, not ${shown(String(value))}`);
}

function readAnything(value: unknown, path: string): unknown {
  checkAnything(value, path, NESTING_MAX);
  return value ?? null;
}

function checkAnything(value: unknown, path: string, levels: number): void {
  if (typeof value === "string") readText(value, path);
  if (typeof value !== "object" || value === null) return;
  if (levels === 0) throw new Rejection(`${path} must not be nested more than ${NESTING_MAX} deep`);
  for (const [name, inner] of Object.entries(value)) {
    readText(name, path);
    checkAnything(inner, path, levels - 1);
  }
}

function readText(text: string, path: string): string {
  if (text.includes("\0")) throw new Rejection(`${path} must not contain NUL`);
  if (!text.isWellFormed()) throw new Rejection(`${path} ${illFormed(text)}`);
  refuseLong(text, path, TEXT_MAX);
  return text;
}

function readInstant(text: string, path: string): string {
  if (parseInstant(text) !== undefined) return text;
  throw new Rejection(`${path} must be an RFC 3339 timestamp with an offset such as 2026-01-31T17:00:00-05:00`, `, not ${shown(text)}`);
}

function amountReader(pattern: RegExp, maxLength: number): ValueReader {
  const read = required((text, path) => {
    refuseLong(text, path, maxLength);
    if (pattern.test(text)) return text;
    throw new Rejection(`${path} must be a decimal string such as "2500.00"`, `, not ${shown(text)}`);
  });
  return (value, path) => {
    if (typeof value === "number") throw new Rejection(`${path} must be a decimal string such as "2500.00"`, ", not a number");
    return read(value, path);
  };
}

/** Throws a Rejection unless a name could be used in a filter (D-7). */
export function requireName(name: string, path: string, lengthMax: number): void {
  const fault = nameFault(name, lengthMax);
  if (fault !== undefined) throw new Rejection(`${path} ${fault}`);
}

function nameFault(name: string, lengthMax: number): string | undefined {
  if (name.trim() === "") return "must not be blank";
  if (isLonger(name, lengthMax)) return `must have at most ${lengthMax} characters`;
  if (/\p{Cc}/u.test(name)) return "must not contain control characters";
  return name.isWellFormed() ? undefined : illFormed(name);
}

function illFormed(text: string): string {
  return hasStrayByte(text) ? "must be UTF-8" : "must be well-formed Unicode: it has a lone surrogate";
}

function refuseLong(text: string | null, path: string, lengthMax: number): void {
  if (text !== null && isLonger(text, lengthMax)) throw new Rejection(`${path} must have at most ${lengthMax} characters`);
}

function isLonger(text: string, lengthMax: number): boolean {
  return text.length > lengthMax && (text.length > lengthMax * 2 || [...text].length > lengthMax);
}

function shown(text: string): string {
  return JSON.stringify(ellipsized(text, 60));
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
