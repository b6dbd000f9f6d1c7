/** Package scripts in a fresh clone, before anything is installed. */
import { afterAll, expect, test } from "bun:test";
import { cpSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { aDirectory, dropScratch } from "./support/imports.ts";

afterAll(dropScratch);

const root = join(import.meta.dir, "..");

/**
 * Creates a clone with only the files that `bun run build` and `bun run demo` need. Its build makes no bytecode, which takes three quarters of
 * the time: the program of the other tests has it.
 */
function createClone(): string {
  const directory = aDirectory();
  const { build, ...scripts } = manifest.scripts;
  const withoutBytecode = { ...manifest, scripts: { ...scripts, build: build.replace(" --bytecode", "") } };
  writeFileSync(join(directory, "package.json"), JSON.stringify(withoutBytecode));
  for (const name of ["bun.lock", "bunfig.toml", "tsconfig.json", "SECURITY.md", "clients", "db", "docs", "src"])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  return directory;
}

/** Returns a PATH with a shell and Node but without Bun. If Node were missing, Bun would add a directory with itself. */
function pathWithoutBun(): string {
  const directory = aDirectory();
  symlinkSync("/bin/sh", join(directory, "sh"));
  symlinkSync("/bin/sh", join(directory, "node"));
  return directory;
}

async function run(command: readonly string[], directory: string) {
  const env = { ...process.env, PATH: pathWithoutBun() };
  const child = Bun.spawn([process.execPath, ...command], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: out + err };
}

const clone = createClone();
const { code, output } = await run(["run", "build"], clone);
const isInstalled = existsSync(join(clone, "node_modules/commander"));
const reason = isInstalled ? "" : " (skipped: the packages are neither in the registry nor in Bun's cache)";

test.skipIf(!isInstalled)(`\`bun run build\` works without installed packages and without bun on the PATH${reason}`, () => {
  expect([code, output]).toEqual([0, expect.stringContaining("compile")]);
  const built = Bun.spawnSync([join(clone, "dist/fundfeed"), "version"]);
  expect(built.stdout.toString()).toStartWith(`fundfeed ${manifest.version} (commit unknown, build own, Bun `); // That PATH has no git either.
});
