/** Load on one address from one core: `wrk` where there is one, else the peer's `autocannon`. */
import { join } from "node:path";
import { LOAD_CORE, run } from "./processes.ts";

const CONNECTIONS = 32;
const SECONDS = 3;

export type Pressure = { perSecond: number; p99Ms: number };

/** Throws when an answer is not 2xx or 3xx. */
export async function measure(url: string, headers: Record<string, string>, seconds = SECONDS): Promise<Pressure> {
  const lines = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  if (Bun.which("wrk") === null) return await byAutocannon(url, lines, seconds);
  const { output } = await run(LOAD_CORE, ["wrk", "-t1", `-c${CONNECTIONS}`, `-d${seconds}`, "--latency", ...lines, url]);
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${url} failed under load: ${output}`);
  const [, p99 = "", unit = "ms"] = /99%\s+([\d.]+)(us|ms|s)/.exec(output) ?? [];
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    p99Ms: Number(p99) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN),
  };
}

async function byAutocannon(url: string, lines: string[], seconds: number): Promise<Pressure> {
  const program = join(import.meta.dir, "peer/node_modules/autocannon/autocannon.js");
  const { output } = await run(LOAD_CORE, ["node", program, "-c", String(CONNECTIONS), "-d", String(seconds), "--json", ...lines, url]);
  const { requests, latency, errors, "4xx": refused, "5xx": failed } = JSON.parse(output);
  if (errors + refused + failed > 0) throw new Error(`${url} failed under load: ${errors} errors, ${refused} refused, ${failed} failed`);
  return { perSecond: requests.average, p99Ms: latency.p99 };
}
