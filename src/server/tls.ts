/** The server's certificate: read at the start, reloaded at SIGHUP. */
import { type Certificate, readCertificate } from "../http/certificate.ts";
import type { Listener } from "../http/listen.ts";
import type { Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { EpochMs } from "../text/instant.ts";
import type { ServeOptions } from "./options.ts";

/** The certificate that the options name, or `undefined` without one. Throws if a file cannot be read or used. */
export function readCertificateFiles({ tlsCert, tlsKey }: ServeOptions): Certificate | undefined {
  return tlsCert === undefined || tlsKey === undefined ? undefined : readCertificate(tlsCert, tlsKey);
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
