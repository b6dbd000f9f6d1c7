/** Shared by the formats: items of files, and fields of the upstream's texts. */
import { lastDueDate } from "../../opportunities/clock.ts";
import type { JsonObject } from "../../text/json-value.ts";
import { plainText } from "../../text/plain-text.ts";
import type { Draft, Input, Item, RecordItem, RejectedItem, SourceLine, VersionItem } from "../format.ts";
import { naming } from "../readers/input.ts";

/** An element of a file, or why it is none. A row of a CSV file has its text. */
export type FoundElement<Raw = JsonObject> =
  | { kind: "object"; line: number; raw: Raw; text?: string }
  | { kind: "rejected"; line: number; raw: unknown; reason: string };

/** The elements of all files. Errors name the file. */
export async function* elementsOf<Element>(
  inputs: readonly Input[],
  find: (input: Input) => AsyncIterable<Element>,
): AsyncIterable<Element & { input: Input }> {
  for (const input of inputs) for await (const element of naming(input, find(input))) yield { ...element, input };
}

export type ReadItem = (RecordItem | VersionItem | RejectedItem) & Pick<SourceLine, "isSuperseded">;

/** The items that `read` makes of the elements. */
export async function* itemsOf<Raw>(
  elements: AsyncIterable<FoundElement<Raw> & { input: Input }>,
  read: (raw: Raw, place: { input: Input; line: number; text?: string | undefined }) => ReadItem | undefined,
): AsyncIterable<Item> {
  for await (const found of elements) {
    const { input, line, raw } = found;
    const item = found.kind === "rejected" ? found : read(found.raw, { input, line, text: found.text });
    if (item !== undefined) yield { input, line, raw, ...item };
  }
}

export function rejected(reason: string): RejectedItem {
  return { kind: "rejected", reason };
}

/** The fault of objects without the member by which the format recognizes its records. */
export function faultWithout(member: string): (object: JsonObject) => string | undefined {
  return (object) => (member in object ? undefined : `has no ${member}`);
}

/** The values under other names. */
export function renamed(value: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(Object.entries(names).map(([theirs, ours]) => [ours, value[theirs]]));
}

/** The text of each field, by the upstream's names. */
export function columnTexts<Field extends string>(names: Readonly<Record<Field, string>>, text: (name: string) => string) {
  const texts = {} as Record<Field, string>; // A loop fills it, because it is read for every row.
  for (const field in names) texts[field] = text(names[field]);
  return texts;
}

/** The texts, with null for blank ones. */
export function orNull<Field extends string>(texts: Readonly<Record<Field, string>>): Record<Field, string | null> {
  const values: Record<Field, string | null> = { ...texts };
  for (const field in values) values[field] ||= null;
  return values;
}

/** The parts that are not empty, joined; null if all are empty. */
export function joined(parts: readonly (string | false | undefined)[], separator: string): string | null {
  return parts.filter(Boolean).join(separator) || null;
}

/** The different texts that are not blank. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== "");
}

/** Whether a text differs from the stored one at most in mark-up and blanks. `isPart`: the layout has only the beginning. */
export function saysTheSame(given: string | null | undefined, stored: string | null | undefined, isPart = false): stored is string {
  if (given == null || stored == null) return false;
  if (given === stored) return true;
  const [words, known] = [given, stored].map((text) => plainText(text).replace(/\s+/g, "")) as [string, string];
  return isPart ? known.startsWith(words) : known === words;
}

/** The due dates that an upstream lists, each once. The last one closes the record (D-37). */
export function dueDates(dates: readonly (string | null)[]): { due_dates: NonNullable<Draft["due_dates"]>; closes_at: string | null } {
  const due_dates = [...new Set(dates.filter((date) => date !== null))].map((at) => ({ at }));
  return { due_dates, closes_at: lastDueDate(due_dates) };
}
