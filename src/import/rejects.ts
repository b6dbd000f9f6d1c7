/** Rejected records, kept beside the summary so that nothing is lost (D-35): one NDJSON file for each input, written as they come. */
import { closeSync, openSync, renameSync, rmSync, type Stats, statSync, writeSync } from "node:fs";
import { reasonOf } from "../../db/reason.ts";
import type { Item } from "./format.ts";
import type { Rejection } from "./judge.ts";

/** Levels that are written of a value that is nested too deep to be written whole. */
const LEVELS_KEPT = 100;

export type Rejects = {
  add: (item: Item, rejection: Rejection) => void;
  /** Puts the files in place and names them. */
  keep: () => string[];
  /** Drops what was written, unless it was kept. */
  drop: () => void;
};

/** `path` takes the rejects of every input; without it, each input's go to `<input>.rejects.ndjson`. Inputs are never written over. */
export function createRejects(path: string | undefined, inputs: readonly string[]): Rejects {
  const open = new Map<string, number>();
  const fileOf = (item: Item) => path ?? `${item.input.name === "-" ? "stdin" : item.input.name}.rejects.ndjson`;
  const partial = (file: string) => `${file}.partial`;
  const close = () => {
    for (const descriptor of open.values()) closeSync(descriptor);
  };
  return {
    add(item, { message }) {
      const file = fileOf(item);
      const descriptor = open.get(file) ?? begin(file, partial(file), inputs);
      open.set(file, descriptor);
      const record = item.json ?? jsonOf(item.raw);
      writeSync(descriptor, `{"line":${item.line},"reason":${JSON.stringify(message)},"record":${record.trim()}}\n`);
    },
    keep() {
      const files = [...open.keys()];
      close();
      for (const file of files) renameSync(partial(file), file);
      open.clear();
      return files;
    },
    drop() {
      close();
      for (const file of open.keys()) rmSync(partial(file), { force: true });
      open.clear();
    },
  };
}

/** What is nested deeper than can be written is left out. */
function jsonOf(raw: unknown): string {
  try {
    return JSON.stringify(raw ?? null);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return JSON.stringify(shallow(raw, LEVELS_KEPT));
  }
}

function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return "…";
  if (Array.isArray(value)) return value.map((item) => shallow(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shallow(inner, levels - 1)]));
}

/** Before anything is stored: what stands in the way would otherwise be met only when the file is put in its place. */
function begin(file: string, partial: string, inputs: readonly string[]): number {
  try {
    const present = statSync(file, { throwIfNoEntry: false });
    if (present !== undefined && !present.isFile()) throw new Error("it is there and no ordinary file");
    if (present !== undefined && inputs.some((input) => isSameFile(input, present))) throw new Error("it is one of the files to import");
    return openSync(partial, "w", 0o600);
  } catch (error) {
    throw new Error(`Cannot write rejects to ${file}: ${reasonOf(error)}; --rejects FILE names another place`, { cause: error });
  }
}

function isSameFile(path: string, { dev, ino }: Stats): boolean {
  const present = statSync(path, { throwIfNoEntry: false });
  return present?.dev === dev && present.ino === ino;
}
