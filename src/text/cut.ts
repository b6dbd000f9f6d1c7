/** Fits a value into a result: long texts and lists are cut, and named, so that a client can ask for the rest. */
import { isObject } from "./json-value.ts";
import { beginning } from "./quoted.ts";

export type Path = readonly (string | number)[];

export type Cut = { path: Path; unit: "characters" | "items"; shown: number; length: number };

type Limits = { characters: number; items: number };

const ATTEMPTS: readonly Limits[] = [
  { characters: 12_000, items: 100 },
  { characters: 4000, items: 50 },
  { characters: 1000, items: 20 },
  { characters: 300, items: 10 },
  { characters: 100, items: 5 },
];

/** The value with at most this many bytes of JSON, if the last attempt has no more, and what was cut, which ends with `mark`. */
export function cutTo<T>(value: T, bytesMax: number, { attempts = ATTEMPTS, mark = "" } = {}): { value: T; cuts: Cut[] } {
  let fitting: { value: T; cuts: Cut[] } = { value, cuts: [] };
  for (const limits of attempts) {
    const cuts: Cut[] = [];
    fitting = { value: cutWithin(value, { ...limits, mark }, [], cuts) as T, cuts };
    if (jsonBytes(fitting.value) <= bytesMax) break;
  }
  return fitting;
}

export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

/** The member at a path; `undefined` if there is none. */
export function memberAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (Array.isArray(inner)) return typeof step === "number" ? inner[step] : undefined;
    return isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined;
  }, value);
}

export function pathInWords(path: Path): string {
  return path.map((step, n) => (typeof step === "number" ? `[${step}]` : n === 0 ? step : `.${step}`)).join("");
}

function cutWithin(value: unknown, limits: Limits & { mark: string }, path: Path, cuts: Cut[]): unknown {
  if (typeof value === "string") {
    if (value.length <= limits.characters) return value;
    const shown = beginning(value, limits.characters);
    cuts.push({ path, unit: "characters", shown: shown.length, length: value.length });
    return shown + limits.mark;
  }
  if (Array.isArray(value)) {
    const shown = value.slice(0, limits.items).map((item, index) => cutWithin(item, limits, [...path, index], cuts));
    if (value.length === shown.length) return shown;
    cuts.push({ path, unit: "items", shown: limits.items, length: value.length });
    return limits.mark === "" ? shown : [...shown, limits.mark];
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutWithin(member, limits, [...path, name], cuts)]));
}
