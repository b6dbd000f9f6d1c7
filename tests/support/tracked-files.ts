/** The files that a clone has. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");

/** Paths from the root. Where there is no git, those of the source directories. */
export function trackedFiles(pattern: RegExp): string[] {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root });
  const inTree = stdout.toString().split("\0");
  const files =
    inTree.length > 1 ? inTree : ["*", "{bench,db,docs,examples,src,tests}/**/*"].flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]);
  return files.filter((path) => pattern.test(path));
}

export function textOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}
