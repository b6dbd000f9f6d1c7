/** Which database a command works on, and what is only one engine's business. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { aHome, dropHomes } from "../support/binary.ts";
import { type CommandResult, fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);
afterAll(dropHomes);
afterEach(() => {
  delete process.env.FUNDFEED_DATABASE;
  delete process.env.FUNDFEED_DATA;
  delete process.env.TMPDIR;
  if (TMPDIR !== undefined) process.env.TMPDIR = TMPDIR;
});

const { TMPDIR } = process.env;

/** Nobody answers there. */
const NOWHERE = "postgres://me:secret@127.0.0.1:1/fundfeed?application_name=secret";
const CANNOT_OPEN = "Cannot open postgres://127.0.0.1:1/fundfeed: no server answers there\n";
const ADDRESS = "must be an address such as postgres://fundfeed:password@db.example.org:5432/fundfeed, percent-encoded";

function expectUsage({ code, out, err }: CommandResult, sentence: string): void {
  expect({ code, out, err }).toEqual({ code: 2, out: "", err: `error: ${sentence}\n(see --help)\n` });
}

describe("--database", () => {
  test("is used by commands, also from the environment, and is never printed with its password", async () => {
    expect(await fundfeed(["plans", "list", "--database", NOWHERE])).toEqual({ code: 1, out: "", err: CANNOT_OPEN });
    process.env.FUNDFEED_DATABASE = NOWHERE;
    process.env.FUNDFEED_DATA = "nowhere";
    for (const args of [
      ["plans", "list"],
      ["sources", "list"],
      ["serve", "--port", "0", "--log-level", "none"],
    ]) {
      expect(await fundfeed(args)).toEqual({ code: 1, out: "", err: CANNOT_OPEN });
    }
    const { out } = await fundfeed(["serve", "--help"]);
    expect([out.includes("--database <url>"), out.includes("secret")]).toEqual([true, false]);
    expect(existsSync("nowhere")).toBe(false);
  });

  test("in the environment yields to --data, and FUNDFEED_DATA yields to --database", async () => {
    process.env.FUNDFEED_DATABASE = NOWHERE;
    const directory = join(aDirectory(), "data");
    const set = ["plans", "set", "trial", "--daily", "1", "--per-minute", "1"];
    expect((await fundfeed([...set, "--data", directory])).code).toBe(0);
    expect(readdirSync(directory)).toEqual(["state.db"]);
    delete process.env.FUNDFEED_DATABASE;
    process.env.FUNDFEED_DATA = directory;
    expect((await fundfeed(["plans", "list", "--database", NOWHERE])).err).toBe(CANNOT_OPEN);
  });

  test("counts as unset if its variable is empty, like every option", async () => {
    const home = aHome();
    const names = ["DATABASE", "READ_DATABASE", "DATA", "HOST", "BASE_URL", "METRICS_PORT", "LOG_LEVEL", "QUOTAS", "TLS_CERT"];
    const serving = await home.serve(["serve", "--port", "0"], { env: Object.fromEntries(names.map((name) => [`FUNDFEED_${name}`, ""])) });
    expect([await serving.stop(), existsSync(home.at("fundfeed-data"))]).toEqual([0, true]);
  });

  test("in the environment yields to --data, together with its replica", async () => {
    const [home, env] = [aHome(), { FUNDFEED_DATABASE: NOWHERE, FUNDFEED_READ_DATABASE: NOWHERE }];
    const serving = await home.serve(["serve", "--port", "0", "--data", "here"], { env });
    expect([await serving.stop(), existsSync(home.at("here"))]).toEqual([0, true]);
    const { code, err } = await home.run(["serve", "--port", "0", "--data", "here", "--read-database", NOWHERE], { env });
    expect([code, err]).toEqual([2, expect.stringContaining("--read-database is a replica of --database, and requires it")]);
  });

  test("and --data exclude each other", async () => {
    const directory = join(aDirectory(), "data");
    const both = await fundfeed(["keys", "list", "--data", directory, "--database", NOWHERE]);
    expectUsage(both, "--data and --database exclude each other; give one of them");
    expect(existsSync(directory)).toBe(false);
  });

  test.each([
    "secret",
    "http://me:secret@x/y",
    "postgres://me:secret@x",
    "postgres://me:secret@x/",
    "postgres:/secret",
    "postgres:///secret",
    "postgres://me:100%secret@x/y",
  ])("%p is not a URL, and is not printed", async (url) => {
    expectUsage(await fundfeed(["plans", "list", "--database", url]), `--database ${ADDRESS}`);
    expectUsage(await fundfeed(["serve", "--database", NOWHERE, "--read-database", url]), `--read-database ${ADDRESS}`);
  });

  test("does not work with backup and restore, which name PostgreSQL's tools", async () => {
    for (const [command, why] of [
      ["backup", "Cannot back up postgres://127.0.0.1:1/fundfeed: use pg_dump (fundfeed help postgres)\n"],
      ["restore", "Cannot restore postgres://127.0.0.1:1/fundfeed: use pg_restore (fundfeed help postgres)\n"],
    ] as const) {
      const directory = join(aDirectory(), "copy");
      expect(await fundfeed([command, directory, "--database", NOWHERE])).toEqual({ code: 1, out: "", err: why });
      expect(existsSync(directory)).toBe(false);
    }
  });
});

describe("copy", () => {
  test("from a directory to a directory names backup instead", async () => {
    const copied = await fundfeed(["copy", "there", "--data", aDirectory()]);
    expectUsage(copied, "to copy a data directory to a data directory, use fundfeed backup");
  });

  test.each(["postgres://me:secret@x", "postgresql:secret", "postgres:"])("to %s fails without printing it", async (url) => {
    expectUsage(await fundfeed(["copy", url, "--data", aDirectory()]), `the target ${ADDRESS}`);
    expect(existsSync(url)).toBe(false);
  });
});
