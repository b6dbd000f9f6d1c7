/** The listener: Bun's server around an app, with what it must not do by itself. */
import { lookup } from "node:dns/promises";
import { codeOf, messageOf } from "../../db/reason.ts";
import type { App } from "./app.ts";
import type { Certificate } from "./certificate.ts";

/** Seconds after which a connection that neither sends nor receives is closed. */
const IDLE_TIMEOUT_SECONDS = 30;
/** No limit: a request with a body gets the response it gets without one. Bun discards a body that nobody reads, so it takes no memory. */
const BODY_BYTES_MAX = Number.POSITIVE_INFINITY;

type Place = {
  hostname: string;
  port: number;
  /** Whether other processes of the same user may listen on it, too: each new connection goes to one of them. */
  reusePort?: boolean;
};

export type Listener = {
  /** What the host name resolved to. */
  address: string;
  /** The one that was taken, where 0 was asked for. */
  port: number;
  /** New connections get this certificate. */
  renew: (certificate: Certificate) => void;
  /** Resolves once every request under way is answered; or at once, when they are to be cut. */
  stop: (cut?: boolean) => Promise<void>;
};

/** Accepts connections, over TLS where there is a certificate. Throws when the port is taken, unless all ask for sharing it: two servers on one port would split requests and quotas. */
export async function listen(app: App, place: Place, certificate?: Certificate): Promise<Listener> {
  const address = await addressOf(place);
  let present = accept(app, place, address, certificate);
  const { port = place.port } = present;
  const former = new Set<typeof present>();
  return {
    address,
    port,
    // Bun's reload() keeps the certificate, so another listener takes the port over. Requests under way are answered by the one they
    // came to; its idle connections are closed.
    renew: (renewed) => {
      const ending = present;
      former.add(ending);
      void ending.stop().then(() => former.delete(ending));
      present = accept(app, { ...place, port }, address, renewed);
    },
    stop: async (cut = false) => {
      await Promise.all([...former, present].map((server) => server.stop(cut)));
    },
  };
}

/**
 * The address of a host name, which may be an address itself. It is resolved here because Bun.serve does not report that a name cannot be
 * resolved: its error then has the code of some earlier system call.
 */
async function addressOf({ hostname, port }: Place): Promise<string> {
  try {
    return (await lookup(hostname.replace(/^\[(.*)\]$/, "$1"))).address;
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${NOT_OURS}`, { cause: error });
  }
}

function accept(app: App, { hostname, port, reusePort = false }: Place, address: string, tls: Certificate | undefined) {
  try {
    return Bun.serve({
      hostname: address,
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

const NOT_OURS = "it is no address of this machine";

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is in use",
  EACCES: "only a privileged user may listen on this port",
  EADDRNOTAVAIL: NOT_OURS,
  EINVAL: NOT_OURS, // A link-local address without its interface.
};
