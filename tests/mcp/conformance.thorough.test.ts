/** The official conformance suite against `/mcp` of `up`. It fails if a scenario fails that is not expected to, and if an expected one passes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { expectedFailures } from "./expected-failures.ts";

setDefaultTimeout(300_000);

const suite = join(import.meta.dir, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

let server: Server;
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  const home: Home = aHome();
  server = await home.serve(["up", "--port", "0", "--pull", "none"]);
  proxy = withKey(await home.key());
});
afterAll(async () => {
  await proxy.stop(true);
  expect(await server.stop()).toBe(0);
  await dropHomes();
  dropScratch();
});

/** The suite cannot send a key. Host and Origin stay as it sends them. */
function withKey(key: string): Bun.Server<undefined> {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      const headers = new Headers(request.headers);
      headers.set("Authorization", `Bearer ${key}`);
      const { method, body, signal } = request;
      return fetch(`http://127.0.0.1:${server.port}/mcp`, { method, headers, body, signal, decompress: false });
    },
  });
}

test.each([
  ["2025-11-25", 36],
  ["2026-07-28", 104],
] as const)("revision %s passes, but for what is expected to fail", async (revision, passed) => {
  const scenarios = expectedFailures.flatMap(({ both = [], [revision]: ofOne = [] }) => [...both, ...ofOne]);
  const baseline = aFile(["server:", ...scenarios.map((name) => `  - ${name}`), ""].join("\n"), "expected.yml");
  const args = ["server", "--url", `http://127.0.0.1:${proxy.port}/mcp`, "--requirements", revision, "--expected-failures", baseline];
  const child = Bun.spawn([process.execPath, suite, ...args, "-o", aDirectory()], { stdout: "pipe", stderr: "pipe" });
  const [out, code] = [await child.stdout.text(), await child.exited];
  expect([code, out]).toEqual([0, expect.stringContaining(`Total: ${passed} passed`)]);
});
