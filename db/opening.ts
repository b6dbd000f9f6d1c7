/** What opening a database may change, on either engine. */
import { Failure } from "./reason.ts";

/** `change` refuses what is missing, `read` also what is older, and `inspect` opens an older version as it is. */
export type Mode = "create" | "change" | "read" | "inspect";

export type Opening = {
  mode?: Mode;
  /** Called after a migration of data that was there, with a sentence for the operator. */
  onMigrated?: ((sentence: string) => void) | undefined;
};

export function isReading(mode: Mode): mode is "read" | "inspect" {
  return mode === "read" || mode === "inspect";
}

export class CannotOpen extends Failure {}

export class NoData extends CannotOpen {}

export class OlderVersion extends CannotOpen {}

/** The error for a database that has had `applied` of `known` migrations. */
export function olderVersion(applied: number, known: number): OlderVersion {
  return new OlderVersion(
    `an older version of fundfeed made it (schema ${applied} of ${known}), and a command that only reads does not migrate it; make a backup, then start fundfeed serve, which migrates it`,
  );
}

/** An error of the same class whose message names the database. */
export function cannotOpen(name: string, reason: string, error: unknown): Error {
  const message = `Cannot open ${name}: ${reason}`;
  if (error instanceof NoData) return new NoData(message);
  if (error instanceof OlderVersion) return new OlderVersion(message);
  return new CannotOpen(message, { cause: error });
}

/** The message after a migration of existing data. */
export function migrated(name: string, applied: number, known: number): string {
  return `Migrated ${name} from schema ${applied} to ${known}; older versions of fundfeed refuse it from now on`;
}
