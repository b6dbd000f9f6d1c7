/** Rejects files: rejected records with their reasons, so that nothing is lost (D-35). One NDJSON file per input. */
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, parse, sep } from "node:path";
import { Failure, reasonOf } from "../../db/reason.ts";
import { lines } from "../text/lines.ts";
import { type Item, rawOf } from "./format.ts";
import type { Rejection } from "./validate.ts";

/** Reasons that are reported, most common first. */
const REASONS_SHOWN = 5;
const REASONS_COUNTED = 1000;

export type Reason = { reason: string; records: number; file: string; line: number };

export type Rejects = {
  add: (item: Item, rejection: Rejection) => void;
  reasons: () => Reason[];
  /** Renames the partial files to their final names. Returns the names. */
  keep: () => string[];
  drop: () => void;
};

export type RejectsOptions = {
  files: readonly string[];
  rejects?: string | undefined;
  /** Directory for the rejects of inputs that are outside of it and of the working directory. */
  rejectsDirectory?: string | undefined;
  dryRun?: boolean | undefined;
  redactContacts?: boolean;
};

/** Collects rejects in files, and counts them. `redactContacts` leaves the records out: what was not understood may hold contacts. */
export function createRejects(options: RejectsOptions): Rejects {
  const open = new Map<string, number>();
  const reasons = new Map<string, Reason>();
  const partial = (file: string) => `${file}.partial`;
  const closeAll = () => {
    const files = [...open.keys()];
    for (const descriptor of open.values()) closeSync(descriptor);
    open.clear();
    return files;
  };

  return {
    add(item, { kind, message }) {
      const { input, line } = item;
      const reason = reasons.get(kind);
      if (reason !== undefined) reason.records++;
      else if (reasons.size < REASONS_COUNTED) reasons.set(kind, { reason: kind, records: 1, file: input.name, line });
      if (options.dryRun) return;
      const file = rejectsFileOf(input.name, options);
      const descriptor = open.get(file) ?? begin(file, partial(file), options.files);
      open.set(file, descriptor);
      const record = options.redactContacts ? "null" : (item.json ?? JSON.stringify(rawOf(item) ?? null));
      // Not `writeSync`, which may write a part without an error when the disk is nearly full.
      writeFileSync(descriptor, `{"line":${line},"reason":${JSON.stringify(message)},"record":${record.trim()}}\n`);
    },
    reasons: () => [...reasons.values()].toSorted((one, other) => other.records - one.records).slice(0, REASONS_SHOWN),
    keep: () => closeAll().map((file) => renamed(partial(file), file)),
    drop() {
      for (const file of closeAll()) rmSync(partial(file), { force: true });
    },
  };
}

/** The import is already stored, so its rejects must not be lost. */
function renamed(partial: string, file: string): string {
  try {
    renameSync(partial, file);
    return file;
  } catch {
    return partial; // Something else took the name meanwhile.
  }
}

/** `<input>.rejects.ndjson` (D-35): next to an input in the working directory or `rejectsDirectory`, else in the latter. */
function rejectsFileOf(input: string, { rejects, rejectsDirectory }: RejectsOptions): string {
  if (rejects !== undefined) return rejects;
  const name = `${input === "-" ? "stdin" : input}.rejects.ndjson`;
  if (rejectsDirectory === undefined || input === "-" || [".", rejectsDirectory].some((directory) => isWithin(directory, input)))
    return name;
  return join(rejectsDirectory, basename(name));
}

function isWithin(directory: string, file: string): boolean {
  const [outer, inner] = [realpathSync(directory), realpathSync(dirname(file))];
  return outer !== parse(outer).root && (inner === outer || inner.startsWith(outer + sep));
}

const HEAD = /^\{"line":\d+,"reason":"(?:[^"\\]|\\.)*",/;
const WITHOUT_RECORD = '"record":null}';

/** Removes the records from all rejects files in a directory without a running import. Returns the files that had some. */
export async function withholdRecords(directory: string): Promise<string[]> {
  for (const name of readdirSync(directory)) if (name.endsWith(".rejects.ndjson.partial")) rmSync(join(directory, name)); // Of a killed import.
  const files = await filesWithRecords(directory);
  for (const file of files) await withholdFrom(file);
  return files;
}

/** The rejects files that contain records. */
export async function filesWithRecords(directory: string): Promise<string[]> {
  const files = readdirSync(directory).filter((name) => name.endsWith(".rejects.ndjson"));
  const holding: string[] = [];
  for (const file of files.map((name) => join(directory, name))) if (await holdsRecords(file)) holding.push(file);
  return holding;
}

async function holdsRecords(file: string): Promise<boolean> {
  for await (const { text } of lines(createReadStream(file))) if (withoutRecord(text) !== text) return true;
  return false;
}

/** "" if it is not a line of a rejects file: it may contain contacts. */
function withoutRecord(line: string): string {
  const [head] = HEAD.exec(line) ?? [];
  return head === undefined ? "" : `${head}${WITHOUT_RECORD}`;
}

async function withholdFrom(file: string): Promise<void> {
  const partial = `${file}.partial`;
  const descriptor = openSync(partial, "w", 0o600);
  try {
    for await (const { text } of lines(createReadStream(file))) {
      const line = withoutRecord(text);
      if (line !== "") writeFileSync(descriptor, `${line}\n`);
    }
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(partial);
    throw new Failure(`Cannot remove the records from ${file}: ${reasonOf(error)}`, { cause: error });
  } finally {
    closeSync(descriptor);
  }
  renameSync(partial, file);
}

/** Before anything is stored, so that a file that cannot be written fails the import early. */
function begin(file: string, partial: string, inputs: readonly string[]): number {
  try {
    const present = statSync(file, { throwIfNoEntry: false });
    if (present !== undefined && !present.isFile()) throw new Error("it exists and is not a regular file");
    if (present !== undefined && inputs.some((input) => isSameFile(input, present))) throw new Error("it is one of the files to import");
    return openSync(partial, "w", 0o600);
  } catch (error) {
    throw new Failure(`Cannot write rejects to ${file}: ${reasonOf(error)}; choose another file with --rejects FILE`, { cause: error });
  }
}

function isSameFile(path: string, { dev, ino }: Stats): boolean {
  const present = statSync(path, { throwIfNoEntry: false });
  return present?.dev === dev && present.ino === ino;
}
