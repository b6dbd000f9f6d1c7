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
  [/^ERR_POSTGRES_CONNECTION_(REFUSED|FAILED|TIMEOUT)/, "no server answers there"],
  [/^ERR_POSTGRES_CONNECTION/, "the connection to the server was lost"],
  [/^(EMFILE|ENFILE)\b/, "too many files are open"],
];

/** What is wanted where PostgreSQL refuses, by SQLSTATE: it says itself what it refused, but not what to do. */
const wanted: Readonly<Record<string, string>> = {
  "42501": "the role needs the rights that docs/operate/postgres.md lists",
  "25006": "it is a replica, which is only read; name the primary",
  "55P03": "another program held it for too long; try again",
};

/** In words where the cause is known, else what the error itself says. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof DrizzleQueryError ? error.cause : error; // Its own message is the statement with its parameters.
  const code = codeOf(cause);
  const advice = wanted[sqlStateOf(cause)];
  return (
    reasons.find(([pattern]) => pattern.test(code))?.[1] ?? (advice === undefined ? messageOf(cause) : `${messageOf(cause)}: ${advice}`)
  );
}

/** The code of what was thrown, such as `ENOENT` or `SQLITE_BUSY`; "" where it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** SQLSTATE (PostgreSQL, appendix A) of what PostgreSQL refused, such as `42501`; "" of anything else. */
export function sqlStateOf(thrown: unknown): string {
  return thrown instanceof Error && "errno" in thrown ? String(thrown.errno) : "";
}

/** What was thrown, in its own words. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
