/**
 * The shape of an upstream's records: which fields there are, how often they have a value, and of which type. The shapes of the real files
 * that the tests read are in `shapes.json`; `probe.ts` compares what an upstream returns today with them. A list written by hand would only
 * repeat what the code expects.
 */
import { isObject, type JsonObject } from "../src/text/json-value.ts";

/** `seldom` also if too few records are known to say so. */
type Frequency = "always" | "often" | "seldom";

/** A field of the known records. `in` is how often they have it at all, `filled` how often with a value. No types: it never had a value. */
type KnownField = { in: Frequency; filled: Frequency; types: string[] };

/** The fields of one kind of record by their path: `solicitation_topics[].topic_title`. */
export type KnownShape = Readonly<Record<string, KnownField>>;

/** What differs from the known records. `expected` and `found` are types, or how often the field is there. */
export type ShapeFinding = { field: string; problem: "missing" | "empty" | "type" | "new"; expected: string | null; found: string | null };

/** How many objects have a field, how many of them with a value, and the types of the values with their number. */
type Counts = { in: number; filled: number; types: Map<string, number> };

/** Sample size from which a field of every record is required. */
const ALWAYS_ENOUGH = 5;
/** Sample size from which a field of most records must occur at least once. */
const OFTEN_ENOUGH = 25;
/** Values from which a type "digits" is believed. Fewer may be all digits by chance. */
const DIGITS_ENOUGH = 20;

/** The shape of records that are known to be as the upstream publishes them. */
export function knownShape(records: readonly JsonObject[]): KnownShape {
  const { fields, objects } = countFields(records);
  const known = [...fields].map(([path, counts]): [string, KnownField] => {
    const types = [...counts.types].map(([type, count]) => (type === DIGITS && count < DIGITS_ENOUGH ? TEXT : type));
    const shown = types.includes(TEXT) ? types.filter((type) => type === TEXT || !isForm(type)) : types;
    const often = (count: number) => frequency(count, objects.get(pathAbove(path)) ?? 0, records.length);
    return [path, { in: often(counts.in), filled: often(counts.filled), types: [...new Set(shown)].sort() }];
  });
  return Object.fromEntries(known.sort(([one], [other]) => (one < other ? -1 : 1)));
}

export function compareShape(known: KnownShape, records: readonly JsonObject[]): ShapeFinding[] {
  const { fields, objects } = countFields(records);
  const differences = Object.entries(known).flatMap(([field, expected]) =>
    differenceOf(field, expected, fields.get(field), objects.get(pathAbove(field)) ?? 0),
  );
  const added = [...fields].filter(([field]) => !Object.hasOwn(known, field) && hasFields(parentOf(field), known));
  return [
    ...differences,
    ...added.map(([field, { types }]): ShapeFinding => ({ field, problem: "new", expected: null, found: words(types.keys()) })),
  ];
}

/** `of` is how many objects could have the field. */
function differenceOf(field: string, known: KnownField, counts: Counts | undefined, of: number): ShapeFinding[] {
  if (counts === undefined) {
    const isExpected = of > 0 && (known.in === "always" || (known.in === "often" && of >= OFTEN_ENOUGH));
    return isExpected ? [{ field, problem: "missing", expected: known.in, found: null }] : [];
  }
  if (counts.types.size === 0) return known.filled === "always" ? [{ field, problem: "empty", expected: known.filled, found: null }] : [];
  const others = [...counts.types.keys()].filter((type) => !accepts(known.types, type));
  return others.length === 0 ? [] : [{ field, problem: "type", expected: words(known.types), found: words(others) }];
}

function accepts(types: readonly string[], type: string): boolean {
  return types.length === 0 || types.includes(type) || (types.includes(TEXT) && isForm(type));
}

/* Counting */

/** `""` is the record itself. */
const ROOT = "";

/** The fields by path, and by path how many objects there are. */
function countFields(records: readonly JsonObject[]): { fields: Map<string, Counts>; objects: Map<string, number> } {
  const objects = new Map<string, number>();
  const fields = new Map<string, Counts>();
  const visit = (object: JsonObject, path: string): void => {
    objects.set(path, (objects.get(path) ?? 0) + 1);
    for (const [name, value] of Object.entries(object)) {
      const field = fieldAt(path, name);
      const counts = fields.get(field) ?? { in: 0, filled: 0, types: new Map() };
      fields.set(field, counts);
      counts.in++;
      if (!isFilled(value)) continue;
      counts.filled++;
      for (const each of Array.isArray(value) ? value.filter((item) => !isObject(item) && isFilled(item)) : [value]) {
        const type = typeOf(each);
        counts.types.set(type, (counts.types.get(type) ?? 0) + 1);
      }
      for (const each of Array.isArray(value) ? value : []) {
        if (!isObject(each)) continue;
        counts.types.set(OBJECTS, (counts.types.get(OBJECTS) ?? 0) + 1);
        visit(each, `${field}[]`);
      }
      if (isObject(value)) visit(value, field);
    }
  };
  for (const record of records) visit(record, ROOT);
  return { fields, objects };
}

function frequency(count: number, of: number, records: number): Frequency {
  if (count === of && Math.min(of, records) >= ALWAYS_ENOUGH) return "always";
  return count * 2 >= of && Math.min(of, records) >= OFTEN_ENOUGH ? "often" : "seldom";
}

function isFilled(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "string") return value.trim() !== "";
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** A name with a dot is quoted. */
function fieldAt(path: string, name: string): string {
  const shown = /[."]/.test(name) ? `"${name.replaceAll('"', "'")}"` : name;
  return path === ROOT ? shown : `${path}.${shown}`;
}

/** `topics[]` of `topics[].title`. */
function pathAbove(field: string): string {
  const own = field.endsWith('"') ? field.lastIndexOf('"', field.length - 2) : field.length;
  const dot = own === 0 ? -1 : field.lastIndexOf(".", own - 1);
  return dot === -1 ? ROOT : field.slice(0, dot);
}

/** `topics` of `topics[].title`. */
function parentOf(field: string): string {
  return pathAbove(field).replace(/\[\]$/, "");
}

/** Whether fields of it are known. An object that was always null may have any. */
function hasFields(field: string, known: KnownShape): boolean {
  return field === ROOT || (Object.hasOwn(known, field) && known[field]?.types.length !== 0);
}

/* Types */

const [TEXT, DIGITS, OBJECTS] = ["text", "digits", "list of objects"];
const DATE = /^\d{1,4}([-/])\d{1,2}\1\d{1,4}(?=$|[T ])/;
const WORDED_DATE = /^[A-Z][a-z]+ \d{1,2}, \d{4}\b/;

/** The type of a value that is not empty. A text that is a date or a number has its form as type. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (typeof value !== "string") return typeof value;
  const text = value.trim();
  const [date] = DATE.exec(text) ?? [];
  if (date !== undefined) return `date ${date.replace(/\d+/g, (digits) => (digits.length === 4 ? "9999" : "99"))}`;
  return WORDED_DATE.test(text) ? "date Month 9, 9999" : /^\d+$/.test(text) ? DIGITS : TEXT;
}

/** Whether it is a type of texts. */
function isForm(type: string): boolean {
  return type === TEXT || type === DIGITS || type.startsWith("date ");
}

function words(types: Iterable<string>): string {
  return [...types].sort().join(", ") || "no value";
}
