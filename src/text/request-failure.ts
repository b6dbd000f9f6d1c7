/**
 * Describes failed requests without giving away keys. Keys travel in queries and headers, and the runtime's messages repeat the whole
 * address. So these messages are never printed; the error's code selects a text of our own.
 */

/** Why a request failed. After a final failure, another attempt would fail the same way. */
export type RequestFailure = { reason: string; isFinal: boolean };

/** The address without credentials, query and fragment: safe to print. */
export function publicUrl(url: URL | string): string {
  const text = String(url);
  const credentials = URL.canParse(text) ? /^([^:]+:\/\/)[^/?#]*@/ : /^([^:]+:\/\/).*@/s; // A password can be what makes the URL invalid.
  return text.replace(credentials, "$1").replace(/[?#].*$/s, "");
}

/** Why a request failed, from the code of the error that `fetch` or `node:http` threw. */
export function requestFailure(thrown: unknown): RequestFailure {
  const code = codeOf(thrown);
  const certificate = certificateFailures.find(({ codes }) => codes.test(code));
  if (certificate !== undefined) return { reason: `${certificate.what} (${code}); ${certificate.advice}`, isFinal: true };
  const connection = connectionFailures.find(({ codes }) => codes.test(code));
  if (connection !== undefined) return { reason: connection.what, isFinal: false };
  const { what } = responseFailures.find(({ codes }) => codes.test(code)) ?? { what: "the request failed" };
  return { reason: code === "" ? what : `${what} (${code})`, isFinal: false };
}

const TRUST = "to trust it, set NODE_EXTRA_CA_CERTS to a PEM file with its issuer's certificate";

/** The codes are OpenSSL's names. */
const certificateFailures = [
  { codes: /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/, what: "its certificate is not trusted", advice: TRUST },
  {
    codes: /ALTNAME|HOSTNAME_MISMATCH/,
    what: "its certificate is for another host",
    advice: "check the address (NODE_EXTRA_CA_CERTS does not help here)",
  },
  {
    codes: /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    what: "its certificate has expired or is not valid yet",
    advice: "check this machine's clock (NODE_EXTRA_CA_CERTS does not help here)",
  },
  { codes: /CERT|CRL|^INVALID_(CA|PURPOSE)$/, what: "its certificate cannot be trusted", advice: TRUST },
];

const connectionFailures = [
  { codes: /^(ECONNREFUSED|ConnectionRefused)$/, what: "the connection was refused" },
  { codes: /^(ENOTFOUND|EAI_\w+)$/, what: "its host name does not resolve" },
  { codes: /^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT)$/, what: "its host cannot be reached" },
  { codes: /^(ECONNRESET|EPIPE)$/, what: "the connection was closed before the response was complete" },
  { codes: /^EPROTO$/, what: "the TLS handshake failed; check that the port speaks TLS" },
];

const responseFailures = [
  { codes: /^(Zlib|Zstd|Brotli)/, what: "its response cannot be decompressed" },
  { codes: /proxy/i, what: "the proxy refused the request" },
  { codes: /^(Malformed_HTTP_Response|Invalid|ResponseHeadersTooLarge|UnrequestedUpgrade|HPE_)/, what: "its response is not valid HTTP" },
];

/** The error's code, or "". Anything that does not look like a code might be a message. */
function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^\w{1,60}$/.test(code) ? code : "";
}

/** Shorter texts are not keys, and occur in ordinary sentences. */
const KEY_LENGTH_MIN = 8;

/** Replaces the key with "…", in case a server repeated it: plain, JSON-escaped or URL-encoded, in any letter case. */
export function withoutKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < KEY_LENGTH_MIN) return text;
  const spellings = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), `${new URLSearchParams([["", key]])}`.slice(1)];
  return text.replace(new RegExp(spellings.map((spelling) => RegExp.escape(spelling)).join("|"), "gi"), "…");
}
