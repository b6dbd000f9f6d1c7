/** The package's scripts, in a checkout where nothing has been installed yet. */
import { afterAll, expect, test } from "bun:test";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { aDirectory, dropScratch } from "./support/imports.ts";

afterAll(dropScratch);

const root = join(import.meta.dir, "..");

/** What `bun run build` and `bun run demo` need of a clone. */
function aClone(): string {
  const directory = aDirectory();
  for (const name of ["package.json", "bun.lock", "bunfig.toml", "tsconfig.json", "db", "src"])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  return directory;
}

/** A PATH with a shell and a Node, so that Bun adds nothing of its own, but without Bun. */
function aPathWithoutBun(): string {
  const directory = aDirectory();
  symlinkSync("/bin/sh", join(directory, "sh"));
  symlinkSync("/bin/sh", join(directory, "node"));
  return directory;
}

async function run(command: readonly string[], directory: string) {
  const env = { ...process.env, PATH: aPathWithoutBun() };
  const child = Bun.spawn([process.execPath, ...command], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: out + err };
}

const installed = await run(["install", "--frozen-lockfile", "--production"], aClone());
const reason = installed.code === 0 ? "" : " (skipped: neither the registry nor Bun's cache has the packages)";

test.skipIf(installed.code !== 0)(`\`bun run build\` needs nothing to be installed, nor bun on the PATH${reason}`, async () => {
  const clone = aClone();
  const { code, output } = await run(["run", "build"], clone);
  expect([code, output]).toEqual([0, expect.stringContaining("compile")]);
  const built = Bun.spawnSync([join(clone, "dist/fundfeed"), "version"]);
  expect(built.stdout.toString()).toStartWith(`fundfeed ${manifest.version}`);
});
