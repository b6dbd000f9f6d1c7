/** Which file bears a name: one that is put in its place has another identity. */
import { statSync } from "node:fs";

/** `undefined` where there is no file. */
export function identityOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file === undefined ? undefined : `${file.dev}:${file.ino}`;
}
