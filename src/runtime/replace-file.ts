/** Replaces a file as a whole: readers see the old content or the new one, also after a crash. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { partialPath } from "./left-behind.ts";

export type Replacement = {
  write: (text: string) => void;
  /** Returns once the new content is on disk at the path. A file that already has this content is left alone. */
  finish: () => void;
  abandon: () => void;
};

/** Opens a new file next to the one at `path`, with its mode, else `mode`. A link stays. A pipe or a device, such as /dev/null, is written to. */
export function replaceFile(path: string, mode: number): Replacement {
  const present = statSync(path, { throwIfNoEntry: false });
  return present === undefined || present.isFile() ? replacing(targetOf(path), mode) : writingTo(path);
}

/** The path to which a link leads, so that the link stays when the file is replaced; any other path as it is. */
export function targetOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function replacing(path: string, mode: number): Replacement {
  const partial = partialPath(path);
  rmSync(partial, { force: true }); // Left by a killed program that had the same process id.
  const file = openFile(partial, "wx");
  const abandon = () => {
    file.close();
    rmSync(partial, { force: true });
  };
  return {
    write: file.write,
    finish: () => {
      if (isSame(partial, path)) return abandon();
      fchmodSync(file.descriptor, mode);
      fsyncSync(file.descriptor);
      file.close();
      putInPlace(partial, path);
    },
    abandon,
  };
}

function writingTo(path: string): Replacement {
  const { write, close } = openFile(path, "w");
  return { write, finish: close, abandon: close };
}

function openFile(path: string, flags: "w" | "wx") {
  const descriptor = openSync(path, flags, 0o600);
  let isOpen = true;
  return {
    descriptor,
    write: (text: string) => {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(descriptor, rest));
    },
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}

/** Replaces the content of a file. A new file gets `mode`. */
export function replaceText(path: string, text: string, mode = 0o600): void {
  const file = replaceFile(path, mode);
  try {
    file.write(text);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Renames a file whose content is on disk. It gets the mode of the file at `path`, if there is one. Returns once the new name is on disk, too. */
export function putInPlace(partial: string, path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined) chmodSync(partial, mode);
  renameSync(partial, path);
  syncDirectory(dirname(path));
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b?.isFile() === true && a.size === b.size && readFileSync(one).equals(readFileSync(other));
}

function syncDirectory(path: string): void {
  if (process.platform === "win32") return; // It opens no directory for writing, and logs names by itself.
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
