import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { type BothDatabases, copyDatabases } from "../../db/copy.ts";
import { BATCH_ROWS, type DatabaseName, type Engine } from "../../db/engine.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import * as catalogTables from "../../db/schema/sqlite/catalog.ts";
import * as stateTables from "../../db/schema/sqlite/state.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { readPagesSecret } from "../../src/accounts/sealed.ts";
import { program, QUICK } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { realPath } from "../support/real-data.ts";
import { anOpportunity } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

const opened: Engine<DatabaseName>[] = [];
afterEach(async () => void (await Promise.all(opened.splice(0).map((db) => db.close()))));

async function open(place: string): Promise<BothDatabases> {
  const databases = place.startsWith("postgres:")
    ? { catalog: await openPostgres("catalog", place, NOON), state: await openPostgres("state", place, NOON) }
    : { catalog: openCatalog(place, NOON), state: openState(place, NOON) };
  opened.push(databases.catalog, databases.state);
  return databases;
}

const tableNames = (tables: object) => Object.values(tables).map((table) => getTableConfig(table).name);

/** Every row of every table, bytes as hexadecimal digits, in an order that both engines know. */
async function rowsOf({ catalog, state }: BothDatabases): Promise<Record<string, string[]>> {
  const rows: Record<string, string[]> = {};
  for (const [db, tables] of [
    [catalog, catalogTables],
    [state, stateTables],
  ] as const) {
    for (const name of tableNames(tables)) {
      const all = await db.all(rawSql<object>(`select * from "${name}"`));
      rows[name] = all
        .map((row) =>
          JSON.stringify(
            Object.entries(row)
              .sort()
              .map(([column, cell]) => [column, cell instanceof Uint8Array ? cell.toHex() : cell]),
          ),
        )
        .sort();
    }
  }
  return rows;
}

/** A few records, with a history, in a data directory that keys have used. */
let small: string;
/** The same with more records than a batch has, and with rows in every table. */
let directory: string;
beforeAll(async () => {
  small = aDirectory();
  const place = ["--data", small];
  const record = (n: number) => ({ source: { code: "OWN", opportunity_id: `m${n}` }, title: `Number ${n}` });
  const odd = anOpportunity({ title: 'O\'Brien "q" \\ ? $1 é 😀 \u2028 {NULL}', description: "x".repeat(200_000) });
  const changed = { ...record(0), title: "Number 0, changed", agency_codes: ["A"] };
  for (const records of [[odd, record(0)], [changed]]) await fundfeed(["import", "records", aFile(records), ...place]);
  await fundfeed(["import", "sam-gov", realPath("sam-gov/v2-search-20260202.json"), ...place]);
  await fundfeed(["sources", "add", "OWN", "--name", "Our own", "--description", "Records of our own", ...place]);
  await fundfeed(["plans", "set", "starter", "--daily", "5000000000", "--per-minute", "7", ...place]);
  await fundfeed(["keys", "create", "--account", "Zoë", "--plan", "starter", "--label", "one", "--expires", "90d", ...place]);
  await fundfeed(["keys", "create", "--account", "Acme", ...place]);
  const { catalog, state } = await open(small);
  await state.run(rawSql("insert into use (key_id, day, count) select id, 20000, 17 from keys"));
  await state.run(rawSql("insert into allowed (entry, added_at) values ('@lab.example', 1)"));
  await readPagesSecret(state, (count) => new Uint8Array(count).fill(7));
  await Promise.all([catalog.close(), state.close()]);
  directory = aDirectory();
  cpSync(small, directory, { recursive: true });
  const many = Array.from({ length: BATCH_ROWS + 100 }, (_, n) => record(n + 1));
  await fundfeed(["import", "records", aFile(many), "--data", directory]);
  await (await open(directory)).catalog.run(rawSql("insert into moved_link_keys (key) values ('x')"));
});

const told = () => undefined;

describe.if(hasPostgres)("copyDatabases()", () => {
  const anUrl = async (options = {}) => (await postgresServer()).freshDatabase(options);

  test("copies every row of every table from SQLite to PostgreSQL and back, with the same bytes and numbers", async () => {
    const [from, over, back] = [await open(directory), await open(await anUrl({ empty: true })), await open(aDirectory())];
    const rows = await rowsOf(from);
    for (const name of [...tableNames(catalogTables), ...tableNames(stateTables)])
      expect([name, rows[name]?.length]).not.toEqual([name, 0]);
    expect(rows.opportunities?.length).toBe(BATCH_ROWS + 110);

    const shown: [string, number, number][] = [];
    const copied = await copyDatabases(from, over, (...batch) => void shown.push(batch));
    expect(await rowsOf(over)).toEqual(rows);
    const counts = Object.fromEntries(Object.entries(rows).map(([name, each]) => [name, each.length]));
    expect({ ...copied.catalog, ...copied.state }).toEqual(counts);
    expect(shown.filter(([name]) => name === "opportunities")).toEqual([
      ["opportunities", BATCH_ROWS, BATCH_ROWS + 110],
      ["opportunities", BATCH_ROWS + 110, BATCH_ROWS + 110],
    ]);

    await copyDatabases(over, back, told);
    expect(await rowsOf(back)).toEqual(rows);
  });

  test("numbers new rows after the largest copied number", async () => {
    const over = await open(await anUrl());
    await copyDatabases(await open(small), over, told);
    const added =
      "insert into imports (format, files, sources, snapshot, started_at, counts) values ('x', '[]', '[]', 0, 0, '{}') returning id";
    const numbers = async () => (await over.catalog.all(rawSql<{ id: number }>("select id from imports order by id"))).map(({ id }) => id);
    const before = await numbers();
    await over.catalog.run(rawSql(added));
    expect(await numbers()).toEqual([...before, Math.max(...before) + 1]);
    const empty = await open(await anUrl());
    await copyDatabases(await open(aDirectory()), empty, told);
    expect(await empty.catalog.get(rawSql<object>(added))).toEqual({ id: 1 });
  });

  test("reads one state of a source while it is written to", async () => {
    const url = await anUrl();
    await copyDatabases(await open(small), await open(url), told);
    for (const place of [small, url]) {
      const [from, writer, target] = [await open(place), await open(place), await open(place === url ? aDirectory() : await anUrl())];
      const rows = await rowsOf(from);
      const writing: Promise<unknown>[] = [];
      const write = () => writer.catalog.run(rawSql("insert into settings (name, value) values ('meanwhile', ?)", new Uint8Array([1])));
      await copyDatabases(from, target, () => void (writing.length === 0 && writing.push(write())));
      await Promise.all(writing);
      expect(await rowsOf(target)).toEqual(rows);
      await writer.catalog.run(rawSql("delete from settings where name = 'meanwhile'"));
    }
  });

  test.each<[string, (databases: BothDatabases) => Promise<unknown>, string]>([
    [
      "records",
      ({ catalog }) => catalog.run(rawSql("insert into facets (status, source, program_type, agency) values ('', '', '', '')")),
      "facets",
    ],
    ["a source of its own", ({ catalog }) => catalog.run(rawSql("update sources set name = 'Mine' where code = 'DSIP'")), "sources"],
    ["a setting", ({ catalog }) => catalog.run(rawSql("insert into settings (name, value) values ('x', ?)", new Uint8Array())), "settings"],
    ["other plans", ({ state }) => state.run(rawSql("update plans set daily = 7 where name = 'trial'")), "plans"],
    [
      "an account",
      ({ state }) => state.run(rawSql("insert into accounts (name, plan, subscription, created_at) values ('A', 'trial', 'active', 0)")),
      "accounts",
    ],
  ])("refuses a target that has %s, and changes nothing", async (_, put, table) => {
    const from = await open(small);
    for (const target of [await open(aDirectory()), await open(await anUrl())]) {
      await put(target);
      const rows = await rowsOf(target);
      await expect(copyDatabases(from, target, told)).rejects.toThrow(`its table "${table}" differs from that of a new database`);
      expect(await rowsOf(target)).toEqual(rows);
    }
  });

  test("leaves a target unchanged when it fails, at either database", async () => {
    const from = await open(small);
    for (const target of [await open(aDirectory()), await open(await anUrl())]) {
      const rows = await rowsOf(target);
      for (const at of ["opportunities", "keys"]) {
        const failing = copyDatabases(from, target, (table) => {
          if (table === at) throw new Error("on purpose");
        });
        await expect(failing).rejects.toThrow("on purpose");
        expect(await rowsOf(target)).toEqual(rows);
      }
      await copyDatabases(from, target, told);
    }
  });

  test.each(["files", "PostgreSQL"])("a kill leaves %s as new, and the copy can be run again", async (kind) => {
    const server = await postgresServer();
    const url = await anUrl();
    const source = await open(url);
    await copyDatabases(await open(small), source, told);
    const place = kind === "files" ? aDirectory() : await anUrl();
    const rows = await rowsOf(await open(place));
    const copy = () =>
      Bun.spawn([program, "copy", "--database", url, place], {
        env: { ...process.env, ...QUICK },
        stdio: ["ignore", "ignore", "ignore"],
      });

    await source.catalog.transaction(async (sql) => {
      await sql.run(rawSql("lock table sources in access exclusive mode")); // There it waits: records are copied then.
      const child = copy();
      const waiting = `select 1 from pg_stat_activity where datname = '${new URL(url).pathname.slice(1)}' and wait_event_type = 'Lock'`;
      await waitFor("it waits", async () => (await server.command(waiting)).length > 0);
      child.kill("SIGKILL");
      await child.exited;
    });
    expect(await rowsOf(await open(place))).toEqual(rows);
    expect(await copy().exited).toBe(0);
    expect(await rowsOf(await open(place))).toEqual(await rowsOf(source));
  });

  test("makes copies whose exports are identical, byte by byte", async () => {
    const url = await anUrl();
    await copyDatabases(await open(small), await open(url), told);
    const [here, there] = [await fundfeed(["export", "--data", small]), await fundfeed(["export", "--database", url])];
    expect([here.code, there.code, here.out.length > 200_000]).toEqual([0, 0, true]);
    expect(there.out === here.out).toBe(true);
  });
});
