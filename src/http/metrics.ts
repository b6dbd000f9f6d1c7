/** The app of the metrics port, for Prometheus. It needs no key. */

import type { App } from "./app.ts";
import { partsOf } from "./query-text.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Serves `/metrics`, with any query, and 404 for any other path. `text` returns the metrics in the exposition format. */
export function createMetricsApp(text: () => Promise<string>): App {
  return {
    fetch: async ({ url }) =>
      partsOf(url).path === "/metrics"
        ? new Response(await text(), { headers: { "Content-Type": CONTENT_TYPE, "Cache-Control": "no-store" } })
        : new Response("The metrics are at /metrics.\n", { status: 404 }),
  };
}
