/** Runs every command line in the documents. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import manifest from "../../package.json";
import { upstreams } from "../../src/pull/upstreams.ts";
import { program as compiled, QUICK } from "../support/binary.ts";
import { type CommandResult, fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { realFile } from "../support/real-data.ts";
import { zipArchive } from "../support/zip-archive.ts";
import { BASE, checkNames, type Document, documents, GUIDE, urlVariable } from "./documents.ts";

const root = join(import.meta.dir, "../..");
const STARTED_WITHIN_MS = 300_000;

/** The content of the files that the examples import. */
const exampleFiles: Readonly<Record<string, () => Uint8Array>> = {
  "GrantsDBExtract20250821v2.zip": extract,
  "GrantsDBExtract20260726v2.zip": extract,
  "GrantsDBExtract20261121v2.zip": extract,
  "ContractOpportunitiesFullCSV.csv": notices,
};

type Sandbox = { directory: string; base: string; demoData: string; env: Record<string, string> };
type Line = { where: string; text: string };
type Check = (line: string, sandbox: Sandbox) => void | Promise<void>;

/** How to check a line: the first matching pattern counts. A new kind of line needs a new entry. */
const checks: readonly (readonly [pattern: RegExp, check: Check])[] = [
  [/^fundfeed (\S+ )+(…|.*\[--)/, checkNames], // A synopsis.
  [/^(npx --yes bun@1\.4\.5|bun) run /, checkScript],
  [/^bun test .*\/treasury\.test\.ts$/, () => undefined], // What the reader of add-a-source.md makes.
  [/^bun src\/main\.ts .*--data \/tmp\/try$/, (line) => checkNames(line.replace("bun src/main.ts", "fundfeed"))],
  [/^bun test /, (line) => expect(line.split(" ").filter((word) => word.includes("/") && !existsSync(join(root, word)))).toEqual([])],
  [/^bun src\/main\.ts …$/, () => expect(existsSync(join(root, "src/main.ts"))).toBe(true)],
  [
    /^npx --yes bun@1\.4\.5 src\/main\.ts mirror .*--every /,
    (line, sandbox) => startAndStop(line.replace("npx --yes bun@1.4.5 src/main.ts", "fundfeed"), sandbox),
  ],
  [/^export FUNDFEED_KEY=ffk_live_…$|^export FUNDFEED_(SMTP_URL|MAIL_FROM|MEMBER_HOSTS)=\S+$/, () => undefined],
  [/^cd "\$\(mktemp -d\)" && bun add |^gzip .*node_modules/, () => undefined], // How a bundled file was downloaded, once.
  [/^(sudo|docker|systemctl|journalctl) |\| sudo /, checkNames], // Would change the machine that runs the tests.
  [/^alias fundfeed=|^read -rs PGPASSWORD /, () => undefined],
  [/^claude mcp add fundfeed -- fundfeed mcp /, checkNames], // A program of others.
  [/^claude mcp add --transport http /, () => undefined], // Of `up`: tests/mcp/http.thorough.test.ts asks the same.
  [/^bun release\/probe\.ts /, () => undefined], // tests/pull/probe.thorough.test.ts does it, without the real upstreams.
  [/^npm install @fundfeed\/client$/, () => undefined], // tests/clients/package.thorough.test.ts does it.
  [/^npx @modelcontextprotocol\/inspector /, () => undefined], // The same, and with options of its own.
  [/^fundfeed watch (add|set) /, run], // Their --every is that of a watch.
  [/^fundfeed watch run .*--every /, (line, sandbox) => startAndStop(line, sandbox, "stderr")],
  [/^fundfeed watch run/, runQuietly],
  [/^([A-Z_]+=\S+ )*fundfeed (up|serve|demo|browse)\b|^([A-Z_]+=\S+ )*fundfeed .*--every /, startAndStop],
  [/^fundfeed changes .*(--cursor-file|-o) /, runQuietly],
  [/^fundfeed export .*> \S+$/, runQuietly],
  [/^test -e \S+ \|\| fundfeed /, (line, sandbox) => runQuietly(line.replace(/^test .*\|\| /, ""), sandbox)],
  [/^\.\/process /, () => undefined], // A program of the reader.
  [/^fundfeed (show|similar) /, (line, sandbox) => run(`${line} --data ${sandbox.demoData}`, sandbox)], // Shows a record of the demo's sample.
  [/^curl /, run],
  [/^([A-Z_]+=\S+ )*fundfeed /, run],
];

/** tests/docs/tutorials.thorough.test.ts follows these. */
const tutorials = ["docs/start/first-alert.md", "docs/start/agent.md", "docs/start/python.md"];

describe("the command lines of", () => {
  let demo: Demo;
  let upstream: ReturnType<typeof startFakeUpstreams>;

  beforeAll(async () => {
    upstream = startFakeUpstreams();
    demo = await startDemo();
  }, 300_000);

  afterAll(async () => {
    await demo.stop();
    await upstream.stop(true);
    dropScratch();
  });

  const withCommands = documents
    .filter(({ path }) => !tutorials.includes(path))
    .map(({ path, text }) => ({ path, lines: linesOf({ path, text }) }))
    .filter(({ lines }) => lines.length > 0);

  test.each(withCommands.map(({ path, lines }) => [path, lines] as const))(
    "%s",
    async (_, lines) => {
      const sandbox = createSandbox(demo, `${upstream.url}`);
      for (const line of lines) await checkLine(line, sandbox);
    },
    300_000,
  );
});

async function checkLine({ where, text }: Line, sandbox: Sandbox): Promise<void> {
  const [, check] = checks.find(([pattern]) => pattern.test(text)) ?? [];
  if (check === undefined)
    throw new Error(`${where}: no way to check "${text}"; add one to \`checks\` in tests/docs/command-lines.thorough.test.ts`);
  try {
    await check(text, sandbox);
  } catch (error) {
    throw new Error(`${where}: "${text}" failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}

/** Returns the lines of all `sh` blocks without comments. Lines continued with `\` are joined. */
function linesOf({ path, text }: Document): Line[] {
  return [...text.matchAll(/^```sh\b.*\n([\s\S]*?)^```$/gm)].flatMap(({ 1: block = "", index }) => {
    const where = path === GUIDE ? path : `${path}:${text.slice(0, index).split("\n").length}`;
    return block
      .replace(/\\\n\s*/g, "")
      .split("\n")
      .map((line) => ({ where, text: line.replace(/(^|\s+)# .*$/, "").trim() }))
      .filter((line) => line.text !== "");
  });
}

/** Creates a directory with the examples' files and a data directory, and an environment whose `fundfeed` is the compiled program. */
function createSandbox({ base, demoData, key, id }: Omit<Demo, "stop">, upstream: string): Sandbox {
  const directory = aDirectory();
  for (const [name, content] of Object.entries(exampleFiles)) writeFileSync(join(directory, name), content());
  for (const open of [openCatalog, openState]) open(join(directory, "fundfeed-data"), Date.now()).sqlite.close();
  mkdirSync(join(directory, "var/www"), { recursive: true });
  const bin = join(directory, "bin");
  mkdirSync(bin);
  symlinkSync(compiled, join(bin, "fundfeed"));
  const addresses = upstreams.map(({ name }) => [urlVariable(name), upstream]);
  return {
    directory,
    base,
    demoData,
    env: {
      ...Object.fromEntries(addresses),
      ...QUICK,
      PATH: `${bin}:${process.env.PATH}`,
      FUNDFEED_KEY: key,
      FUNDFEED_PORT: "0",
      FUNDFEED_BROWSE_PORT: "0",
      FUNDFEED_HEALTH_URL: base,
      ID: id,
    },
  };
}

/** Returns the line with the addresses, keys and directories of the sandbox. */
function inSandbox(line: string, { directory, base, env }: Sandbox): string {
  return line
    .replaceAll(BASE, base)
    .replace("ffk_live_…", env.FUNDFEED_KEY ?? "")
    .replace("key_…", () => activeKeyIn(directory))
    .replace(/^curl -s/, "curl -sf")
    .replace(/--port \d+/, "--port 0")
    .replace(/\bfundfeed pull .*/, (pull) => `${pull} --allow-http`) // The fake upstreams have no certificate.
    .replace(/(?<=\s)\/(?=(var|srv|mnt|backups?)\/)/g, `${directory}/`);
}

function start(line: string, sandbox: Sandbox) {
  const { directory, env } = sandbox;
  return Bun.spawn(["sh", "-c", `exec env ${inSandbox(line, sandbox)}`], { cwd: directory, env, stdout: "pipe", stderr: "pipe" });
}

/** Runs a line that only calls the program in this process, which takes a third of the time. The shell splits it into words. */
async function runHere(line: string, sandbox: Sandbox): Promise<CommandResult> {
  const { directory, env } = sandbox;
  const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${inSandbox(line, sandbox)}`], { cwd: directory, env });
  const words = stdout.toString().split("\0").slice(0, -1);
  const at = words.indexOf("fundfeed");
  const given = words.slice(0, at).map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]);
  const before = process.cwd();
  process.chdir(directory);
  try {
    return await fundfeed(words.slice(at + 1), { ...env, ...Object.fromEntries(given) });
  } finally {
    process.chdir(before);
  }
}

async function runInShell(line: string, sandbox: Sandbox): Promise<CommandResult> {
  const child = start(line, sandbox);
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

/** A command that prints nothing if there is nothing, or writes into a file. */
async function runQuietly(line: string, sandbox: Sandbox): Promise<void> {
  await run(line, sandbox, true);
}

async function run(line: string, sandbox: Sandbox, isQuiet = false): Promise<void> {
  checkNames(line);
  const { code, out, err } = await (/^([A-Z_]+=\S+ )*fundfeed [^|;&<>]*$/.test(line) ? runHere : runInShell)(line, sandbox);
  if (code !== 0 || (out === "" && !isQuiet)) throw new Error(`it exited with ${code} and printed: ${out}${err}`);
}

async function startAndStop(line: string, sandbox: Sandbox, printsOn: "stdout" | "stderr" = "stdout"): Promise<void> {
  checkNames(line);
  const child = start(line, sandbox);
  const [printed, others] = printsOn === "stdout" ? [child.stdout, child.stderr] : [child.stderr, child.stdout];
  const errors = others.text();
  const timer = setTimeout(() => child.kill(), STARTED_WITHIN_MS);
  const { value } = await printed.getReader().read();
  clearTimeout(timer);
  child.kill("SIGTERM");
  const code = await child.exited;
  if (value === undefined || code !== 0) throw new Error(`it exited with ${code} and printed: ${await errors}`);
}

function checkScript(line: string): void {
  const [, name = ""] = / run (\S+)/.exec(line) ?? [];
  expect(Object.keys(manifest.scripts)).toContain(name);
}

function activeKeyIn(directory: string): string {
  const { stdout } = Bun.spawnSync([compiled, "keys", "list", "--json"], { cwd: directory });
  const keys: { id: string; revoked_at: string | null }[] = JSON.parse(stdout.toString());
  return keys.find(({ revoked_at }) => revoked_at === null)?.id ?? "none";
}

type Demo = Awaited<ReturnType<typeof startDemo>>;

/** Serves what `demo` serves. That `demo` does is tested in tests/program.test.ts. */
async function startDemo() {
  const demoData = await aDirectoryOfTheDemo();
  const { out } = await fundfeed(["keys", "create", "--account", "demo", "--plan", "paid", "--data", demoData]);
  const key = out.trim();
  const child = Bun.spawn([compiled, "serve", "--port", "0", "--data", demoData], { stdout: "pipe", stderr: "ignore" });
  const { value } = await child.stdout.getReader().read();
  const [, base = ""] = /listening on (\S+)/.exec(Buffer.from(value ?? []).toString()) ?? [];
  const response = await fetch(`${base}/opportunities?limit=1`, { headers: { Authorization: `Bearer ${key}` } });
  const { data } = (await response.json()) as { data: { id: string }[] };
  const stop = () => {
    child.kill("SIGTERM");
    return child.exited;
  };
  return { base, demoData, key, id: data[0]?.id ?? "", stop };
}

/** Starts a fake server for all upstreams that publishes the same files on every day. */
function startFakeUpstreams() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      if (/GrantsDBExtract\d+v2\.zip/.test(url)) return new Response(extract());
      if (/\.csv/.test(url)) return new Response(notices());
      return new Response("", { status: 404 });
    },
  });
}

function extract(): Buffer<ArrayBuffer> {
  const xml = realFile("grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz");
  return Buffer.from(zipArchive("GrantsDBExtract20260803v2.xml", xml));
}

function notices(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(realFile("sam-gov/derived/ContractOpportunitiesFullCSV-20260330.reconstructed.csv.gz"));
}
