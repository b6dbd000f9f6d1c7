/** Locks that end with the process, even a killed one. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../reason.ts";

/** Locks NAME.lock, which is never written, in a directory. Undefined while another has it. */
export function tryLockIn(directory: string, name: string): Disposable | undefined {
  const lock = new Database(fileOf(directory, name), { create: true, strict: true });
  try {
    lock.run("begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if (isHeld(error)) return undefined;
    throw error;
  }
}

/** Whether a program holds the lock. Locks nothing but for a moment, and makes no file. */
export function isLockedIn(directory: string, name: string): boolean {
  if (!existsSync(fileOf(directory, name))) return false;
  using lock = new Database(fileOf(directory, name), { readonly: true, strict: true });
  try {
    lock.query("select count(*) from sqlite_schema").get();
    return false;
  } catch (error) {
    if (isHeld(error)) return true;
    throw error;
  }
}

function fileOf(directory: string, name: string): string {
  return join(directory, `${name}.lock`);
}

function isHeld(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_BUSY");
}
