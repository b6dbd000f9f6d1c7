/** A real HAProxy with deploy/haproxy.cfg, on loopback and without TLS. It sends requests to three servers in turn. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitFor } from "./wait-for.ts";

export const haproxyIsInstalled = Bun.which("haproxy") !== null;

const EXAMPLE = join(import.meta.dir, "../../deploy/haproxy.cfg");

/** The servers' addresses in the example. */
const ADDRESSES = ["10.0.0.11:8080", "10.0.0.12:8080", "10.0.0.13:8080"];

/** `stop()` kills HAProxy and removes its files. */
export type HaProxy = { base: string; pid: number; stop: () => Promise<void> };

/** Starts HAProxy on `port` before three servers, by their ports. Waits until it passes a request on; throws if it ends before. */
export async function startHaProxy(port: number, serverPorts: readonly number[]): Promise<HaProxy> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-haproxy-"));
  const file = join(directory, "haproxy.cfg");
  writeFileSync(file, configFor(port, serverPorts));
  const child = Bun.spawn(["haproxy", "-db", "-f", file], { stdout: "ignore", stderr: "pipe" });
  const errors = child.stderr.text();
  const base = `http://127.0.0.1:${port}/v1`;
  await waitFor("HAProxy passes requests on", async () => {
    if (child.exitCode !== null) throw new Error(`HAProxy ended before it listened: ${await errors}`);
    return (await fetch(`${base}/meta`).catch(() => undefined))?.status === 200;
  });
  return {
    base,
    pid: child.pid,
    stop: async () => {
      child.kill("SIGKILL");
      await child.exited;
      rmSync(directory, { recursive: true });
    },
  };
}

/** Returns the example with these ports, without TLS. Throws if the example lacks one of the lines that have to change, or has it twice. */
function configFor(port: number, serverPorts: readonly number[]): string {
  let config = readFileSync(EXAMPLE, "utf8");
  const replace = (old: string | RegExp, replacement: string) => {
    const [before, after, ...more] = config.split(old);
    if (after === undefined || more.length > 0) throw new Error(`deploy/haproxy.cfg must have ${old} exactly once`);
    config = before + replacement + after;
  };
  replace(/bind :443 .*/, `bind 127.0.0.1:${port}`);
  replace(/ {2}user haproxy\n {2}group haproxy\n {2}log .*\n/, "");
  replace("balance leastconn", "balance roundrobin");
  for (const [index, address] of ADDRESSES.entries()) replace(address, `127.0.0.1:${serverPorts[index]}`);
  return config;
}
