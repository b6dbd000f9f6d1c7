/** The listener: Bun's server around an app, with what it must not do by itself. */
import type { App } from "./app.ts";

/** Seconds after which a connection that neither sends nor receives is closed. */
const IDLE_TIMEOUT_SECONDS = 30;
/** Bodies are never read: the service takes none. */
const BODY_BYTES_MAX = 1024;

/** Accepts connections. Throws when the port is taken: two servers on one port would split requests and quotas. */
export function listen(app: App, { hostname, port }: { hostname: string; port: number }) {
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
}
