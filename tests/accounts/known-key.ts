/** A key as a server knows it, and its stored use. */

import type { StateDb } from "../../db/engine.ts";
import { type Access, findKey } from "../../src/accounts/access.ts";
import { listKeys } from "../../src/accounts/key.ts";
import { NOON } from "../support/imports.ts";

export function knownKey(access: Access, key: string): NonNullable<ReturnType<typeof findKey>> {
  const known = findKey(access, key);
  if (known === undefined) throw new Error("the key is not known");
  return known;
}

export async function usedToday(state: StateDb, id: string, now = NOON): Promise<number | undefined> {
  return (await listKeys(state, now)).find((listed) => listed.id === id)?.used_today;
}
