/** Texts that only an installation with this secret can have made. Anyone can read a signed one; a sealed one is encrypted. (E-80) */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

type Purpose = "session" | "feed" | "link" | "unsubscribe" | "channel";

/** `open` returns the payload, or `undefined` for what `make` has not made for this purpose. */
export type Tokens = { make: (payload: string) => string; open: (text: string) => string | undefined };

const TEXT_MAX = 4000;
const MAC_BYTES = 16;

/** Signed texts for one purpose. */
export function signedTokens(secret: Uint8Array, purpose: Purpose): Tokens {
  const key = Buffer.from(hkdfSync("sha256", secret, "", `fundfeed ${purpose}`, 32));
  const macOf = (body: string) => createHmac("sha256", key).update(body).digest().subarray(0, MAC_BYTES);
  return {
    make: (payload) => {
      const body = Buffer.from(payload).toString("base64url");
      return `${body}.${macOf(body).toString("base64url")}`;
    },
    open: (text) => {
      const [, body, mac = ""] = (text.length <= TEXT_MAX && /^([\w-]+)\.([\w-]+)$/.exec(text)) || [];
      if (body === undefined) return undefined;
      const [given, right] = [Buffer.from(mac, "base64url"), macOf(body)];
      // The last comparison: base64url has several spellings of the same bytes.
      if (given.length !== right.length || !timingSafeEqual(given, right) || given.toString("base64url") !== mac) return undefined;
      return Buffer.from(body, "base64url").toString();
    },
  };
}

const [NONCE_BYTES, TAG_BYTES] = [12, 16];

/** Sealed texts for one purpose, such as a link with a mail address, because proxies log paths. */
export function sealedTokens(secret: Uint8Array, purpose: Purpose): Tokens {
  const key = Buffer.from(hkdfSync("sha256", secret, "", `fundfeed ${purpose}`, 32));
  return {
    make: (payload) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      return Buffer.concat([nonce, cipher.update(payload), cipher.final(), cipher.getAuthTag()]).toString("base64url");
    },
    open: (text) => {
      const bytes = Buffer.from(text.length <= TEXT_MAX && /^[\w-]+$/.test(text) ? text : "", "base64url");
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
