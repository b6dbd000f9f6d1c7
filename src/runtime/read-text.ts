/** Reads a text file. A failure says in words why the file cannot be read. */
import { readFileSync } from "node:fs";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";

export const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
};

/** The text of a file. `descriptor` is read instead of it, if it is given. Throws a Failure that names the path. */
export function readText(path: string, descriptor?: number): string {
  try {
    return readFileSync(descriptor ?? path, "utf8");
  } catch (error) {
    throw new Failure(`Cannot read ${path}: ${unreadable[codeOf(error)] ?? reasonOf(error)}`, { cause: error });
  }
}
