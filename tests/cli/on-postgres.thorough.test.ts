/** The commands on a PostgreSQL database, where they differ from those on files. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { openPostgres } from "../../db/postgres/open.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, dropScratch, NOON, SECOND } from "../support/imports.ts";
import { connectMcp } from "../support/mcp.ts";
import { nextVersion } from "../support/next-version.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";

afterAll(dropScratch);
afterAll(dropHomes);
const { TMPDIR } = process.env;
afterEach(() => {
  delete process.env.TMPDIR;
  if (TMPDIR !== undefined) process.env.TMPDIR = TMPDIR;
});

const record = (id: string, fields: object = {}) => ({ source: { code: "OWN", opportunity_id: id }, title: `Solar sail ${id}`, ...fields });

async function aDatabase(): Promise<string> {
  return (await postgresServer()).freshDatabase({ empty: true });
}

describe.if(hasPostgres)("a command", () => {
  test("stores what other commands read, and creates no file", async () => {
    const place = ["--database", await aDatabase()];
    const temporary = aDirectory();
    process.env.TMPDIR = temporary;
    await fundfeed(["sources", "add", "OWN", "--name", "Our own", "--description", "Ours", ...place]);
    const codes = JSON.parse((await fundfeed(["sources", "list", "--json", ...place])).out).map(({ code }: { code: string }) => code);
    expect(codes).toContain("OWN");
    const imported = await fundfeed(["import", "records", aFile([record("1")]), ...place]);
    expect([imported.code, readdirSync(temporary)]).toEqual([0, []]);
  });

  test("find keeps its index in --search-data", async () => {
    const url = await (await postgresServer()).freshDatabase();
    await fundfeed(["import", "records", aFile([record("A-1")]), "--database", url]);
    const { code, out, err } = await fundfeed(["find", "solar", "--database", url]);
    expect([code, err]).toEqual([0, "Built the search index in a temporary directory; --search-data DIR keeps it for the next search\n"]);
    expect(out).toContain("A-1");
    const index = aDirectory();
    expect((await fundfeed(["find", "solar", "--database", url, "--search-data", index])).err).toBe("");
    expect((await fundfeed(["show", "a-1", "--database", url, "--search-data", index])).out).toStartWith("Solar sail A-1\n");
  });

  test("changes continues from its cursor file", async () => {
    const url = await (await postgresServer()).freshDatabase();
    const db = await openPostgres("catalog", url, NOON, { connections: 3 });
    const { take, clock } = await aCatalog(db);
    const cursor = join(aDirectory(), "cursor");
    const run = () => fundfeed(["changes", "--cursor-file", cursor, "--format", "ndjson", "--database", url], {}, () => clock.now);
    await take([record("1")]);
    expect((await run()).out).toMatch(/^\{"id":[^\n]*"type":"opportunity_added"[^\n]*\n$/);
    expect((await run()).out).toBe("");
    clock.now += SECOND;
    await take([record("2")]);
    expect((await run()).out).toMatch(/^\{"id":[^\n]*"type":"opportunity_added"[^\n]*\n$/);
    await db.close();
  });

  test("watch needs --watch-data, and asks for it", async () => {
    const place = ["--database", await (await postgresServer()).freshDatabase()];
    await fundfeed(["import", "records", aFile([record("1")]), ...place]);
    expect((await fundfeed(["watch", "list", ...place])).err).toBe(
      "Cannot find the watches: with --database, name the directory of watch.db with --watch-data or FUNDFEED_WATCH_DATA\n",
    );
    const data = aDirectory();
    place.push("--watch-data", data, "--search-data", data);
    await fundfeed(["watch", "add", "q", "--to", "stdout", ...place]);
    await fundfeed(["import", "records", aFile([record("1", { status: "cancelled" })]), ...place.slice(0, 2)]);
    expect((await fundfeed(["watch", "run", ...place])).err).toBe("q: delivered 1 changed\n");
    expect((await fundfeed(["watch", "list", ...place.slice(0, 4)])).out).toEndWith("ok     stdout\n");
  });

  test("mcp finds, and tells what changed", async () => {
    const url = await (await postgresServer()).freshDatabase();
    await fundfeed(["import", "records", aFile([record("A-1")]), "--database", url]);
    const client = await connectMcp(["--database", url], { now: Date.now() });
    expect((await client.call("find", { words: "solar" })).data).toMatchObject({ results: [{ number: "A-1" }] });
    expect((await client.call("what_changed")).data).toMatchObject({ events: [{ type: "opportunity_added" }] });
    await client.close();
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

describe.if(hasPostgres)("copy", () => {
  test("prints what it copied, and refuses to copy twice", async () => {
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
      err: `Cannot copy ${directory} to ${into}: it already holds data: its table "counts" differs from that of a new database\n`,
    });
    const returned = await fundfeed(["copy", back, "--database", withPassword]);
    expect(returned.out).toStartWith(`Copied ${into} to ${back}\n\ndatabase  table`);
    expect(returned.out).toMatch(/^catalog {3}opportunities +3$/m);
    const exported = async (place: string) => (await fundfeed(["export", "--data", place])).out;
    expect(await exported(back)).toBe(await exported(directory));
    expect(readFileSync(join(back, "catalog.db")).length).toBeGreaterThan(10_000);
  });

  test("also copies the state if there were only imports, so that rights on both can be granted", async () => {
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
