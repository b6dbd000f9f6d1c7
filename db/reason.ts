/** Turns errors of the disk and the databases into messages that an operator can act on. */
import { DrizzleQueryError } from "drizzle-orm/errors";

/** The message is a whole sentence for the operator. Of other errors, only the reason is known. */
export class Failure extends Error {}

/** A usage error that only the data show. */
export class UsageFailure extends Failure {}

const DISK_FULL = "the disk is full";

const reasons: readonly (readonly [RegExp, string])[] = [
  [/^(EEXIST|ENOTDIR)\b/, "there is a file where a directory should be"],
  [/^ENOENT\b/, "the directory cannot be made there"],
  [/^EISDIR\b/, "it is a directory"],
  [/^(EACCES|EPERM)\b/, "permission denied: this user needs access to the directory and its files"],
  [/^(EROFS|SQLITE_READONLY)/, "permission denied: the directory and its files must be writable"],
  [/^SQLITE_CANTOPEN/, "it cannot be opened: the directory and its files must be readable and writable"],
  [/^SQLITE_NOTADB/, "it is not a database file"],
  [/^SQLITE_CORRUPT/, "it is damaged; put a backup back with: fundfeed restore"],
  [/^SQLITE_BUSY/, "another process has held the write lock for too long; try again"],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, DISK_FULL],
  [/^EFBIG\b/, "the file is larger than this disk or this user may have (ulimit -f)"],
  [/^SQLITE_IOERR/, `${DISK_FULL} or failing`],
  [/^ERR_POSTGRES_CONNECTION_(REFUSED|FAILED|TIMEOUT)/, "no server answers there"],
  [/^ERR_POSTGRES_CONNECTION/, "the connection to the server was lost"],
  [/SELF_SIGNED|^UNABLE_TO_(VERIFY|GET_ISSUER)/, "its certificate is not trusted; name that of its issuer with sslrootcert"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "its certificate is for another host"],
  [/^(EMFILE|ENFILE)\b/, "too many files are open"],
];

/** By SQLSTATE: PostgreSQL's message names the cause, but no remedy. */
const advice: Readonly<Record<string, string>> = {
  "42501": "the role needs the rights that fundfeed help postgres lists",
  "25006": "it is a replica, which is only read; name the primary",
  "55P03": "another program held it for too long; try again",
};

/** What could not be done, and why: the message of a Failure, otherwise "Cannot <action>" and the reason. */
export function sentenceOf(error: unknown, action: string): string {
  return causeOf(error) instanceof Failure ? reasonOf(error) : `Cannot ${action}: ${reasonOf(error)}`;
}

/** The same error with more to say. */
export function failureWith(error: unknown, addition: string): Error {
  const message = `${reasonOf(error)}; ${addition}`;
  return causeOf(error) instanceof Failure ? new Failure(message, { cause: error }) : new Error(message, { cause: error });
}

/** Returns what `work` does. Throws a Failure that says what could not be done, such as "Cannot write x", and why. */
export function attempt<T>(failure: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new Failure(`${failure}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The message of Drizzle's own error is the statement with its parameters. */
function causeOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error;
}

/** The reason in words if the cause is known, otherwise the message of the error. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error);
  const code = codeOf(cause);
  const remedy = advice[sqlStateOf(cause)];
  return (
    reasons.find(([pattern]) => pattern.test(code))?.[1] ?? (remedy === undefined ? messageOf(cause) : `${messageOf(cause)}: ${remedy}`)
  );
}

/** Whether the reason is a full disk, also of a Failure that quotes it. */
export function isDiskFull(error: unknown): boolean {
  return reasonOf(error).includes(DISK_FULL);
}

/** The code of an error, such as `ENOENT` or `SQLITE_BUSY`; "" if it has none. */
export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}

/** The SQLSTATE (PostgreSQL, appendix A) of an error, such as `42501`; "" if it is not from PostgreSQL. */
export function sqlStateOf(thrown: unknown): string {
  return thrown instanceof Error && "errno" in thrown ? String(thrown.errno) : "";
}

/** The message of an error, or whatever else was thrown as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Why something fails, as `messageOf` says it; null if it does not. */
export function failureOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
