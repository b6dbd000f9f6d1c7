/** A real redis-server for tests: on a free port, without files, and with ways to make it fail. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisClient } from "bun";
import { freePort } from "./free-port.ts";
import { waitFor } from "./wait-for.ts";

export const redisIsInstalled = Bun.which("redis-server") !== null;

export type RedisServer = {
  port: number;
  /** Database 0, without a password. */
  address: string;
  /** Sends one command over its own connection, and returns the response. */
  command: (name: string, ...args: string[]) => Promise<unknown>;
  kill: (signal: NodeJS.Signals) => void;
  /** Starts an empty one on the same port, after SIGKILL. */
  start: () => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts a server. `options` are added to its command line. */
export async function aRedis(options: (server: { port: number }) => readonly string[] = () => []): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-redis-"));
  const port = await freePort();
  const address = `redis://127.0.0.1:${port}/0`;
  let child: Bun.Subprocess | undefined;

  const start = async () => {
    await child?.exited;
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", directory, "--save", "", "--appendonly", "no", ...options({ port })];
    child = Bun.spawn(["redis-server", ...args], { stdout: "ignore", stderr: "ignore" });
    await waitFor("redis-server listens", () => listens(port));
  };
  await start();
  return {
    port,
    address,
    command: async (name, ...args) => {
      const client = new RedisClient(address, { autoReconnect: false });
      try {
        return await client.send(name, args);
      } finally {
        client.close();
      }
    },
    kill: (signal) => child?.kill(signal),
    start,
    stop: async () => {
      child?.kill("SIGKILL");
      await child?.exited;
      rmSync(directory, { recursive: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

/**
 * Calls `attempt` until Redis has counted all its requests, and returns its result. A server that waits too long for Redis counts alone,
 * which a busy machine can bring about: then the limits are not exact, and `attempt` has to begin with a new key. `metrics` are addresses.
 */
export async function countedByRedis<T>(metrics: readonly string[], attempt: () => Promise<T>): Promise<T> {
  const countedAlone = () =>
    Promise.all(
      metrics.map(async (address) => /^fundfeed_quotas_counted_alone_total (\d+)$/m.exec(await (await fetch(address)).text())?.[1]),
    );
  const { result } = await waitFor("Redis counts all requests", async () => {
    const before = await countedAlone();
    const result = await attempt();
    return Bun.deepEquals(before, await countedAlone()) && { result };
  });
  return result;
}

/** The addresses of the metrics that servers write to their log. */
export function metricsIn(log: string): string[] {
  return Array.from(log.matchAll(/metrics are at (http:[^"\s]+)/g), ([, address = ""]) => address);
}
