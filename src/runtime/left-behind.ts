/** Unfinished files and temporary directories have the process id of their program in their name, so that a later run removes what killed ones left. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../../db/reason.ts";

/** The name of a file that is to replace the one at `path`. Removes those that killed programs left. */
export function partialPath(path: string): string {
  const beginning = `${basename(path)}.partial-`;
  const processOf = (name: string) => (name.startsWith(beginning) ? name.slice(beginning.length) : "");
  removeLeftBehind(dirname(path), processOf);
  return `${path}.partial-${process.pid}`;
}

/** Creates a directory, which the caller removes. `purpose` is one word. Removes those that killed programs left, of any purpose. */
export function temporaryDirectory(purpose: string): string {
  removeLeftBehind(tmpdir(), (name) => /^fundfeed-[a-z]+-(\d+)-\w{6}$/.exec(name)?.[1] ?? "");
  return mkdtempSync(join(tmpdir(), `fundfeed-${purpose}-${process.pid}-`));
}

function removeLeftBehind(directory: string, processOf: (name: string) => string): void {
  for (const name of namesIn(directory)) {
    const pid = processOf(name);
    const path = join(directory, name);
    if (/^\d+$/.test(pid) && !isRunning(Number(pid)) && lstatSync(path, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0))
      rmSync(path, { recursive: true, force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}
