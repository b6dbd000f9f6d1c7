/** Why the disk or a database refused something, in words that an operator can act on. */
import { DrizzleQueryError } from "drizzle-orm";

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(EEXIST|ENOTDIR)\b/, "a file is where a directory should be"],
  [/^ENOENT\b/, "the directory cannot be made there"],
  [/^(EACCES|EPERM|EROFS|SQLITE_READONLY)/, "permission denied: the directory and its files must be writable"],
  [/^SQLITE_CANTOPEN/, "it cannot be opened: the directory and its files must be readable and writable"],
  [/^SQLITE_NOTADB/, "it is not a database file"],
  [/^SQLITE_CORRUPT/, "it is damaged; put a backup back with: fundfeed restore"],
  [/^SQLITE_BUSY/, "another process has been writing to it for too long; try again"],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, "the disk is full"],
  [/^SQLITE_IOERR/, "the disk is full or failing"],
  [/^ERR_POSTGRES_CONNECTION_REFUSED/, "no server answers there"],
  [/^ERR_POSTGRES_CONNECTION/, "the connection to the server was lost"],
  [/^(EMFILE|ENFILE)\b/, "too many files are open"],
];

/** In words where the cause is known, else what the error itself says. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof DrizzleQueryError ? error.cause : error; // Its own message is the statement with its parameters.
  const code = codeOf(cause);
  return reasons.find(([pattern]) => pattern.test(code))?.[1] ?? messageOf(cause);
}

/** The code of what was thrown, such as `ENOENT` or `SQLITE_BUSY`; "" where it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** What was thrown, in its own words. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
