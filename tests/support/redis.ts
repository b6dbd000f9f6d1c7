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
