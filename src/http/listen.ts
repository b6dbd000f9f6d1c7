/** The listener: Bun's server around an app, with what it must not do by itself. */
import { codeOf, messageOf } from "../../db/reason.ts";
import type { App } from "./app.ts";
import type { Certificate } from "./certificate.ts";

/** Seconds after which a connection that neither sends nor receives is closed. */
const IDLE_TIMEOUT_SECONDS = 30;
/** Bodies are never read: the service takes none. */
const BODY_BYTES_MAX = 1024;

type Place = {
  hostname: string;
  port: number;
  /** Whether other processes of the same user may listen on it, too: each new connection goes to one of them. */
  reusePort?: boolean;
};

export type Listener = {
  /** The one that was taken, where 0 was asked for. */
  port: number;
  /** New connections get this certificate. */
  renew: (certificate: Certificate) => void;
  /** Resolves once every request under way is answered; or at once, when they are to be cut. */
  stop: (cut?: boolean) => Promise<void>;
};

/** Accepts connections, over TLS where there is a certificate. Throws when the port is taken, unless all ask for sharing it: two servers on one port would split requests and quotas. */
export function listen(app: App, place: Place, certificate?: Certificate): Listener {
  let present = accept(app, place, certificate);
  const { port = place.port } = present;
  const former = new Set<typeof present>();
  return {
    port,
    // Bun's reload() keeps the certificate, so another listener takes the port over. Requests under way are answered by the one they
    // came to; its idle connections are closed.
    renew: (renewed) => {
      const ending = present;
      former.add(ending);
      void ending.stop().then(() => former.delete(ending));
      present = accept(app, { ...place, port }, renewed);
    },
    stop: async (cut = false) => {
      await Promise.all([...former, present].map((server) => server.stop(cut)));
    },
  };
}

function accept(app: App, { hostname, port, reusePort = false }: Place, tls: Certificate | undefined) {
  try {
    return Bun.serve({
      hostname,
      port,
      ...(tls !== undefined && { tls }),
      reusePort,
      development: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch: app.fetch,
      error: () => new Response(null, { status: 500 }), // Never reached: `app.fetch` answers whatever is thrown.
    });
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${reasons[codeOf(error)] ?? messageOf(error)}`, { cause: error });
  }
}

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is in use",
  EACCES: "only a privileged user may listen on this port",
  EADDRNOTAVAIL: "it is no address of this machine",
  EINVAL: "it is no address of this machine",
  ENOTFOUND: "it is no address of this machine",
};
