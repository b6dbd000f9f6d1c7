/** The kinds of parameters: how each is described, read and refused. (E-136) */
import { type TSchema, Type } from "@sinclair/typebox";
import { parseInstant } from "../text/instant.ts";
import { upperCaseCode } from "../text/source-code.ts";
import { UUID } from "../text/uuid.ts";
import { CURSOR_LENGTH_MAX } from "./cursor.ts";
import type { SentValue } from "./query-text.ts";

type Result<T> = { value: T } | { reason: string };

/** `Required` is true for a parameter that always has a value: it has a fallback, or is part of the path. */
export type Parameter<T, Required extends boolean = boolean> = {
  schema: TSchema;
  required: Required;
  fallback?: T;
  needsOne?: string;
  read: (sent: readonly SentValue[]) => Result<T>;
};

/** How many items a list parameter may have, duplicates included (D-7). */
export const LIST_ITEMS_MAX = 50;

/** A list, comma-separated or repeated (D-7). Items must be in `allowed`, if it is given (D-8). */
export function listParameter<T extends string>(
  description: string,
  { allowed, upperCase = false, example }: { allowed?: readonly T[]; upperCase?: boolean; example?: string } = {},
): Parameter<T[], false> {
  const rule = `Comma-separated, repeated or both; at most ${LIST_ITEMS_MAX} values. Blanks around values and duplicates are ignored.`;
  const item = Type.String({ minLength: 1, ...(allowed && { enum: [...allowed] }), ...(example && { examples: [example] }) });
  const isAllowed = (text: string): text is T => allowed === undefined || allowed.some((each) => each === text);
  return {
    schema: Type.Array(item, { minItems: 1, maxItems: LIST_ITEMS_MAX, description: `${description} ${rule}` }),
    required: false,
    read: (sent) => {
      if (sent.includes(null)) return NOT_TEXT;
      const texts = sent.join(",").split(",");
      const items = texts.map((text) => (upperCase ? upperCaseCode(text.trim()) : text.trim()));
      if (items.includes("")) return { reason: "must not contain an empty value" };
      if (items.length > LIST_ITEMS_MAX) return { reason: `must have at most ${LIST_ITEMS_MAX} values` };
      if (!items.every(isAllowed)) return { reason: `must contain only these values: ${allowed?.join(", ")}` };
      return { value: [...new Set(items)] };
    },
  };
}

/** One text. It is counted in characters, not in UTF-16 units. */
export function textParameter(
  description: string,
  { lengthMax, needsOne, example }: { lengthMax: number; needsOne?: string; example?: string },
): Parameter<string, false> {
  return {
    schema: Type.String({
      minLength: 1,
      maxLength: lengthMax,
      ...(example && { examples: [example] }),
      description: `${description} At most ${lengthMax} characters, sent once.`,
    }),
    required: false,
    ...(needsOne !== undefined && { needsOne }),
    read: single((value) => ([...value].length <= lengthMax ? { value } : { reason: `must have at most ${lengthMax} characters` })),
  };
}

/** An integer in plain decimal digits, without a leading zero (D-9). */
function integerParameter(description: string, min: number, max: number, fallback: number): Parameter<number, true> {
  const rule = `From ${min} to ${max}, in plain decimal digits, sent once.`;
  const reason = `must be an integer from ${min} to ${max}`;
  return {
    schema: Type.Integer({ format: "int32", minimum: min, maximum: max, default: fallback, description: `${description} ${rule}` }),
    required: true,
    fallback,
    read: single((value) => {
      const number = /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? { value: number } : { reason };
    }),
  };
}

/** An RFC 3339 date-time with an offset (D-10). */
export function instantParameter(description: string) {
  const rule = "An RFC 3339 date-time with an offset, sent once; write its `+` as `%2B`.";
  const reason = "must be an RFC 3339 date-time with an offset, such as 2026-01-31T00:00:00Z";
  return {
    schema: Type.String({ format: "date-time", examples: ["2026-01-31T00:00:00Z"], description: `${description} ${rule}` }),
    required: false,
    read: single((value) => {
      const parsed = parseInstant(value.replace(/ (\d\d:\d\d)$/, "+$1")); // An unencoded "+" arrives as a blank.
      return parsed === undefined ? { reason } : { value: parsed };
    }),
  } satisfies Parameter<unknown>;
}

/** `true` or `false`. */
export function flagParameter(description: string, fallback: boolean): Parameter<boolean, true> {
  return {
    schema: Type.Boolean({ default: fallback, description: `${description} \`true\` or \`false\`, sent once.` }),
    required: true,
    fallback,
    read: single((value) => (value === "true" || value === "false" ? { value: value === "true" } : { reason: "must be true or false" })),
  };
}

/** A cursor. Accepts any text, and reads a repeated one as "". `decodeCursor` refuses bad ones, after all other parameters (D-2). */
const cursorParameter: Parameter<string, false> = {
  schema: Type.String({
    minLength: 1,
    maxLength: CURSOR_LENGTH_MAX,
    pattern: "^[A-Za-z0-9_-]+$",
    description: `\`meta.next_cursor\` of the previous page, with the same filters. At most ${CURSOR_LENGTH_MAX} characters, sent once.`,
  }),
  required: false,
  read: (sent) => ({ value: sent.length === 1 ? (sent[0] ?? "") : "" }),
};

export const pageParameters = {
  limit: integerParameter("Page size.", 1, 100, 25),
  cursor: cursorParameter,
};

/** A UUID in the path, in upper or lower case (D-17). Its value is in lower case. */
export const idParameter: Parameter<string, true> = {
  schema: Type.String({ format: "uuid", description: "The service's id of the opportunity. A UUID, in upper or lower case." }),
  required: true,
  read: ([id]) => (typeof id === "string" && UUID.test(id) ? { value: id.toLowerCase() } : { reason: "must be a UUID" }),
};

const NOT_TEXT = { reason: "must be percent-encoded UTF-8 without control characters" };

function single<T>(read: (value: string) => Result<T>) {
  return (sent: readonly SentValue[]): Result<T> => {
    const [value] = sent;
    if (sent.length > 1) return { reason: "must be sent once" };
    if (value === null || value === undefined) return NOT_TEXT;
    return value.trim() === "" ? { reason: "must not be empty" } : read(value);
  };
}
