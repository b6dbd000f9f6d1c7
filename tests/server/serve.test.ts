/** `serve` as a process: the address that it prints, and SIGHUP. */
import { afterAll, describe, expect, test } from "bun:test";
import { aHome, dropHomes } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";

afterAll(dropHomes);

const NOTICE = "which works on this machine only; set --base-url for clients elsewhere";

describe("serve --host", () => {
  test.each([
    ["0.0.0.0", "127.0.0.1", true],
    ["::", "[::1]", true],
    ["127.0.0.1", "127.0.0.1", false],
    ["[::1]", "[::1]", false],
    ["localhost", "localhost", false],
  ])("%s prints an address that works: %s", async (host, named, isNoticed) => {
    const server = await aHome().serve(["serve", "--host", host, "--port", "0", "--metrics-port", "0", "--metrics-host", host]);
    expect(server.base).toBe(`http://${named}:${server.port}/v1`);
    const missing = await server.get("/none");
    expect([missing.status, ((await missing.json()) as { type: string }).type]).toEqual([404, `${server.base}/docs#problem-not_found`]);
    expect(await server.stop()).toBe(0);
    expect(server.log()).toContain(`The metrics are at http://${named}:`);
    expect(server.log().includes(`name ${server.base}, ${NOTICE}`)).toBe(isNoticed);
  });

  test("0.0.0.0 with --base-url prints that address, without a notice", async () => {
    const server = await aHome().serve(["serve", "--host", "0.0.0.0", "--port", "0", "--base-url", "https://api.example.org/v1"]);
    expect(server.printed()).toContain("listening on https://api.example.org/v1\n");
    expect(await server.stop()).toBe(0);
    expect(server.log()).not.toContain(NOTICE);
  });

  test("--base-url is published as a valid URI", async () => {
    const port = await freePort();
    const args = ["serve", "--port", `${port}`, "--base-url", 'https://Exämple.org:443/a "b"|%zz/v1/'];
    const server = await aHome().serve(args);
    const base = "https://xn--exmple-cua.org/a%20%22b%22%7C%25zz/v1";
    expect(server.base).toBe(base);
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}/v1${path}`)).json();
    expect(await get("/openapi.json")).toMatchObject({ servers: [{ url: base }] });
    expect(await get("/none")).toMatchObject({ type: `${base}/docs#problem-not_found` });
    expect(await server.stop()).toBe(0);
  });
});

describe("SIGHUP to a server without a certificate", () => {
  test("stops it: it saves the use, logs why, and exits 0", async () => {
    const home = aHome();
    const key = await home.key();
    const server = await home.serve();
    expect((await server.get("/sources", key)).status).toBe(200);
    server.kill("SIGHUP");
    expect(await server.ended).toBe(0);
    expect(server.log()).toContain('"message":"SIGHUP: the server stops, because it has no certificate to reload"');
    expect(await home.json<{ requests: number }[]>(["keys", "usage"])).toMatchObject([{ requests: 1 }]);
  });
});
