/** Replaces a file as a whole: readers see the old content or the new one, also after a crash. */
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Call `finish` or `abandon` at the end. Until `finish`, the file at the path stays as it is. */
export type Replacement = {
  write: (text: string) => void;
  /** Returns once the new content is on disk at the path. A file that has this content already is left alone. */
  finish: () => void;
  abandon: () => void;
};

/** Opens a new file beside the one at `path`. It gets the mode of that file, or `mode` if there is none. */
export function replaceFile(path: string, mode: number): Replacement {
  const partial = `${path}.partial-${process.pid}`;
  rmSync(partial, { force: true }); // Left by a killed program that had the same process id.
  const descriptor = openSync(partial, "wx", 0o600);
  let isOpen = true;
  const close = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  const abandon = () => {
    close();
    rmSync(partial, { force: true });
  };
  return {
    write: (text) => {
      for (let rest = Buffer.from(text); rest.length > 0; ) rest = rest.subarray(writeSync(descriptor, rest));
    },
    finish: () => {
      if (isSame(partial, path)) return abandon();
      fchmodSync(descriptor, modeOf(path) ?? mode);
      fsyncSync(descriptor);
      close();
      renameSync(partial, path);
      syncDirectory(dirname(path));
    },
    abandon,
  };
}

/** Replaces the content of a file that only its owner may read. */
export function replaceText(path: string, text: string): void {
  const file = replaceFile(path, 0o600);
  try {
    file.write(text);
    file.finish();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

function modeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mode;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && b?.isFile() === true && a.size === b.size && readFileSync(one).equals(readFileSync(other));
}

/** So that the new name is on disk, too. */
function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
