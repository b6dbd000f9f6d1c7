/** Rejected records, kept beside the summary so that nothing is lost (D-35): one NDJSON file for each input, written as they come. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import type { Item } from "./format.ts";

export type Rejects = {
  add: (item: Item, reason: string) => void;
  /** Puts the files in place and names them. */
  keep: () => string[];
  /** Drops what was written, unless it was kept. */
  drop: () => void;
};

/** `path` takes the rejects of every input; without it, each input's go to `<input>.rejects.ndjson`. */
export function createRejects(path: string | undefined): Rejects {
  const open = new Map<string, number>();
  const fileOf = (item: Item) => path ?? `${item.input.name === "-" ? "stdin" : item.input.name}.rejects.ndjson`;
  const partial = (file: string) => `${file}.partial`;
  const close = () => {
    for (const descriptor of open.values()) closeSync(descriptor);
  };
  return {
    add(item, reason) {
      const file = fileOf(item);
      const descriptor = open.get(file) ?? openSync(partial(file), "w", 0o600);
      open.set(file, descriptor);
      writeSync(descriptor, `${JSON.stringify({ line: item.line, reason, record: item.raw })}\n`);
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
