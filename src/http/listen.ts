/** The listener: Bun's server around an app. */
import { lookup } from "node:dns/promises";
import { codeOf, Failure, messageOf } from "../../db/reason.ts";
import type { App } from "./app.ts";

const IDLE_TIMEOUT_SECONDS = 30;
/** No limit: a body changes nothing about the response. Bun discards a body that nobody reads, so it takes no memory. */
const BODY_BYTES_MAX = Number.POSITIVE_INFINITY;

type Endpoint = { hostname: string; port: number };

/** Both in PEM. `cert` may contain intermediate certificates after the first. */
export type Certificate = { cert: string; key: string };

export type Listener = {
  address: string;
  port: number;
  renew: (certificate: Certificate) => void;
  /** Resolves when every request under way has its response. With `isForced`, it closes all connections immediately. */
  stop: (isForced?: boolean) => Promise<void>;
};

/** Accepts connections, over TLS if there is a certificate. Throws if it cannot: two servers on one port would split requests and quotas. */
export async function listen(app: App, endpoint: Endpoint, certificate?: Certificate): Promise<Listener> {
  const address = await addressOf(endpoint);
  let current = accept(app, endpoint, address, certificate);
  const { port = endpoint.port } = current;
  const former = new Set<typeof current>();
  return {
    address,
    port,
    // Bun's reload() keeps the old certificate, so a new listener takes over the port while the old one finishes its requests.
    renew: (renewed) => {
      const ending = current;
      former.add(ending);
      void ending.stop().then(() => former.delete(ending));
      current = accept(app, { ...endpoint, port }, address, renewed);
    },
    stop: async (isForced = false) => {
      await Promise.all([...former, current].map((server) => server.stop(isForced)));
    },
  };
}

/** The address of a host name. Bun.serve does not report that a name cannot be resolved: its error has an earlier system call's code. */
async function addressOf({ hostname, port }: Endpoint): Promise<string> {
  try {
    return (await lookup(hostname.replace(/^\[(.*)\]$/, "$1"))).address;
  } catch (error) {
    throw new Failure(`Cannot listen on ${hostname}:${port}: ${NOT_OURS}`, { cause: error });
  }
}

function accept(app: App, { hostname, port }: Endpoint, address: string, tls: Certificate | undefined) {
  try {
    return Bun.serve({
      hostname: address,
      port,
      ...(tls !== undefined && { tls }),
      reusePort: false, // Bun 1.4.5 shares the port with other programs unless it is told not to.
      development: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch: app.fetch,
      error: () => new Response(null, { status: 500 }), // Never used: `app.fetch` does not throw.
    });
  } catch (error) {
    throw new Failure(`Cannot listen on ${hostname}:${port}: ${reasons[codeOf(error)] ?? messageOf(error)}`, { cause: error });
  }
}

const NOT_OURS = "it is not an address of this machine";

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is in use; stop the program that listens there, or choose another port (0 takes a free one)",
  EACCES: "only a privileged user may listen on this port; choose one from 1024 on",
  EADDRNOTAVAIL: NOT_OURS,
  EINVAL: NOT_OURS, // A link-local address without its interface.
};
