/** The files of a clone, or of an unpacked archive of it: read from the directory, because an archive has no git. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");

/** Directories that belong to git or to .gitignore. */
const NOT_OURS = new Set([".git", "node_modules", "dist", "fundfeed-data"]);
/** Files of .gitignore, and the file by which a worktree names its repository. */
const IGNORED = /\.rejects\.ndjson|(^|\/)\.DS_Store$|^\.git$/;

const files = filesBelow("");

/** Returns the matching paths, relative to the root, sorted. */
export function projectFiles(pattern: RegExp): string[] {
  return files.filter((path) => pattern.test(path));
}

export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function filesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesBelow(path);
      return IGNORED.test(path) ? [] : [path];
    })
    .sort();
}
