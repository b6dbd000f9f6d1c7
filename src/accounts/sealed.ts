/**
 * Short texts that only an installation with this secret can make and read: cookies, addresses of feeds, links of mails, addresses of channels.
 * None contains a key. (E-80)
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import type { StateDb } from "../../db/engine.ts";
import { insertInto, orIgnore, selectBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { secrets } from "../../db/schema/sqlite/state.ts";

/** What a text is for. One that was made for another purpose is refused. */
export type Purpose = "session" | "feed" | "link" | "unsubscribe" | "channel";

/** `make` returns a text that contains the payload. `open` returns the payload, or `undefined` for any text that `make` has not made. */
export type Tokens = { make: (payload: string) => string; open: (text: string) => string | undefined };

/** A longer text is refused before it is looked at. */
const TEXT_MAX = 4000;
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];

/** Texts for one purpose, by AES-256-GCM. The nonce is derived from the payload, so an address stays the same each time it is made. */
export function sealedTokens(secret: Uint8Array, purpose: Purpose): Tokens {
  const keys = Buffer.from(hkdfSync("sha256", secret, "", `fundfeed ${purpose}`, 2 * KEY_BYTES));
  const [key, nonceKey] = [keys.subarray(0, KEY_BYTES), keys.subarray(KEY_BYTES)];
  return {
    make: (payload) => {
      const nonce = createHmac("sha256", nonceKey).update(payload).digest().subarray(0, NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      return Buffer.concat([nonce, cipher.update(payload), cipher.final(), cipher.getAuthTag()]).toString("base64url");
    },
    open: (text) => {
      const bytes = Buffer.from(text.length <= TEXT_MAX ? text : "", "base64url");
      // The comparison: base64url has several spellings of the same bytes.
      if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== text) return undefined;
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
  };
}

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
