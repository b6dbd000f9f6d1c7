/**
 * What may be said about a request and its failure. Keys travel in queries and headers, and the runtime's own messages repeat the whole
 * address: so no message is passed on, and an error's code chooses the words.
 */

/** A failure in words. A final one would be the same at the next attempt. */
export type RequestFailure = { reason: string; isFinal: boolean };

/** An address without credentials, query and fragment. */
export function shownUrl(url: URL | string): string {
  const text = String(url);
  const credentials = URL.canParse(text) ? /^([^:]+:\/\/)[^/?#]*@/ : /^([^:]+:\/\/).*@/s; // A password may be what makes it no address.
  return text.replace(credentials, "$1").replace(/[?#].*$/s, "");
}

/** Why a request failed, from what `fetch` or `node:http` threw. */
export function requestFailure(thrown: unknown): RequestFailure {
  const code = codeOf(thrown);
  const certificate = certificateFailures.find(({ codes }) => codes.test(code));
  if (certificate !== undefined) return { reason: `${certificate.what} (${code}); ${certificate.advice}`, isFinal: true };
  const connection = connectionFailures.find(({ codes }) => codes.test(code));
  if (connection !== undefined) return { reason: connection.what, isFinal: false };
  const { what } = responseFailures.find(({ codes }) => codes.test(code)) ?? { what: "the request failed" };
  return { reason: code === "" ? what : `${what} (${code})`, isFinal: false };
}

const TRUST = "to trust it, name its issuer's certificate, a PEM file, in NODE_EXTRA_CA_CERTS";

/** By OpenSSL's names. */
const certificateFailures = [
  { codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/, what: "its certificate is not trusted", advice: TRUST },
  {
    codes: /ALTNAME|HOSTNAME_MISMATCH/,
    what: "its certificate is for another host",
    advice: "check the address, for NODE_EXTRA_CA_CERTS does not help here",
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    what: "its certificate has expired or is not valid yet",
    advice: "check this machine's clock, for NODE_EXTRA_CA_CERTS does not help here",
  },
  { codes: /CERT|CRL|^INVALID_(CA|PURPOSE)$/, what: "its certificate cannot be trusted", advice: TRUST },
];

const connectionFailures = [
  { codes: /^(ECONNREFUSED|ConnectionRefused)$/, what: "nothing answers there" },
  { codes: /^(ENOTFOUND|EAI_\w+)$/, what: "its host name does not resolve" },
  { codes: /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT)$/, what: "its host cannot be reached" },
  { codes: /^(ECONNRESET|EPIPE)$/, what: "the connection was closed before the response was complete" },
  { codes: /^EPROTO$/, what: "the TLS handshake failed; check that TLS is spoken on that port" },
];

const responseFailures = [
  { codes: /^(Zlib|Zstd|Brotli)/, what: "its response cannot be decompressed" },
  { codes: /proxy/i, what: "the proxy refused the request" },
  { codes: /^(Malformed_HTTP_Response|Invalid|ResponseHeadersTooLarge|UnrequestedUpgrade|HPE_)/, what: "its response is not valid HTTP" },
];

/** Only what can be a code is taken for one: anything else might be a message. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^\w{1,60}$/.test(code) ? code : "";
}

/** Shorter texts are no keys, and could be found in any sentence. */
const KEY_LENGTH_MIN = 8;

/** The text without the key, which a server may have repeated: as it is, as JSON or a query spells it, in upper or lower case. */
export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < KEY_LENGTH_MIN) return text;
  const spellings = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), `${new URLSearchParams([["", key]])}`.slice(1)];
  return text.replace(new RegExp(spellings.map((spelling) => RegExp.escape(spelling)).join("|"), "gi"), "…");
}
