/** The files of a clone. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");

/** Returns the matching paths, relative to the root. Without a git repository, it looks in the source directories. */
export function trackedFiles(pattern: RegExp): string[] {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root });
  const tracked = stdout.toString().split("\0");
  const files =
    tracked.length > 1
      ? tracked
      : ["*", "{bench,clients,db,docs,examples,src,tests}/**/*"].flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);
  return files.filter((path) => pattern.test(path));
}

/** Reads a file by its path relative to the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
