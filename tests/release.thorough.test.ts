/** The artefacts of a release, with small stand-ins for the programs: what npm installs and starts, and what install.sh refuses. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpackExtension } from "@anthropic-ai/mcpb";
import { version } from "../package.json" with { type: "json" };
import { homebrewFormula, scoopManifest } from "../release/formulas.ts";
import { bundleName, packBundle, serverJson } from "../release/mcp.ts";
import { packProgram } from "../release/npm.ts";
import { type Platform, platforms, programName } from "../release/platforms.ts";
import { runProgram } from "../release/run-program.ts";
import { selfSigned } from "./support/certificates.ts";
import { aDirectory, dropScratch } from "./support/imports.ts";
import { waitFor } from "./support/wait-for.ts";

setDefaultTimeout(300_000);

afterAll(dropScratch);

const has = (program: string) => Bun.which(program) !== null;
const own = platforms.find(({ os, cpu, libc }) => os === process.platform && cpu === process.arch && libc !== "musl") as Platform;

/** A program that prints its arguments, waits for a signal after making a file, copies its input, or is killed. */
const STAND_IN = `#!/bin/sh
case "$1" in
  wait) trap 'echo terminated; exit 7' TERM; touch "$2"; while :; do sleep 0.05; done ;;
  read) cat; exit 3 ;;
  killed) kill -KILL $$ ;;
  *) echo "stand-in $*" ;;
esac
`;

describe.if(has("npm") && process.platform === "linux")("the npm packages", () => {
  let installed = "";
  let packed: string[] = [];

  beforeAll(async () => {
    const directory = aDirectory();
    const program = join(directory, "program");
    writeFileSync(program, STAND_IN);
    const packages = join(directory, "packages");
    packed = await packProgram(new Map(platforms.map((platform) => [platform, program])), packages);
    installed = aDirectory();
    writeFileSync(join(installed, "package.json"), "{}");
    const wanted = [packed.at(-1) ?? "", ...packed.filter((path) => path.includes(`-${own.name}-${version}`))];
    const cache = join(directory, "cache");
    await runProgram(["npm", "install", "--offline", "--no-audit", "--no-fund", "--cache", cache, ...wanted], installed);
  });

  const launcher = () => join(installed, "node_modules/.bin/fundfeed");
  const start = (args: string[], stdin?: string, path = launcher()) => {
    const child = Bun.spawn([path, ...args], { stdio: [stdin === undefined ? "ignore" : new TextEncoder().encode(stdin), "pipe", "pipe"] });
    return { child, ended: Promise.all([child.exited, child.stdout.text(), child.stderr.text()]) };
  };

  test("are one for each platform and a launcher of a few kilobytes", () => {
    expect(packed).toHaveLength(platforms.length + 1);
    expect(Bun.file(packed.at(-1) ?? "").size).toBeLessThan(10_000);
    for (const { name } of platforms) expect(packed.filter((path) => path.includes(`/fundfeed-${name}-${version}`))).toHaveLength(1);
  });

  test("install the program of this platform only, which gets arguments and input, and whose exit code is returned", async () => {
    expect(readdirSync(join(installed, "node_modules/@fundfeed"))).toEqual([own.name]);
    expect(await start(["find", "a b", "--json"]).ended).toEqual([0, "stand-in find a b --json\n", ""]);
    expect(await start(["read"], "through\n").ended).toEqual([3, "through\n", ""]);
  });

  test("pass SIGTERM on, and end by the signal that ended the program", async () => {
    const ready = join(aDirectory(), "ready");
    const { child, ended } = start(["wait", ready]);
    await waitFor("the program to be ready", () => existsSync(ready));
    child.kill("SIGTERM");
    expect(await ended).toEqual([7, "terminated\n", ""]);
    const killed = start(["killed"]);
    await killed.ended;
    expect(killed.child.signalCode).toBe("SIGKILL");
  });

  test("say in one sentence what is missing", async () => {
    const copy = join(aDirectory(), "node_modules");
    cpSync(join(installed, "node_modules"), copy, { recursive: true });
    rmSync(join(copy, "@fundfeed"), { recursive: true });
    const path = join(copy, "fundfeed/launcher.cjs");
    const missing = `fundfeed: the package @fundfeed/${own.name} is missing: install fundfeed again, without --omit=optional\n`;
    expect(await start([], undefined, path).ended).toEqual([1, "", missing]);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace("process.arch", '"riscv64"'));
    const known = platforms.map(({ name }) => name).join(", ");
    expect(await start([], undefined, path).ended).toEqual([1, "", `fundfeed: there is no program for linux-riscv64, only for ${known}\n`]);
  });
});

/** What systemd says about a unit. It may also speak of others, which this one needs. */
async function faultsOf(path: string): Promise<string[]> {
  const child = Bun.spawn(["systemd-analyze", "verify", "--man=no", path], { stdio: ["ignore", "ignore", "pipe"] });
  return (await child.stderr.text()).split("\n").filter((line) => line.includes("fundfeed"));
}

describe.if(has("curl"))("install.sh", () => {
  const script = join(import.meta.dir, "../release/install.sh");
  const name = `fundfeed-${own.name}`;

  /** A server of a release, and a directory to install into. */
  function aRelease(program: string, sums: string) {
    const files: Record<string, string> = { [name]: program, SHA256SUMS: sums };
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        const file = files[new URL(url).pathname.replace("/latest/download/", "").replace("/download/v1.2.3/", "")];
        return file === undefined ? new Response("none", { status: 404 }) : new Response(file);
      },
    });
    const to = join(aDirectory(), "bin");
    const install = async (...args: string[]) => {
      const child = Bun.spawn(["sh", script, "--releases", `http://127.0.0.1:${server.port}`, "--to", to, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      return { code: await child.exited, out: await child.stdout.text(), err: await child.stderr.text() };
    };
    return { to, install, stop: () => server.stop(true) };
  }

  const sum = (text: string) => Bun.CryptoHasher.hash("sha256", text, "hex");

  test("installs the program, again too", async () => {
    const { to, install, stop } = aRelease(STAND_IN, `${sum("x")}  other\n${sum(STAND_IN)}  ${name}\n`);
    for (const args of [[], ["--version", "1.2.3"], ["--version", "v1.2.3"]]) {
      const { code, out, err } = await install(...args);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toContain("stand-in version\n");
    }
    expect(readdirSync(to)).toEqual(["fundfeed"]);
    expect((await install("--remove")).out).toBe(`Removed ${to}/fundfeed. The data stay where they are.\n`);
    expect(readdirSync(to)).toEqual([]);
    await stop();
  });

  test.if(has("systemd-analyze"))("makes a unit in which systemd finds no fault", async () => {
    const [, line = ""] = /^ {2}(sed .*) > \/etc\/systemd\/system\/fundfeed\.service$/m.exec(readFileSync(script, "utf8")) ?? [];
    const directory = aDirectory();
    cpSync(join(import.meta.dir, "../deploy/fundfeed.service"), join(directory, "fundfeed.service"));
    writeFileSync(join(directory, "fundfeed"), STAND_IN, { mode: 0o755 });
    const unit = await runProgram(["env", `work=${directory}`, `directory=${directory}`, "sh", "-c", line]);
    expect(unit).toContain(`\nExecStart=${directory}/fundfeed up\n`);
    expect(unit).toContain("\nDynamicUser=yes\n");
    writeFileSync(join(directory, "fundfeed.service"), unit);
    expect(await faultsOf(join(directory, "fundfeed.service"))).toEqual([]);
  });

  test.each([
    ["another sum", `${sum("x")}  ${name}\n`, "nothing was installed"],
    ["no sum", `${sum(STAND_IN)}  ${name}-musl\n`, `SHA256SUMS does not name ${name}: nothing was installed`],
  ])("refuses %s", async (_, sums, reason) => {
    const { to, install, stop } = aRelease(STAND_IN, sums);
    const { code, err } = await install();
    expect(code).toBe(1);
    expect(err).toContain(reason);
    expect(existsSync(to)).toBe(false);
    await stop();
  });

  test("follows no redirect from https to http", async () => {
    const { to, stop } = aRelease(STAND_IN, `${sum(STAND_IN)}  ${name}\n`);
    const plain = { asked: 0 };
    const http = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => {
        plain.asked++;
        return new Response(url.endsWith("SHA256SUMS") ? `${sum(STAND_IN)}  ${name}\n` : STAND_IN);
      },
    });
    const directory = aDirectory();
    selfSigned(directory, "server");
    const [crt, key] = ["crt", "key"].map((kind) => join(directory, `server.${kind}`)) as [string, string];
    const https = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert: readFileSync(crt), key: readFileSync(key) },
      fetch: ({ url }) => Response.redirect(`http://127.0.0.1:${http.port}${new URL(url).pathname}`),
    });
    const child = Bun.spawn(["sh", script, "--releases", `https://127.0.0.1:${https.port}`, "--to", to], {
      env: { ...process.env, CURL_CA_BUNDLE: crt },
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect([await child.exited, plain.asked, existsSync(to)]).toEqual([1, 0, false]);
    expect(await child.stderr.text()).toContain("/latest/download/SHA256SUMS cannot be downloaded");
    await Promise.all([stop(), http.stop(true), https.stop(true)]);
  });

  test("says what cannot be downloaded, and what it needs", async () => {
    const { install, stop } = aRelease(STAND_IN, "");
    expect((await install("--version", "9.9.9")).err).toContain("/download/v9.9.9/SHA256SUMS cannot be downloaded");
    expect((await install("--prefix", "x")).err).toBe("install.sh: unknown option --prefix\n");
    await stop();
    const child = Bun.spawn(["sh", script], { stdio: ["ignore", "pipe", "pipe"] });
    expect(await child.stderr.text()).toBe("install.sh: say where the releases are: --releases https://…\n");
  });
});

describe("for MCP clients", () => {
  test.each(platforms)("the bundle of $name has the program, executable, and a valid manifest that starts it", async (platform) => {
    const directory = aDirectory();
    const program = join(directory, "program");
    writeFileSync(program, STAND_IN);
    const path = await packBundle(platform, program, directory);
    const unpacked = join(directory, "unpacked");
    expect(await unpackExtension({ mcpbPath: path, outputDir: unpacked, silent: true })).toBe(true);
    const manifest = JSON.parse(readFileSync(join(unpacked, "manifest.json"), "utf8"));
    expect(manifest.tools.map(({ name }: { name: string }) => name)).toContain("what_changed");
    expect(manifest.compatibility).toEqual({ platforms: [platform.os] });
    const { command, args } = manifest.server.mcp_config;
    const filled = [command, ...args].map((each: string) => each.replace(`\${__dirname}`, unpacked).replace(`\${user_config.data}`, "/d"));
    const child = Bun.spawn(filled, { stdio: ["ignore", "pipe", "pipe"] });
    expect([await child.exited, await child.stdout.text()]).toEqual([0, "stand-in mcp --data /d\n"]);
  });

  test("server.json names each bundle with its sum, and a server that a team runs", () => {
    const url = "https://github.com/Someone/fundfeed/releases/download/v1";
    const sums = new Map(platforms.map((platform) => [bundleName(platform), `sum-of-${platform.name}`]));
    const server = JSON.parse(serverJson({ url, sums }, platforms));
    expect(server.name).toBe("io.github.Someone/fundfeed");
    expect(server.description.length).toBeLessThanOrEqual(100); // The registry's limit.
    expect(server.packages.map(({ identifier, fileSha256 }: Record<string, string>) => [identifier, fileSha256])).toEqual(
      platforms.map(({ name }) => [`${url}/fundfeed-${name}.mcpb`, `sum-of-${name}`]),
    );
    expect(server.remotes).toMatchObject([{ type: "streamable-http", url: "https://{host}/mcp", headers: [{ name: "Authorization" }] }]);
    expect(JSON.parse(serverJson({ url: "https://example.org/fundfeed/releases/download/v1", sums }, [])).name).toBe(
      "org.example/fundfeed",
    );
  });
});

test("the formulas name the file and the sum of each platform", () => {
  const names = platforms.map((platform) => `fundfeed-${platform.name}${programName(platform).slice("fundfeed".length)}`);
  const released = {
    url: "https://example.org/fundfeed/releases/download/v1",
    sums: new Map(names.map((name) => [name, `sum-of-${name}`])),
  };
  const formula = homebrewFormula(released);
  for (const name of ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"])
    expect(formula).toContain(`url "${released.url}/fundfeed-${name}"\n      sha256 "sum-of-fundfeed-${name}"`);
  expect(formula).not.toContain("undefined");
  expect(JSON.parse(scoopManifest(released)).architecture["64bit"].hash).toBe("sum-of-fundfeed-windows-x64.exe");
});

test.if(has("dpkg-deb"))("the Debian package has the program, its unit and its manual, all owned by root", async () => {
  const { packDebian } = await import("../release/deb.ts");
  const directory = aDirectory();
  const program = join(directory, "program");
  writeFileSync(program, STAND_IN);
  chmodSync(program, 0o755);
  const path = await packDebian(program, program, "amd64", directory);
  const time = Number(await runProgram(["git", "log", "-1", "--format=%ct"], import.meta.dir)) * 1000;
  const listed = (await runProgram(["env", "TZ=UTC", "dpkg-deb", "--contents", path])).split("\n");
  for (const [mode, file] of [
    ["-rwxr-xr-x", "usr/bin/fundfeed"],
    ["-rw-r--r--", "usr/lib/systemd/system/fundfeed.service"],
    ["-rw-r--r--", "usr/share/man/man1/fundfeed.1.gz"],
  ])
    expect(listed.some((line) => line.startsWith(`${mode} root/root`) && line.endsWith(`./${file}`))).toBe(true);
  const times = listed.flatMap((line) => /\d{4}-\d\d-\d\d \d\d:\d\d/.exec(line) ?? []);
  // The same commit makes the same package.
  expect([...new Set(times)]).toEqual([new Date(time).toISOString().slice(0, 16).replace("T", " ")]);
  mkdirSync(join(directory, "tree"));
  await runProgram(["dpkg-deb", "--extract", path, join(directory, "tree")]);
  const unit = readFileSync(join(directory, "tree/usr/lib/systemd/system/fundfeed.service"), "utf8");
  expect(unit).toContain("\nExecStart=/usr/bin/fundfeed ");
  expect(unit).toContain("\nDynamicUser=yes\n");
  expect(unit).not.toContain("\nUser=");
});
