/** The listener: Bun's server around an app, with what it must not do by itself. */
import type { App } from "./app.ts";

/** Seconds after which a connection that neither sends nor receives is closed. */
const IDLE_TIMEOUT_SECONDS = 30;
/** Bodies are never read: the service takes none. */
const BODY_BYTES_MAX = 1024;

/** Accepts connections. Throws when the port is taken: two servers on one port would split requests and quotas. */
export function listen(app: App, { hostname, port }: { hostname: string; port: number }) {
  try {
    return Bun.serve({
      hostname,
      port,
      reusePort: false,
      development: false,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: BODY_BYTES_MAX,
      fetch: app.fetch,
      error: () => new Response(null, { status: 500 }), // Never reached: `app.fetch` answers whatever is thrown.
    });
  } catch (error) {
    throw new Error(`Cannot listen on ${hostname}:${port}: ${reason(error)}`, { cause: error });
  }
}

const reasons: Record<string, string> = {
  EADDRINUSE: "the port is in use",
  EACCES: "only a privileged user may listen on this port",
  EADDRNOTAVAIL: "it is no address of this machine",
  EINVAL: "it is no address of this machine",
  ENOTFOUND: "it is no address of this machine",
};

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ("code" in error ? reasons[String(error.code)] : undefined) ?? error.message;
}
