/** Describes failed requests by their code: messages of the runtime repeat the whole address, and with it the keys. */
import { codeOf } from "../../db/reason.ts";

type RequestFailure = { reason: string; isFinal: boolean };

/** The address without credentials, query and fragment: safe to print. */
export function publicUrl(url: URL | string): string {
  const text = String(url);
  const credentials = URL.canParse(text) ? /^([^:]+:\/\/)[^/?#]*@/ : /^([^:]+:\/\/).*@/s; // A password can be what makes the URL invalid.
  return text.replace(credentials, "$1").replace(/[?#].*/s, "");
}

/** Why a request failed, from the code of the error that `fetch` or `node:http` threw. */
export function requestFailure(thrown: unknown): RequestFailure {
  const [code = ""] = /^\w{1,60}$/.exec(codeOf(thrown)) ?? []; // Anything that does not look like a code might be a message.
  const connection = connectionFailures.find(([codes]) => codes.test(code));
  if (connection !== undefined) return { reason: connection[1], isFinal: false };
  const [, what, advice] = otherFailures.find(([codes]) => codes.test(code)) ?? [/^/, "the request failed"];
  const reason = code === "" ? what : `${what} (${code})`;
  return advice === undefined ? { reason, isFinal: false } : { reason: `${reason}; ${advice}`, isFinal: true };
}

/** The error of a request of `node:http` that closes without a response and without an error, as after status 101. */
export function noResponse(): Error {
  return Object.assign(new Error(), { code: "UnrequestedUpgrade" });
}

const TRUST = "to trust it, set NODE_EXTRA_CA_CERTS to a PEM file with its issuer's certificate";
const NO_HELP = "(NODE_EXTRA_CA_CERTS does not help here)";

const connectionFailures: readonly (readonly [codes: RegExp, what: string])[] = [
  [/^(ECONNREFUSED|ConnectionRefused)$/, "the connection was refused"],
  [/^(ENOTFOUND|EAI_\w+)$/, "its host name does not resolve"],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|ETIMEDOUT)$/, "its host cannot be reached"],
  [/^(ECONNRESET|EPIPE)$/, "the connection was closed before the response was complete"],
  [/^EPROTO$/, "the TLS handshake failed; check that the port speaks TLS"],
];

/** Named with their code. Those with advice are failures of a certificate, whose codes are OpenSSL's names. */
const otherFailures: readonly (readonly [codes: RegExp, what: string, advice?: string])[] = [
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED/, "its certificate is not trusted", TRUST],
  [/ALTNAME|HOSTNAME_MISMATCH/, "its certificate is for another host", `check the address ${NO_HELP}`],
  [/^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/, "its certificate has expired or is not valid yet", `check this machine's clock ${NO_HELP}`],
  [/CERT|CRL|^INVALID_(CA|PURPOSE)$/, "its certificate cannot be trusted", TRUST],
  [/^(Zlib|Zstd|Brotli)/, "its response cannot be decompressed"],
  [/proxy/i, "the proxy refused the request"],
  [/^(Malformed_HTTP_Response|Invalid|ResponseHeadersTooLarge|UnrequestedUpgrade|HPE_)/, "its response is not valid HTTP"],
];
