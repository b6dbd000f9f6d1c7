/**
 * Tries an artefact as its user would: `bun release/try.ts PROGRAM [ARGUMENT…]` runs the commands of a first hour in an empty directory, and
 * `bun release/try.ts --npm DIRECTORY` installs the packages of a directory without a network first. It needs the checkout for nothing but
 * the sample that it imports.
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { version } from "../package.json" with { type: "json" };
import { runProgram } from "./run-program.ts";

const SAMPLE = "grants-gov-20260803.xml.gz";

const directory = mkdtempSync(join(tmpdir(), "fundfeed-try-"));
try {
  copyFileSync(join(import.meta.dir, "../src/cli/demo-sample", SAMPLE), join(directory, SAMPLE));
  const [first = "", ...others] = process.argv.slice(2);
  if (first === "") throw new Error("Name a program, or --npm and a directory of packages");
  const command = first === "--npm" ? await installed(resolve(others[0] ?? "")) : [resolve(first), ...others];
  await firstHour(command);
  process.stdout.write(`${process.argv.slice(2).join(" ")} works\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Installs the packages with empty caches and without a network. Returns the command that starts the program. */
async function installed(packages: string): Promise<string[]> {
  const names = readdirSync(packages).filter((name) => name.endsWith(".tgz"));
  const isOfPlatform = (name: string) => /^fundfeed-\d/.test(name) || new RegExp(`^fundfeed-${platform()}-\\d`).test(name);
  const paths = names.filter(isOfPlatform).map((name) => join(packages, name));
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  await runProgram([npm, "install", "--offline", "--no-audit", "--no-fund", "--cache", join(directory, "cache"), ...paths], directory);
  return [process.platform === "win32" ? "node.exe" : "node", join(directory, "node_modules/fundfeed/launcher.cjs")];
}

function platform(): string {
  return `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
}

/** Throws at the first command that does not do what it should. */
async function firstHour(command: readonly string[]): Promise<void> {
  const run = (...args: string[]) => runProgram([...command, ...args], directory);
  const expectIn = async (text: string, ...args: string[]) => {
    const out = await run(...args);
    if (!out.includes(text)) throw new Error(`fundfeed ${args.join(" ")} printed ${JSON.stringify(out.slice(0, 500))}, without ${text}`);
  };
  await expectIn(`fundfeed ${version} `, "version");
  await expectIn("223 added", "import", "grants-gov", SAMPLE);
  await expectIn("0 added, 0 changed, 223 unchanged", "import", "grants-gov", SAMPLE);
  await expectIn("No problems found", "check");
  await expectIn('"GRANTS_GOV"', "find", "research", "--json");
  await expectIn("Backed up to copy", "backup", "copy");
  await expectIn("Restored fundfeed-data from copy", "restore", "copy");
  await expectIn("223 records", "export", "--format", "sqlite", "opportunities.sqlite");
  const key = (await run("keys", "create", "--account", "Trial")).trim();
  const server = Bun.spawn([...command, "serve", "--port", "0", "--json"], { cwd: directory, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const { value } = await server.stdout.getReader().read();
    const { base_url } = JSON.parse(new TextDecoder().decode(value).split("\n")[0] ?? "") as { base_url: string };
    await oneOfTen(() => run("health", "--url", base_url)); // It waits 2 s for an answer, which an emulator may need longer for.
    const response = await fetch(`${base_url}/opportunities?limit=1`, { headers: { Authorization: `Bearer ${key}` } });
    if (response.status !== 200) throw new Error(`The server answered ${response.status}`);
  } finally {
    server.kill("SIGTERM");
    const code = await server.exited;
    if (code !== 0 && process.platform !== "win32") process.stderr.write(`The server ended with ${code}\n`);
  }
}

async function oneOfTen(attempt: () => Promise<unknown>): Promise<void> {
  for (let left = 9; ; left--) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
