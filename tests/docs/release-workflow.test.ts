/** What the release workflow publishes under which names, run with stand-ins for npm, docker and gh that note how they are called. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { readText } from "../support/project-files.ts";

afterAll(dropScratch);

type Step = { name?: string; run?: string; env?: Record<string, string> };
type Job = { environment?: string; steps: Step[] };
const workflow = Bun.YAML.parse(readText(".github/workflows/release.yml")) as { jobs: Record<string, Job> };
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps.map((step) => ({ job, step })));

/** How the programs are called when a tag is published. */
async function callsFor(tag: string): Promise<string[]> {
  const directory = aDirectory();
  const bin = join(directory, "bin");
  mkdirSync(bin);
  mkdirSync(join(directory, "dist/release/npm"), { recursive: true });
  for (const name of ["fundfeed-linux-x64-1.tgz", "fundfeed-1.tgz"]) writeFileSync(join(directory, "dist/release/npm", name), "");
  const calls = join(directory, "calls");
  for (const name of ["npm", "docker", "gh", "git"])
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} "$@" >> ${calls}\n`, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: directory,
    GITHUB_REF_NAME: tag,
    IMAGE: "ghcr.io/a/b",
    TOKEN: "t",
    REGISTRY_USER: "u",
  };
  for (const { run } of workflow.jobs.publish?.steps ?? []) {
    if (run === undefined) continue;
    expect(await Bun.spawn(["bash", "-e", "-c", run], { cwd: directory, env, stdio: ["ignore", "ignore", "inherit"] }).exited).toBe(0);
  }
  return readFileSync(calls, "utf8").trim().split("\n");
}

describe("a tag", () => {
  test("of a version becomes the newest everywhere", async () => {
    const calls = (await callsFor("v1.1.0")).join("\n");
    expect(calls.match(/npm publish .*--tag latest/g)).toHaveLength(2);
    expect(calls).toContain("--tag ghcr.io/a/b:1.1.0 --tag ghcr.io/a/b:1.1 --tag ghcr.io/a/b:latest");
    expect(calls).toMatch(/gh release create v1\.1\.0 .*--latest /);
  });

  test("of a pre-release becomes the newest nowhere", async () => {
    const calls = await callsFor("v1.1.0-rc.1");
    expect(calls.filter((call) => /latest(?!=false)/.test(call))).toEqual([]);
    expect(calls.join("\n").match(/npm publish .*--tag next/g)).toHaveLength(2);
    expect(calls.join("\n").match(/--tag ghcr\S+/g)).toEqual(["--tag ghcr.io/a/b:1.1.0-rc.1"]);
    expect(calls.join("\n")).toMatch(/gh release create v1\.1\.0-rc\.1 .*--prerelease --latest=false /);
  });
});

test("secrets are read only in the environment that guards them", () => {
  const readers = steps.filter(({ step }) => JSON.stringify(step).includes("secrets."));
  expect(readers.length).toBeGreaterThan(0);
  for (const { job } of readers) expect(job.environment).toBe("release");
});

test("the token of the repository goes to no registry but GitHub's", () => {
  const logins = steps.filter(({ step }) => step.run?.includes("docker login"));
  expect(logins).toHaveLength(1);
  for (const { step } of logins)
    expect(step.env?.TOKEN).toMatch(/^\$\{\{ startsWith\(env\.IMAGE, 'ghcr\.io\/'\) && github\.token \|\| secrets\.REGISTRY_TOKEN \}\}$/);
});

test.if(Bun.which("npm") !== null)("npm pack in the client's folder says how it is packed", async () => {
  const child = Bun.spawn(["npm", "pack", "--dry-run"], {
    cwd: join(import.meta.dir, "../../clients/typescript"),
    stdio: ["ignore", "ignore", "pipe"],
  });
  expect(await child.exited).not.toBe(0);
  expect(await child.stderr.text()).toContain("Pack the client with: bun ../../release/npm.ts");
});
