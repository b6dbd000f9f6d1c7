/** Load on one server from one core, by `wrk` or else by the peer's `autocannon`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cpuMicroseconds, LOAD_CORE, run, type Server } from "./processes.ts";

const CONNECTIONS = 32;
/** How long each measurement takes, and the load before the first one: until then the server's own compiler takes a part of the time. */
export const ROUND_SECONDS = 10;

/** Requests per second, and the server's CPU time per request in microseconds. */
export type LoadResult = { perSecond: number; cpuUs: number };

type RequestCount = { perSecond: number; requests: number };

/** Puts load on a path of a server. Throws if a response is not 2xx or 3xx. */
export async function measure(server: Server, path: string, headers: Record<string, string>, seconds = ROUND_SECONDS): Promise<LoadResult> {
  const url = server.address + path;
  const lines = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const before = cpuMicroseconds(server.process.pid);
  const { perSecond, requests } = await (Bun.which("wrk") === null ? byAutocannon : byWrk)(url, lines, seconds);
  return { perSecond, cpuUs: (cpuMicroseconds(server.process.pid) - before) / requests };
}

async function byWrk(url: string, lines: string[], seconds: number): Promise<RequestCount> {
  const { output } = await run(LOAD_CORE, ["wrk", "-t1", `-c${CONNECTIONS}`, `-d${seconds}`, "--timeout", "30s", ...lines, url]);
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${url} failed under load: ${output}`);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    requests: Number(/(\d+) requests in/.exec(output)?.[1]),
  };
}

async function byAutocannon(url: string, lines: string[], seconds: number): Promise<RequestCount> {
  const program = join(import.meta.dir, "peer/node_modules/autocannon/autocannon.js");
  if (!existsSync(program)) throw new Error("Cannot measure requests per second: install wrk, or run npm ci in bench/peer");
  const { output } = await run(LOAD_CORE, ["node", program, "-c", String(CONNECTIONS), "-d", String(seconds), "--json", ...lines, url]);
  const { requests, errors, "4xx": refused, "5xx": failed } = JSON.parse(output);
  if (errors + refused + failed > 0) throw new Error(`${url} failed under load: ${errors} errors, ${refused} refused, ${failed} failed`);
  return { perSecond: requests.average, requests: requests.total };
}
