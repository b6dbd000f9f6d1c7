/** Secrets in state.db: all servers of a database have the same, and so does a restored backup. (E-80) */
import type { StateDb } from "../../db/engine.ts";
import { insertInto, orIgnore, selectBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { secrets } from "../../db/schema/sqlite/state.ts";

const BYTES = 32;

const secretByName = selectBy(secrets, "name");
const addSecret = insertInto(secrets, { onConflict: orIgnore });

/** The random bytes that seal cookies, addresses of feeds, links and channels. Made when they are first needed. */
export async function readPagesSecret(db: StateDb, randomBytes: (count: number) => Uint8Array): Promise<Uint8Array> {
  const name = "pages";
  const known = await db.get(secretByName, { name });
  if (known !== undefined) return known.value;
  await db.transaction((sql) => sql.run(addSecret, { name, value: Buffer.from(randomBytes(BYTES)) })); // Another server may be faster.
  const made = await db.get(secretByName, { name });
  if (made === undefined) throw new Failure("Cannot keep the secret of the pages: state.db does not have it after it was written");
  return made.value;
}
