/** The server's certificate: read at the start, reloaded at SIGHUP. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { Failure } from "../../db/reason.ts";
import type { Certificate, Listener } from "../http/listen.ts";
import type { Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import { readText } from "../runtime/read-text.ts";
import type { EpochMs } from "../text/instant.ts";
import type { ServeOptions } from "./options.ts";

/** The certificate that the options name, or `undefined`. Throws if it cannot be used: Bun would say so in OpenSSL's words, or not at all. */
export function readCertificate({ tlsCert, tlsKey }: ServeOptions): Certificate | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const [cert, key] = [readText(tlsCert), readText(tlsKey)];
  const certificate = attempt(() => new X509Certificate(cert), `Cannot use ${tlsCert}: it does not begin with a certificate in PEM form`);
  const privateKey = attempt(() => createPrivateKey(key), `Cannot use ${tlsKey}: it is not a private key in PEM form without a passphrase`);
  if (!certificate.checkPrivateKey(privateKey))
    throw new Failure(`Cannot use ${tlsKey}: it is not the key of the certificate in ${tlsCert}`);
  return { cert, key };
}

function attempt<T>(work: () => T, otherwise: string): T {
  try {
    return work();
  } catch (error) {
    throw new Failure(otherwise, { cause: error });
  }
}

/** Reads the certificate again at each SIGHUP. If that fails, logs why and keeps the present one. */
export function reloadCertificate({ onReloadSignal, now }: Machine, listener: Listener, log: Log, read: () => Certificate): void {
  onReloadSignal(() => {
    try {
      listener.renew(read());
      log.notice(now(), "Reloaded the certificate; new connections use it");
    } catch (error) {
      log.failure(now(), error, null);
    }
  });
}

/** Logs a notice if the server listens beyond this machine without TLS. */
export function warnOfPlainHttp(host: string, log: Log, now: EpochMs): void {
  if (/^(127\.|localhost$|::1$)/.test(host)) return;
  log.notice(
    now,
    `API keys travel unencrypted: ${host} serves plain HTTP. Set --tls-cert and --tls-key, or let only a proxy that ends TLS reach it.`,
  );
}
