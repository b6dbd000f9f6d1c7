/** The TLS certificate and private key of the listener, in files. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { Failure } from "../../db/reason.ts";
import { readText } from "../runtime/read-text.ts";

/** Both in PEM. `cert` may contain intermediate certificates after the first. */
export type Certificate = { cert: string; key: string };

/** Reads both files. Throws if one cannot be read or used, or if they do not match: Bun would report that in OpenSSL's words, or not at all. */
export function readCertificate(certFile: string, keyFile: string): Certificate {
  const cert = readText(certFile);
  const key = readText(keyFile);
  const certificate = attempt(() => new X509Certificate(cert), `Cannot use ${certFile}: it does not begin with a certificate in PEM form`);
  const privateKey = attempt(
    () => createPrivateKey(key),
    `Cannot use ${keyFile}: it is not a private key in PEM form without a passphrase`,
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new Failure(`Cannot use ${keyFile}: it is not the key of the certificate in ${certFile}`);
  return { cert, key };
}

function attempt<T>(work: () => T, otherwise: string): T {
  try {
    return work();
  } catch (error) {
    throw new Failure(otherwise, { cause: error });
  }
}
