/** A process that closes any descriptor of a file loses SQLite's locks on it (fcntl(2)). So each file has one, closed after the last user. */
import { closeSync, openSync } from "node:fs";
import { identityOf } from "../file-identity.ts";

/** By the file's identity, which no other file can get while this one is open. */
const shared = new Map<string, { descriptor: number; users: number }>();

/** Call `release` only after the connection to the file is closed. Throws if there is no file. */
export function shareDescriptor(path: string): { descriptor: number; release: () => void } {
  const present = shared.get(identityOf(path) ?? "");
  const descriptor = present?.descriptor ?? openSync(path, "r");
  const identity = identityOf(descriptor) ?? "";
  const entry = present ?? { descriptor, users: 0 };
  shared.set(identity, entry);
  entry.users++;
  return {
    descriptor,
    release: () => {
      entry.users--;
      if (entry.users > 0) return;
      shared.delete(identity);
      closeSync(descriptor);
    },
  };
}
