/** `serve` over TLS: certificates as files, read again at SIGHUP. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { selfSigned } from "../support/certificates.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropHomes);
afterAll(dropScratch);

const directory = aDirectory();
const at = (name: string) => join(directory, name);

beforeAll(() => {
  for (const name of ["first", "second"]) selfSigned(directory, name);
  writeFileSync(at("junk.pem"), "junk\n");
});

const trusted = (name: string) => ({ ca: Bun.file(at(`${name}.crt`)) });

/** A connection that is established; its certificate's name tells which files were in use. */
async function connected(port: number): Promise<{ socket: TLSSocket; name: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, resolve);
  socket.on("error", reject);
  await promise;
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}

async function nameAt(port: number): Promise<string> {
  const { socket, name } = await connected(port);
  socket.destroy();
  return name;
}

describe("serve --tls-cert --tls-key", () => {
  let home: Home;
  let server: Server;
  const use = (name: string) => {
    for (const kind of ["crt", "key"]) copyFileSync(at(`${name}.${kind}`), home.at(`server.${kind}`));
  };
  const reload = async (told: RegExp) => {
    const before = server.log().length;
    server.kill("SIGHUP");
    await waitFor(String(told), () => told.test(server.log().slice(before)));
  };

  beforeAll(async () => {
    home = aHome();
    use("first");
    server = await home.serve(["serve", "--port", "0", "--tls-cert", "server.crt", "--tls-key", "server.key"]);
  });
  afterAll(() => server.stop());

  test("serves over TLS only, and prints an https address", async () => {
    expect(server.base).toBe(`https://127.0.0.1:${server.port}/v1`);
    const answer = await fetch(`${server.base}/meta`, { tls: trusted("first") });
    expect(answer.status).toBe(200);
    const missing = (await (await fetch(`${server.base}/none`, { tls: trusted("first") })).json()) as { type: string };
    expect(missing.type).toStartWith(`${server.base}/docs#`);
    await expect(fetch(`${server.base}/meta`, { tls: trusted("second") })).rejects.toThrow();
    await expect(fetch(`http://127.0.0.1:${server.port}/v1/meta`)).rejects.toThrow();
    expect(server.log()).not.toContain("API keys travel unencrypted");
  });

  test("is healthy for `health` on the same machine, whatever name is in the certificate; for another URL the name counts", async () => {
    const env = { FUNDFEED_PORT: `${server.port}`, FUNDFEED_TLS_CERT: "server.crt" };
    expect(await home.run(["health"], { env })).toEqual({ code: 0, out: `${server.base} is healthy\n`, err: "" });
    expect((await home.run(["health", "--url", server.base])).err).toMatch(/^Cannot reach https:.*certificate/);
  });

  test("uses a new certificate for new connections after SIGHUP, and completes the requests under way", async () => {
    const { socket } = await connected(server.port);
    const received: Buffer[] = [];
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("data", (chunk) => received.push(Buffer.from(chunk)));
    socket.write("GET /v1/meta HTTP/1.1\r\nHost: localhost\r\n"); // The rest comes after the signal.
    use("second");
    await reload(/Reloaded the certificate/);
    expect(await nameAt(server.port)).toBe("second");
    socket.write("\r\n");
    await closed;
    expect(Buffer.concat(received).toString()).toStartWith("HTTP/1.1 200 OK");
    expect((await fetch(`${server.base}/meta`, { tls: trusted("second") })).status).toBe(200);
  });

  test("keeps the old certificate and logs why if the new files cannot be used", async () => {
    copyFileSync(at("first.key"), home.at("server.key"));
    await reload(/server\.key: it is not the key of the certificate in server\.crt/);
    expect(await nameAt(server.port)).toBe("second");
    use("first");
    await reload(/Reloaded the certificate/);
    expect(await nameAt(server.port)).toBe("first");
  });

  // When the listener is replaced, Bun closes connections that are idle or in a handshake, and the port is closed for some milliseconds.
  // Clients may send a GET again (RFC 9110 §9.2.2).
  test("serves clients that retry without an error through many signals, and exits 0", async () => {
    const ask = () => waitFor("it answers", () => fetch(`${server.base}/meta`, { tls: trusted("first") }).catch(() => undefined));
    let stopped = false;
    let answered = 0;
    const clients = Array.from({ length: 4 }, async () => {
      for (; !stopped; answered++) expect((await ask()).status).toBe(200);
    });
    for (let n = 0; n < 5; n++) {
      const before = answered;
      await waitFor("clients are answered", () => answered > before + 4);
      await reload(/Reloaded the certificate/);
    }
    stopped = true;
    await Promise.all(clients);
    expect(answered).toBeGreaterThan(20);
    expect(await server.stop()).toBe(0);
  });
});

describe("serve refuses", () => {
  const served = (cert: string, key: string) =>
    fundfeed(["serve", "--port", "0", "--data", at("data"), "--tls-cert", at(cert), "--tls-key", at(key)]);

  test.each([
    ["a missing certificate", "none.crt", "first.key", "Cannot read {}/none.crt: there is no such file"],
    ["a key that is a directory", "first.crt", ".", "Cannot read {}: it is a directory"],
    [
      "a file that is not a certificate",
      "junk.pem",
      "first.key",
      "Cannot use {}/junk.pem: it does not begin with a certificate in PEM form",
    ],
    [
      "a file that is not a key",
      "first.crt",
      "junk.pem",
      "Cannot use {}/junk.pem: it is not a private key in PEM form without a passphrase",
    ],
    [
      "the key of another certificate",
      "first.crt",
      "second.key",
      "Cannot use {}/second.key: it is not the key of the certificate in {}/first.crt",
    ],
  ])("%s", async (_, cert, key, sentence) => {
    const { code, err } = await served(cert, key);
    expect([code, err]).toEqual([1, `${sentence.replaceAll("{}", directory)}\n`]);
  });

  test("--tls-cert without --tls-key", async () => {
    const { code, err } = await fundfeed(["serve", "--tls-cert", at("first.crt")]);
    expect([code, err]).toEqual([2, expect.stringContaining("--tls-cert and --tls-key must be given together")]);
  });
});

describe("plain HTTP", () => {
  test.each([
    ["0.0.0.0", true],
    ["127.0.0.1", false],
    ["localhost", false],
  ])("on %s: logs a warning: %p", async (host, warns) => {
    const server = await aHome().serve(["serve", "--host", host, "--port", "0", "--log-format", "text"]);
    expect(await server.stop()).toBe(0);
    expect(server.log().includes(`API keys travel unencrypted: ${host} serves plain HTTP`)).toBe(warns);
  });
});
