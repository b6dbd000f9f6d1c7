/** What opening a database may do to it, on either engine. */

/**
 * - `create` makes what is missing and migrates what is older.
 * - `change` refuses what is missing and migrates what is older.
 * - `read` refuses what is missing or older, and changes nothing.
 * - `inspect` refuses what is missing, opens an older version as it is, and changes nothing.
 */
export type Mode = "create" | "change" | "read" | "inspect";

export type Opening = {
  mode?: Mode;
  /** Called after a migration of data that was there, with a sentence for the operator. */
  onMigrated?: ((sentence: string) => void) | undefined;
};

export function isReading(mode: Mode): mode is "read" | "inspect" {
  return mode === "read" || mode === "inspect";
}

/** There is no database to open, and the mode does not make one. */
export class NoData extends Error {
  override readonly name = "NoData";
}

/** The database is of an older version, and the mode does not migrate it. */
export class OlderVersion extends Error {
  override readonly name = "OlderVersion";
}

/** `applied` migrations of the `known` ones. */
export function olderVersion(applied: number, known: number): OlderVersion {
  return new OlderVersion(
    `it is of an older version of fundfeed (schema ${applied} of ${known}), and a command that only reads does not migrate it; make a backup, then start fundfeed serve, which does`,
  );
}

/** The same refusal, naming what was to be opened. */
export function cannotOpen(name: string, reason: string, error: unknown): Error {
  const message = `Cannot open ${name}: ${reason}`;
  if (error instanceof NoData) return new NoData(message);
  if (error instanceof OlderVersion) return new OlderVersion(message);
  return new Error(message, { cause: error });
}

/** What a program says that migrated data which were there. */
export function migrated(name: string, applied: number, known: number): string {
  return `Migrated ${name} from schema ${applied} to ${known}; older versions of fundfeed refuse it from now on`;
}
