/**
 * The npm packages: `fundfeed` is a launcher of a few kilobytes, and each platform has a package with the program as an optional dependency of
 * it, of which npm installs the one that fits. The TypeScript client is a package of its own.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import client from "../clients/typescript/package.json" with { type: "json" };
import { description, license, version } from "../package.json" with { type: "json" };
import { type Platform, programName } from "./platforms.ts";
import { runProgram } from "./run-program.ts";

const root = join(import.meta.dir, "..");
const SCOPE = "@fundfeed";

/** Packs the launcher with these platforms into a directory, and returns the paths of all packages, the launcher's last. */
export async function packProgram(programs: ReadonlyMap<Platform, string>, directory: string): Promise<string[]> {
  mkdirSync(directory, { recursive: true });
  const packed: string[] = [];
  for (const [platform, program] of programs) {
    const { name, os, cpu, libc } = platform;
    const manifest = {
      ...common(`${SCOPE}/${name}`, `The program fundfeed for ${name}`),
      os: [os],
      cpu: [cpu],
      ...(libc === undefined ? {} : { libc: [libc] }),
    };
    packed.push(await pack(manifest, new Map([[programName(platform), program]]), directory));
  }
  const optionalDependencies = Object.fromEntries([...programs.keys()].map(({ name }) => [`${SCOPE}/${name}`, version]));
  const manifest = {
    ...common("fundfeed", description),
    bin: { fundfeed: "launcher.cjs" },
    engines: { node: ">=18" },
    optionalDependencies,
  };
  const files = new Map(["launcher.cjs"].map((name) => [name, join(import.meta.dir, name)]));
  packed.push(await pack(manifest, files.set("README.md", join(import.meta.dir, "npm-readme.md")), directory));
  return packed;
}

/** Packs the TypeScript client, compiled to JavaScript and declarations, into a directory. Returns the path of the archive. */
export async function packClient(directory: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const source = join(root, "clients/typescript");
  const compiled = mkdtempSync(join(tmpdir(), "fundfeed-client-"));
  try {
    await runProgram([process.execPath, "x", "tsc", "--project", source, "--outDir", compiled], root);
    const files = new Map(readdirSync(compiled).map((name) => [name, join(compiled, name)]));
    const { private: _, scripts: __, ...manifest } = client;
    return await pack({ ...manifest, version }, files.set("README.md", join(source, "README.md")), directory);
  } finally {
    rmSync(compiled, { recursive: true, force: true });
  }
}

function common(name: string, about: string) {
  return { name, version, description: about, license, preferUnplugged: true };
}

/** Packs the files of a package as `npm pack` does, with the license. Returns the path of the archive. */
async function pack(manifest: { name: string; version: string }, files: ReadonlyMap<string, string>, directory: string): Promise<string> {
  const package_ = mkdtempSync(join(tmpdir(), "fundfeed-package-"));
  try {
    for (const [name, path] of [...files, ["LICENSE", join(root, "LICENSE")] as const]) {
      copyFileSync(path, join(package_, name));
      chmodSync(join(package_, name), /\.(?:md|js|ts)$|^LICENSE$/.test(name) ? 0o644 : 0o755);
    }
    writeFileSync(join(package_, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
    const name = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
    await runProgram([process.execPath, "pm", "pack", "--quiet", "--destination", directory], package_);
    return join(directory, name);
  } finally {
    rmSync(package_, { recursive: true, force: true });
  }
}

if (import.meta.main) process.stdout.write(`${await packClient(resolve(process.argv[2] ?? "."))}\n`);
