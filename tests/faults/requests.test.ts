/** A key that a command sends to a server is in no stream, file or error, whatever fails. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned, signedBy } from "../support/certificates.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import type { Failed } from "./failing-requests.ts";

afterAll(dropScratch);

/** Percent-encoding changes the ends of the key, lower case the rest; the core is in every form of it, and in the one that can be a host. */
const KEY = "SAM/KEY0123456789ABCDEF+=";
const HOST_KEY = "KEY0123456789ABCDEF";
const CORE = /key0123456789abcdef/i;

const directory = aDirectory();
let streams = "";
let failures: Failed[] = [];

beforeAll(async () => {
  selfSigned(directory, "issuer");
  selfSigned(directory, "self");
  selfSigned(directory, "stranger");
  signedBy("stranger", directory, "unknown");
  signedBy("issuer", directory, "other", { names: "DNS:elsewhere.example" });
  signedBy("issuer", directory, "expired", { days: -1 });
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "failing-requests.ts"), directory, KEY, HOST_KEY], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(directory, "issuer.crt"), BUN_CONFIG_VERBOSE_FETCH: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  streams = out + err;
  failures = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
});

describe("a key", () => {
  test("is in no error message", () => {
    expect(failures.length).toBeGreaterThan(80);
    const leaking = failures.filter(({ message, whole, told }) => CORE.test([message, whole, ...told].join("\n")));
    expect(leaking).toEqual([]);
  });

  test("is not printed, not even by the runtime", () => {
    expect(streams.split("\n").filter((line) => CORE.test(line))).toEqual([]);
  });

  test("is in no file", () => {
    const files = readdirSync(join(directory, "files"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(80);
    const leaking = files.filter(({ parentPath, name }) => CORE.test(readFileSync(join(parentPath, name), "latin1")));
    expect(leaking.map(({ parentPath, name }) => join(parentPath, name))).toEqual([]);
  });
});

const CLOSED = "the connection was closed before the response was complete";
const UNTRUSTED = "to trust it, set NODE_EXTRA_CA_CERTS to a PEM file with its issuer's certificate";

describe("a failure says what failed", () => {
  test.each([
    ["bad gzip", "its response cannot be decompressed (ZlibError)"],
    ["bad zstd", "its response cannot be decompressed (ZstdDecompressionError)"],
    ["bad brotli", "its response cannot be decompressed (BrotliDecompressionError)"],
    ["invalid header", "its response is not valid HTTP (Malformed_HTTP_Response)"],
    ["invalid chunk", "its response is not valid HTTP (InvalidHTTPResponse)"],
    ["invalid content length", "its response is not valid HTTP (InvalidContentLength)"],
    ["upgrade", "its response is not valid HTTP (UnrequestedUpgrade)"],
    ["cut body", CLOSED],
    ["no response", CLOSED],
    ["reset", CLOSED],
    ["connection refused", "the connection was refused"],
    ["unknown host", "its host name does not resolve"],
    ["no TLS", "the TLS handshake failed; check that the port speaks TLS"],
    ["500", "returned 500"],
  ])("%s, after some attempts", (name, reason) => {
    for (const [command, attempts] of [
      ["pull", 5],
      ["mirror", 6],
    ] as const) {
      const { message, waits } = failed(`${command}: ${name}`);
      expect({ message, waits }).toEqual({ message: expect.stringMatching(/^Cannot (fetch|mirror) /), waits: attempts - 1 });
      expect(message.replace(/: (it|the server) returned/, ": returned")).toEndWith(`: ${reason} (tried ${attempts} times)`);
    }
  });

  test.each([
    ["self-signed certificate", `its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT); ${UNTRUSTED}`],
    ["certificate of an unknown issuer", `its certificate is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE); ${UNTRUSTED}`],
    [
      "certificate of another name",
      "its certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID); check the address (NODE_EXTRA_CA_CERTS does not help here)",
    ],
    [
      "expired certificate",
      "its certificate has expired or is not valid yet (CERT_HAS_EXPIRED); check this machine's clock (NODE_EXTRA_CA_CERTS does not help here)",
    ],
  ])("%s, at once", (name, reason) => {
    for (const command of ["pull", "mirror"]) {
      const { message, waits } = failed(`${command}: ${name}`);
      expect(waits).toBe(0);
      expect(message).toEndWith(`: ${reason}`);
    }
  });

  function failed(command: string): Failed {
    const found = failures.find((each) => each.command === command);
    if (found === undefined) throw new Error(`${command} did not run`);
    return found;
  }
});
