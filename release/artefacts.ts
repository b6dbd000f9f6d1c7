/**
 * Makes everything that a release consists of in dist/release: `bun run artefacts [--releases URL] [--only PLATFORM,…]`. The URL is that of
 * the page under which releases are published; install.sh and the formulas name it.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json" with { type: "json" };
import { packDebian } from "./deb.ts";
import { homebrewFormula, scoopManifest } from "./formulas.ts";
import { packBundle, serverJson } from "./mcp.ts";
import { packClient, packProgram } from "./npm.ts";
import { binaryName, type Platform, platforms } from "./platforms.ts";
import { runProgram } from "./run-program.ts";
import { partsOfProgram, sbomOf } from "./sbom.ts";

const root = join(import.meta.dir, "..");
const directory = join(root, "dist/release");

/** Of Debian's libc6-arm64-cross, libgcc-s1-arm64-cross and libstdc++6-arm64-cross. */
const ARM_LIBRARIES = "/usr/aarch64-linux-gnu";

const { values } = parseArgs({ options: { releases: { type: "string" }, only: { type: "string" } } });
const names = values.only?.split(",");
const unknown = names?.find((name) => !platforms.some((platform) => platform.name === name));
if (unknown !== undefined) throw new Error(`There is no platform ${unknown}, only ${platforms.map(({ name }) => name).join(", ")}`);
await makeRelease(
  platforms.filter(({ name }) => names?.includes(name) ?? true),
  values.releases ?? "https://example.org/fundfeed/releases",
);

async function makeRelease(chosen: readonly Platform[], releases: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const programs = new Map<Platform, string>();
  for (const platform of chosen) {
    const path = join(directory, binaryName(platform));
    say(`Building ${basename(path)}`);
    const build = ["--define", `BUILD_PLATFORM="${platform.name}"`, `--target=${platform.target}`, "--outfile", path];
    await runProgram([process.execPath, "run", "build:portable", ...build], root);
    programs.set(platform, path);
  }
  await runProgram([process.execPath, "install", "--frozen-lockfile", "--no-summary"], root); // A build leaves the packages of the program only.
  const runnable = join(root, "dist/fundfeed");
  await runProgram([process.execPath, "run", "build:portable", "--outfile", runnable], root);
  await runProgram([process.execPath, "install", "--frozen-lockfile", "--no-summary"], root);

  say("Packing for npm");
  await packProgram(programs, join(directory, "npm"));
  await packClient(join(directory, "npm"));
  for (const [{ deb }, program] of programs) {
    if (deb === undefined) continue;
    say(`Packing for Debian: ${deb}`);
    await packDebian(program, runnable, deb, directory);
  }
  const bundled = chosen.filter(({ libc }) => libc !== "musl"); // Desktop systems have none.
  for (const platform of bundled) {
    say(`Packing for MCP clients: ${platform.name}`);
    await packBundle(platform, programs.get(platform) ?? "", directory);
  }
  writeFileSync(join(directory, "fundfeed.cdx.json"), sbomOf(await partsOfProgram()));
  writeFileSync(join(directory, "fundfeed.service"), readFileSync(join(root, "deploy/fundfeed.service")));
  writeFileSync(join(directory, "install.sh"), readFileSync(join(import.meta.dir, "install.sh"), "utf8").replace("@RELEASES@", releases));
  const released = { url: `${releases}/download/v${version}`, sums: await sumsOf(directory) };
  writeFileSync(join(directory, "server.json"), serverJson(released, bundled));
  if (chosen.length === platforms.length) {
    writeFileSync(join(directory, "fundfeed.rb"), homebrewFormula(released));
    writeFileSync(join(directory, "fundfeed.json"), scoopManifest(released));
  }
  const trial = [process.execPath, join(import.meta.dir, "try.ts")];
  const own = chosen.find(({ os, cpu, libc }) => os === process.platform && cpu === process.arch && libc !== "musl");
  if (own !== undefined) {
    say("Trying the program and the packages of this platform");
    await runProgram([...trial, join(directory, binaryName(own))], root);
    await runProgram([...trial, "--npm", join(directory, "npm")], root);
  }
  const arm = chosen.find(({ name }) => name === "linux-arm64");
  const emulator = Bun.which("qemu-aarch64-static");
  if (arm !== undefined && arm !== own && emulator !== null && existsSync(ARM_LIBRARIES)) {
    say("Trying the program for arm64 in an emulator");
    await runProgram([...trial, emulator, "-L", ARM_LIBRARIES, join(directory, binaryName(arm))], root);
  }
  for (const each of [directory, join(directory, "npm")]) {
    const sums = await sumsOf(each);
    writeFileSync(join(each, "SHA256SUMS"), [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(""));
    say(`${sums.size} files and SHA256SUMS are in ${relative(root, each)}`);
  }
}

/** SHA-256 by name, of the files directly in a directory. */
async function sumsOf(directory: string): Promise<Map<string, string>> {
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
  const sums = new Map<string, string>();
  for (const { name } of files.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    const hash = createHash("sha256");
    for await (const piece of createReadStream(join(directory, name))) hash.update(piece);
    sums.set(name, hash.digest("hex"));
  }
  return sums;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
