/** Which database a command works on, and what is only one engine's business. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { aHome, dropHomes } from "../support/binary.ts";
import { type CommandResult, fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";

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

async function aDatabase(): Promise<string> {
  return (await postgresServer()).freshDatabase({ empty: true });
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

  test("is required by --read-database", async () => {
    expectUsage(await fundfeed(["serve", "--read-database", NOWHERE]), "--read-database is a replica of --database, and requires it");
  });

  test("does not work with backup and restore, which name PostgreSQL's tools", async () => {
    for (const [command, why] of [
      ["backup", "Cannot back up postgres://127.0.0.1:1/fundfeed: use pg_dump (docs/operate/postgres.md)\n"],
      ["restore", "Cannot restore postgres://127.0.0.1:1/fundfeed: use pg_restore (docs/operate/postgres.md)\n"],
    ] as const) {
      const directory = join(aDirectory(), "copy");
      expect(await fundfeed([command, directory, "--database", NOWHERE])).toEqual({ code: 1, out: "", err: why });
      expect(existsSync(directory)).toBe(false);
    }
  });

  test.if(hasPostgres)("stores what other commands read, and creates no file", async () => {
    const place = ["--database", await aDatabase()];
    const temporary = aDirectory();
    process.env.TMPDIR = temporary;
    await fundfeed(["sources", "add", "OWN", "--name", "Our own", "--description", "Ours", ...place]);
    const codes = JSON.parse((await fundfeed(["sources", "list", "--json", ...place])).out).map(({ code }: { code: string }) => code);
    expect(codes).toContain("OWN");
    const imported = await fundfeed([
      "import",
      "records",
      aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]),
      ...place,
    ]);
    expect([imported.code, readdirSync(temporary)]).toEqual([0, []]);
  });
});

describe.if(hasPostgres)("serve --database --read-database", () => {
  /** A role that may read the catalog, and nothing else; the URL of the same database for it. */
  async function aReader(url: string): Promise<string> {
    await using sql = new SQL(url, { max: 1 });
    const role = await (await postgresServer()).freshRole();
    await sql.unsafe(`grant usage on schema fundfeed_catalog to ${role}`);
    await sql.unsafe(`grant select on all tables in schema fundfeed_catalog to ${role}`);
    return url.replace("fundfeed@", `${role}@`);
  }

  test("reads the catalog from the replica without write access, and counts use in the primary", async () => {
    const server = await postgresServer();
    const [url, home] = [await server.freshDatabase(), aHome()];
    const readUrl = await aReader(url);
    const env = { FUNDFEED_DATABASE: url, FUNDFEED_READ_DATABASE: readUrl };
    const place = ["--database", url];
    const key = (await fundfeed(["keys", "create", "--account", "Acme", ...place])).out.trim();
    const serving = await home.serve(["serve", "--port", "0"], { env });
    const codes = async () => {
      const { data } = (await (await serving.get("/sources", key)).json()) as { data: { code: string }[] };
      return data.map(({ code }) => code);
    };
    expect(await codes()).not.toContain("OWN");
    await fundfeed(["sources", "add", "OWN", "--name", "Our own", "--description", "Ours", ...place]);
    expect(await codes()).toContain("OWN");
    const { username, pathname } = new URL(readUrl);
    const readers = await server.command(
      `select 1 from pg_stat_activity where usename = '${username}' and datname = '${pathname.slice(1)}'`,
    );
    expect(readers.length).toBeGreaterThan(0);
    expect(await serving.stop()).toBe(0);
    const [use] = JSON.parse((await fundfeed(["keys", "usage", "--json", ...place])).out);
    expect(use.requests).toBe(2);
    expect(existsSync(home.at("fundfeed-data"))).toBe(false);
    expect(serving.log()).not.toContain("error");
  });

  test.each([
    [
      "has another's catalog",
      "select 1",
      "Cannot read from THERE: --read-database must be a replica of --database, HERE, and holds another catalog",
    ],
    [
      "has no cursor secret yet",
      "delete from fundfeed_catalog.settings",
      "Cannot read from THERE: --read-database must be a replica of --database, HERE, and has not caught up with it yet; try again",
    ],
    [
      "has no catalog yet",
      "drop schema fundfeed_catalog cascade",
      "Cannot read from THERE: --read-database must be a replica of --database, HERE, and has not caught up with it yet; try again",
    ],
  ])("refuses a replica that %s", async (_, statement, sentence) => {
    const [here, there] = [await aDatabase(), await aDatabase()];
    for (const url of [here, there]) await fundfeed(["import", "records", aFile([]), "--database", url]);
    await using sql = new SQL(there, { max: 1 });
    await sql.unsafe(statement);
    const { code, out, err } = await fundfeed(["serve", "--port", "0", "--database", here, "--read-database", there]);
    const named = err.replaceAll(there.replace("fundfeed@", ""), "THERE").replace(here.replace("fundfeed@", ""), "HERE");
    expect([code, out, named]).toEqual([1, "", `${sentence}\n`]);
  });

  test("refuses a replica that has not followed a migration yet", async () => {
    const [here, there] = [await aDatabase(), await aDatabase()];
    for (const url of [here, there]) await fundfeed(["import", "records", aFile([]), "--database", url]);
    using _next = nextVersion();
    await fundfeed(["refresh", "--database", here]);
    const { code, err } = await fundfeed(["serve", "--port", "0", "--database", here, "--read-database", there]);
    expect([code, err]).toEqual([1, expect.stringMatching(/, and has not caught up with it yet; try again\n$/)]);
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

  test.if(hasPostgres)("prints what it copied, and refuses to copy twice", async () => {
    const [directory, url, back] = [aDirectory(), await aDatabase(), join(aDirectory(), "back")];
    const records = [1, 2, 3].map((n) => ({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Number ${n}` }));
    await fundfeed(["import", "records", aFile(records), "--data", directory]);
    const withPassword = url.replace("fundfeed@", "fundfeed:secret@");
    const { host, pathname } = new URL(url);
    const into = `postgres://${host}${pathname}`;

    const { code, out, err } = await fundfeed(["copy", withPassword, "--data", directory, "--json"]);
    expect([code, err]).toEqual([0, "The copy contains key hashes and the cursor secret. Keep it as private as the original.\n"]);
    const copied = JSON.parse(out);
    expect(copied).toMatchObject({
      from: directory,
      to: into,
      catalog: { opportunities: 3, events: 3, sources: 10 },
      state: { plans: 3, keys: 0 },
    });

    const again = await fundfeed(["copy", withPassword, "--data", directory]);
    expect(again).toEqual({
      code: 1,
      out: "",
      err: `Cannot copy ${directory} to ${into}: it already holds data: its table "events" differs from that of a new database\n`,
    });
    const returned = await fundfeed(["copy", back, "--database", withPassword]);
    expect(returned.out).toStartWith(`Copied ${into} to ${back}\n\ndatabase  table`);
    expect(returned.out).toMatch(/^catalog {3}opportunities +3$/m);
    const exported = async (place: string) => (await fundfeed(["export", "--data", place])).out;
    expect(await exported(back)).toBe(await exported(directory));
    expect(readFileSync(join(back, "catalog.db")).length).toBeGreaterThan(10_000);
  });

  test.if(hasPostgres)("also copies the state if there were only imports, so that rights on both can be granted", async () => {
    const [url, back] = [await aDatabase(), join(aDirectory(), "back")];
    await fundfeed(["import", "records", aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]), "--database", url]);
    await using sql = new SQL(url, { max: 1 });
    const role = await (await postgresServer()).freshRole();
    for (const schema of ["fundfeed_catalog", "fundfeed_state"]) {
      await sql.unsafe(`grant usage on schema ${schema} to ${role}`);
      await sql.unsafe(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
    }
    expect((await fundfeed(["plans", "list", "--database", url.replace("fundfeed@", `${role}@`)])).code).toBe(0);
    expect((await fundfeed(["copy", back, "--database", url])).code).toBe(0);
    expect(JSON.parse((await fundfeed(["plans", "list", "--data", back, "--json"])).out)).toHaveLength(3);
  });
});
