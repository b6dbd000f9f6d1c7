/** Contacts erased from a PostgreSQL that others read. */
import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { SQL } from "bun";
import { type Executor, numbered } from "../../db/postgres/client.ts";
import { rewriteTables } from "../../db/postgres/engine.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import type { Value } from "../../db/value.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aFile, dropScratch } from "../support/imports.ts";
import { hasPostgres, quietPostgresServer } from "../support/postgres.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Title", contacts: [{ name: "Ann", email: "ann@example.gov" }] };

describe.if(hasPostgres)("fundfeed redact", () => {
  test("refuses a role that may not rewrite the tables, before anything is erased", async () => {
    const server = await quietPostgresServer();
    const url = await server.freshDatabase();
    await fundfeed(["import", "records", aFile([record]), "--database", url]);
    const role = await server.freshRole();
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe(`grant usage on schema fundfeed_catalog to ${role}`);
    await sql.unsafe(`grant select, insert, update, delete on all tables in schema fundfeed_catalog to ${role}`);
    const redact = () => fundfeed(["redact", "--database", url.replace("fundfeed@", `${role}@`)]);
    const { host, pathname } = new URL(url);
    const err = `Cannot redact postgres://${host}${pathname}: it rewrites tables, which requires the role of their owner\n`;
    expect(await redact()).toEqual({ code: 1, out: "", err });
    expect(await sql.unsafe("select 1 from fundfeed_catalog.opportunities where position('Ann' in document) > 0")).toHaveLength(1);
    await sql.unsafe(`grant fundfeed to ${role}`);
    expect((await redact()).out).toBe("Contacts erased from 1 record and 0 events\n");
  });

  /** A PostgreSQL with a record that names Ann, and a transaction over it that reads until it is committed. */
  async function aReadDatabase(...statements: string[]) {
    const url = await (await quietPostgresServer()).freshDatabase();
    await fundfeed(["import", "records", aFile([record]), "--database", url]);
    const reader = new SQL(url, { max: 1 });
    for (const statement of statements) await reader.unsafe(statement);
    return { url, reader };
  }

  test("waits for who reads a PostgreSQL, and no other reader waits with it for long", async () => {
    const { url, reader } = await aReadDatabase("begin", "select 1 from fundfeed_catalog.opportunities");
    const { sleep } = Bun;
    using _pauses = spyOn(Bun, "sleep").mockImplementation((ms) => sleep(Math.min(Number(ms), 100))); // Of 8 s, between attempts.
    const db = await openPostgres("catalog", url, 0, { statementTimeoutMs: 20_000 }); // What takes longer fails. A server's limit is less.
    const said: string[] = [];
    const say = (text: string) => void said.push(text);
    const erasing = runCommandLine(["redact", "--database", url], machineOf({}, { printLine: say, printError: say }));
    const waiting =
      "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'vacuum (full)%'";
    let longestMs = 0;
    for (; longestMs <= 1000; await Bun.sleep(20)) {
      if ((await db.all(rawSql(waiting))).length === 0) continue; // A read that began before contacts were erased would keep the old versions.
      const from = performance.now();
      await db.get(rawSql("select count(*) from opportunities"));
      longestMs = Math.max(longestMs, performance.now() - from);
    }
    await reader.unsafe("commit"); // Nobody reads from here on: a read of one table keeps the old versions of another.
    expect(await erasing).toBe(0);
    expect(said).toEqual([
      "Contacts are erased. Waiting for a long read, such as a dump or an export, to end before tables are rewritten",
      "Contacts erased from 1 record and 0 events",
    ]);
    expect(longestMs).toBeGreaterThan(1000); // It was behind the rewriting, once.
    await Promise.all([db.close(), reader.close()]);
  });

  test("says that old versions stay which a state of a PostgreSQL has that somebody reads", async () => {
    const { url, reader } = await aReadDatabase("begin isolation level repeatable read", "select 1");
    const { code, out, err } = await fundfeed(["redact", "--json", "--database", url]);
    expect([code, JSON.parse(out), err]).toEqual([
      0,
      { records: 1, events: 0, complete: false },
      expect.stringMatching(/^Unused space of tables still contains contacts, because a dump, .* Run redact again when it has ended\.\n$/),
    ]);
    await reader.unsafe("commit");
    const again = await waitFor("no reader sees old versions", async () => {
      const { out, err } = await fundfeed(["redact", "--json", "--database", url]);
      return err === "" && JSON.parse(out);
    });
    expect(again).toEqual({ records: 0, events: 0, complete: true });
    await reader.close();
  });

  test("a row that is inserted while tables are rewritten hides no old version", async () => {
    const { url, reader } = await aReadDatabase("begin isolation level repeatable read", "select 1");
    const sql = new SQL(url, { max: 1 });
    const ask = (statement: string, values: readonly Value[] = []) => sql.unsafe(numbered(statement), [...values]);
    await ask("set search_path to fundfeed_catalog");
    await ask("update settings set value = value");
    let inserted = 0;
    const meanwhile: Executor = {
      rows: (statement, values) => ask(statement, values),
      execute: async (statement, values) => {
        await ask(statement, values);
        if (statement.includes('"settings"')) await ask("insert into settings (name, value) values (?, '')", [`${++inserted}`]);
        return 0;
      },
    };
    const rewrite = () => rewriteTables(meanwhile, { forMs: 0, onWait: () => undefined });
    expect([await rewrite(), inserted]).toEqual([false, 2]);
    await reader.unsafe("commit");
    expect([await rewrite(), inserted]).toEqual([true, 3]);
    await Promise.all([reader.close(), sql.close()]);
  });
});
