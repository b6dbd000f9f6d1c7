/** Runs while the program is built, as a macro: a compiled program has no folder to read. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const USERS_FOLDERS = ["start", "guides", "reference", "explanation"];

/** The Markdown of each page of the manual, by its path below docs/, without the extension. */
export function readPages(): Record<string, string> {
  const docs = join(import.meta.dir, "../../docs");
  const inFolders = USERS_FOLDERS.flatMap((folder) =>
    readdirSync(join(docs, folder))
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => `${folder}/${name.slice(0, -".md".length)}`),
  );
  return Object.fromEntries(["index", ...inFolders, "../SECURITY"].map((path) => [path, readFileSync(join(docs, `${path}.md`), "utf8")]));
}
