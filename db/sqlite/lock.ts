/** Locks that end with the process, even a killed one. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { codeOf } from "../reason.ts";

/**
 * Locks a name in a directory, by an exclusive transaction on the empty file NAME.lock, which is never written. Returns the function that
 * releases the lock, or `undefined` while another program holds it.
 */
export function tryLockIn(directory: string, name: string): (() => void) | undefined {
  const lock = new Database(join(directory, `${name}.lock`), { create: true, strict: true });
  try {
    lock.run("begin exclusive");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (codeOf(error).startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}
