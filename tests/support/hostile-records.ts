/** Records as a broken or hostile upstream could send them: real records with one value replaced. */
import { type Fields, Raw, type UpstreamFile } from "./upstream-files.ts";

/* Values */

/** Functions from a value to its hostile replacement, by the name that a test shows. */
type Values = { readonly [name: string]: (old: unknown) => unknown };

/** As an id, a value that is 1,000 times shorter is as bad. */
const TOO_LONG = "2,000,001 characters";

/** For files of every syntax. */
const inAnySyntax: Values = {
  NUL: (old) => `${textOf(old)}\0`,
  "a control character": (old) => `${textOf(old)}\u0007`,
  "600 characters more": (old) => `${textOf(old)}${"\u{10000}".repeat(600)}`,
  [TOO_LONG]: () => "x".repeat(2_000_001),
  "40,000 digits": () => "9".repeat(40_000),
  "40,000 letters": () => "a".repeat(40_000),
  "20,000 signs @": () => "a@".repeat(20_000),
  "20,000 combining marks": () => `a${"\u0301\u0316".repeat(10_000)}`,
  "20,000 open tags": () => "<a ".repeat(20_000),
  "20,000 words": () => "OT ".repeat(20_000),
  "a date that does not exist": () => "2026-02-31",
  "a year beyond 9999": () => "+275760-09-13T00:00:00Z",
  "a name that all objects have": () => "constructor",
  nothing: () => undefined,
};

const inText: Values = {
  "bytes that are not UTF-8": () => new Raw("\udced\udca0\udc80"),
  "one byte of Windows-1252": () => new Raw("a\udc96b"),
};

const inXml: Values = {
  "an entity of HTML": () => new Raw("R&nbsp;D"),
  "a bare ampersand": () => new Raw("R & D"),
  "half a surrogate pair": () => new Raw("&#xD800;"),
  "elements 150 deep": () => new Raw(`${"<i>".repeat(150)}${"</i>".repeat(150)}`),
  "20,000 signs > in an attribute": () => new Raw(`<i a="${">".repeat(20_000)}"/>`),
  "a CDATA section": () => new Raw(`<![CDATA[${"<&".repeat(1000)}]]>`),
};

const inJson: Values = {
  "bytes that are not UTF-8": () => new Raw('"\udced\udca0\udc80"'),
  "one byte of Windows-1252": () => new Raw('"a\udc96b"'),
  "half a surrogate pair": (old) => `${textOf(old)}\ud800`,
  "arrays 100,000 deep": () => new Raw(nested(100_000)),
  "arrays 90 deep": () => new Raw(nested(90)),
  "a word that is not JSON": () => new Raw("tru"),
  "a number of 40,000 digits": () => new Raw("9".repeat(40_000)),
  "a list of 20,000": () => Array(20_000).fill("x"),
  "an object with names that all objects have": () => new Raw('{"__proto__":{"id":"x"},"constructor":1,"toString":{"id":"x"}}'),
  ...Object.fromEntries([null, true, 7, "", [], [null], [7], {}, [{}]].map((value) => [JSON.stringify(value), () => value])),
};

const all = {
  json: { ...inAnySyntax, ...inJson },
  csv: { ...inAnySyntax, ...inText },
  xml: { ...inAnySyntax, ...inText, ...inXml },
  html: { ...inAnySyntax, ...inText },
};

function hostileValues({ syntax }: UpstreamFile): Values {
  return all[syntax];
}

/** Values that cannot be the id of a record. */
const NO_ID = new Set([
  "NUL",
  "a control character",
  "600 characters more",
  "40,000 digits",
  "bytes that are not UTF-8",
  "half a surrogate pair",
  "arrays 100,000 deep",
  "a word that is not JSON",
  "an entity of HTML",
  "a bare ampersand",
  "elements 150 deep",
]);

/** Returns whether a record with this value as its id must be rejected. */
export function mustBeRejected({ name }: UpstreamFile, value: string): boolean {
  if (name === "SAM.gov CSV" && value === "bytes that are not UTF-8") return false; // The format reads such bytes as Windows-1252.
  if (name === "NASA ROSES page" && value === "NUL") return false; // HTML drops NUL.
  if (name === "SBIR.gov API" && value === "a control character") return false; // The format identifies topics by another number.
  return NO_ID.has(value);
}

function textOf(value: unknown): string {
  return value instanceof Raw ? value.text : typeof value === "string" ? value : "";
}

function nested(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

/* Records */

const SEED = Number(process.env.FUNDFEED_SEED ?? 0);

/** Values that one file gets. */
const VALUES = 4;

/** Whether a record stays intact: the first, the one in the middle and the last of each file. */
export function isIntact(index: number): boolean {
  return index % (VALUES + 1) === 0;
}

/**
 * Returns the file's records with the values in the ids of records 1 to 4 and somewhere in records 6 to 9. FUNDFEED_SEED=1, 2, … chooses
 * other positions.
 */
export function hostileRecords(file: UpstreamFile, names: ValueNames): unknown[] {
  const round = Object.keys(hostileValues(file)).indexOf(names[0] ?? "") + SEED;
  return file.records.map((record, index) => {
    const name = names[(index % (VALUES + 1)) - 1];
    if (name === undefined) return record;
    const paths = changeablePaths(file, record);
    if (index <= VALUES && name === TOO_LONG) return record;
    const path = index <= VALUES ? file.id.split(".") : paths[(31 * round + index) % paths.length];
    return changedAt(record, path ?? [], hostileValues(file)[name] ?? String);
  });
}

/** The names of up to four hostile values. */
export type ValueNames = readonly string[];

/** Returns the names of all values for a file, four by four. */
export function valueNamesFor(file: UpstreamFile): ValueNames[] {
  const names = Object.keys(hostileValues(file));
  return names.flatMap((_, n) => (n % VALUES === 0 ? [names.slice(n, n + VALUES)] : []));
}

/** Returns the paths at which a value can be replaced. In JSON these include the whole record and a field that the format does not know. */
function changeablePaths({ syntax }: UpstreamFile, record: unknown): Path[] {
  return syntax === "json" ? [[], ["unknown field"], ...pathsIn(record)] : pathsIn(record);
}

/** Returns the paths of all members and elements of a value, at any depth. */
function pathsIn(value: unknown): Path[] {
  if (typeof value !== "object" || value === null || value instanceof Raw) return [];
  return Object.entries(value).flatMap(([name, member]) => [[name], ...pathsIn(member).map((path) => [name, ...path])]);
}

type Path = readonly string[];

/** Returns a copy of `value` in which `change` has replaced what is at `path`. */
export function changedAt(value: unknown, [name, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (Array.isArray(value)) return value.with(Number(name), changedAt(value[Number(name)], rest, change));
  const fields = value as Fields;
  return { ...fields, [name]: changedAt(fields[name], rest, change) };
}
