/** A real HAProxy for tests: docs/operate/haproxy.cfg itself, on loopback, without TLS, in turn to each server. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "../support/wait-for.ts";

export const haproxyIsInstalled = Bun.which("haproxy") !== null;

const EXAMPLE = join(import.meta.dir, "../../docs/operate/haproxy.cfg");

/** What differs from the example: each must be there once. */
const ADDRESSES = ["10.0.0.11:8080", "10.0.0.12:8080", "10.0.0.13:8080"];

export type HaProxy = { base: string; stop: () => Promise<void> };

export function configFor(port: number, servers: readonly number[]): string {
  let config = readFileSync(EXAMPLE, "utf8");
  const replace = (old: string | RegExp, by: string) => {
    const [before, after, ...more] = config.split(old);
    if (after === undefined || more.length > 0) throw new Error(`The example does not have ${old} once`);
    config = before + by + after;
  };
  replace(/bind :443 .*/, `bind 127.0.0.1:${port}`);
  replace(/ {2}user haproxy\n {2}group haproxy\n {2}log .*\n/, "");
  replace("balance leastconn", "balance roundrobin");
  for (const [index, address] of ADDRESSES.entries()) replace(address, `127.0.0.1:${servers[index]}`);
  return config;
}

/** In front of three servers, by their ports. */
export async function aProxy(port: number, servers: readonly number[]): Promise<HaProxy> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-haproxy-"));
  const file = join(directory, "haproxy.cfg");
  writeFileSync(file, configFor(port, servers));
  const child = Bun.spawn(["haproxy", "-db", "-f", file], { stdout: "ignore", stderr: "pipe" });
  const said = child.stderr.text();
  const base = `http://127.0.0.1:${port}/v1`;
  await waitFor("HAProxy answers", async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy does not start: ${await said}`);
    return (await fetch(`${base}/meta`).catch(() => undefined))?.status === 200;
  });
  return {
    base,
    stop: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(directory, { recursive: true });
    },
  };
}
