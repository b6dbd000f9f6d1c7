import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backUp, restore } from "../../../db/sqlite/backup.ts";
import { type DatabaseFile, openCatalog, openState, openWatchFile } from "../../../db/sqlite/open.ts";
import { overwriteRootPage } from "../../support/damage.ts";
import { aDirectory, contentsOf, dropScratch, NOON } from "../../support/imports.ts";
import { anOpportunity, storeRecords } from "../../support/records.ts";

afterAll(dropScratch);

/** A data directory with one record, and its backup. */
async function backedUp() {
  const [data, copy] = [aDirectory(), aDirectory()];
  const [catalog, state] = [openCatalog(data, NOON), openState(data, NOON)];
  await storeRecords(catalog, [anOpportunity()], NOON);
  const contents = await contentsOf(catalog);
  const made = backUp({ catalog, state }, data, copy);
  const close = async () => {
    await catalog.close();
    await state.close();
  };
  return { data, copy, catalog, state, contents, made, close };
}

async function contentsIn(directory: string): Promise<string> {
  const db = openCatalog(directory, NOON);
  const contents = await contentsOf(db);
  await db.close();
  return contents;
}

/** Leaves the journal of a transaction that was killed while it filled a new database at `path`. It would empty any file that is there. */
async function leaveJournal(path: string): Promise<void> {
  const filled = join(aDirectory(), "filled.db");
  const script = `const { Database } = require("bun:sqlite");
    const sqlite = new Database(${JSON.stringify(filled)}, { create: true });
    for (const setting of ["synchronous = off", "cache_size = 1"]) sqlite.run("pragma " + setting);
    sqlite.run("begin");
    sqlite.run("create table filled as with n(n) as (select 1 union all select n + 1 from n where n < 1000) select randomblob(1000) from n");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
  cpSync(`${filled}-journal`, `${path}-journal`);
}

function change(path: string, statement: string): void {
  using sqlite = new Database(path);
  sqlite.run(statement);
}

describe("backUp()", () => {
  test("makes complete copies while the files are in use, which work as a data directory", async () => {
    const { copy, catalog, contents, made, close } = await backedUp();
    expect(made.map(({ name, bytes }) => [name, bytes > 10_000])).toEqual([
      ["catalog.db", true],
      ["state.db", true],
    ]);
    expect(readdirSync(copy).sort()).toEqual(["catalog.db", "state.db"]);
    await storeRecords(catalog, [anOpportunity({ title: "Later" })], NOON);
    expect(await contentsIn(copy)).toBe(contents);
    await close();
  });

  test("contains what is committed, and nothing of an open transaction", async () => {
    const { data, catalog, state, contents, close } = await backedUp();
    const writer = openCatalog(data, NOON);
    writer.sqlite.run("begin immediate");
    writer.sqlite.run("delete from opportunities");
    const copy = aDirectory();
    backUp({ catalog, state }, data, copy);
    expect(await contentsIn(copy)).toBe(contents);
    writer.sqlite.run("rollback");
    await writer.close();
    await close();
  });

  test("gives a new directory its name when it is complete, also after a backup that was killed", async () => {
    const { data, catalog, state, contents, close } = await backedUp();
    const directory = join(aDirectory(), "deeper/backup");
    const seen = new Set<boolean>();
    mkdirSync(`${directory}.partial`, { recursive: true });
    writeFileSync(`${directory}.partial/catalog.db`, "left by a kill");
    await leaveJournal(`${directory}.partial/catalog.db.partial`);
    backUp({ catalog, state }, data, directory, () => void seen.add(existsSync(directory)));
    expect([...seen]).toEqual([false]);
    expect(readdirSync(join(directory, ".."))).toEqual(["backup"]);
    expect(readdirSync(directory).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(directory)).toBe(contents);
    await close();
  });

  test("replaces an earlier backup, and leaves it unchanged when it fails", async () => {
    const { data, copy, catalog, state, contents, close } = await backedUp();
    await storeRecords(catalog, [anOpportunity({ title: "Later" })], NOON);
    writeFileSync(join(copy, "catalog.db.partial"), "what a killed one left");
    await state.close();
    expect(() => backUp({ catalog, state }, data, copy)).toThrow();
    expect(readdirSync(copy).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(copy)).toBe(contents);
    await catalog.close();
    await close();
  });
});

test("backUp() leaves nothing behind if another program creates the directory first", async () => {
  const { data, catalog, state, close } = await backedUp();
  const watch = openWatchFile(data, NOON);
  const directory = join(aDirectory(), "new");
  const createFirst = () => void mkdirSync(join(directory, "of another program"), { recursive: true });
  expect(() => backUp({ catalog, state, watch }, data, directory, createFirst)).toThrow(`Cannot back up to ${directory}`);
  expect(readdirSync(join(directory, ".."))).toEqual(["new"]);
  await watch.close();
  await close();
});

test("watches are replaced together with the databases, or nothing is; a backup without them leaves them", async () => {
  const { data, copy, catalog, state, contents, close } = await backedUp();
  const names = () => openedWatches(data, (db) => db.sqlite.query("select name from watches").values().flat());
  const add = (name: string) =>
    openedWatches(data, (db) => db.sqlite.run(`insert into watches values (null, ?, 1, 0, '{}', null, 0, '', 0, 0, 0, 0, null)`, [name]));
  await add("first");
  await openedWatches(data, (watch) => {
    expect(backUp({ catalog, state, watch }, data, copy).map(({ name }) => name)).toEqual(["catalog.db", "state.db", "watch.db"]);
  });
  await add("second");
  await storeRecords(catalog, [anOpportunity({ title: "Later" })], NOON);
  await close();
  const failing = (from: string, to: string) => {
    if (from.endsWith("state.db")) throw new Error("unreadable");
    copyFileSync(from, to);
  };
  expect(() => restore(copy, data, { copy: failing })).toThrow();
  expect(readdirSync(data).sort()).toEqual(["catalog.db", "state.db", "watch.db"]);
  expect(await names()).toEqual(["first", "second"]);
  expect(await contentsIn(data)).not.toBe(contents);
  restore(copy, data);
  expect(await names()).toEqual(["first"]);
  expect(await contentsIn(data)).toBe(contents);
  await add("third");
  rmSync(join(copy, "watch.db"));
  restore(copy, data);
  expect(await names()).toEqual(["first", "third"]);
});

test("backUp() without watches removes those of an earlier backup, and with a damaged one changes nothing", async () => {
  const { data, copy, catalog, state, close } = await backedUp();
  await openedWatches(data, (watch) => backUp({ catalog, state, watch }, data, copy));
  overwriteRootPage(join(data, "watch.db"), "watches");
  await openedWatches(data, (watch) => {
    expect(() => backUp({ catalog, state, watch }, data, copy)).toThrow("Cannot back up to");
  });
  expect(readdirSync(copy).sort()).toEqual(["catalog.db", "state.db", "watch.db"]);
  backUp({ catalog, state }, data, copy);
  expect(readdirSync(copy).sort()).toEqual(["catalog.db", "state.db"]);
  await close();
});

async function openedWatches<T>(data: string, work: (db: DatabaseFile<"watch">) => T): Promise<T> {
  const db = openWatchFile(data, NOON);
  try {
    return work(db);
  } finally {
    await db.close();
  }
}

describe("backUp() refuses, and changes nothing,", () => {
  test("the data directory itself, by any name", async () => {
    const { data, catalog, state, contents, close } = await backedUp();
    const alias = join(aDirectory(), "alias");
    symlinkSync(data, alias);
    for (const directory of [data, alias]) {
      expect(() => backUp({ catalog, state }, data, directory)).toThrow(`Cannot back up to ${directory}: it is the data directory itself`);
    }
    await close();
    expect(await contentsIn(data)).toBe(contents);
  });

  test("a backup that is being served", async () => {
    const { data, copy, catalog, state, contents, close } = await backedUp();
    const served = openCatalog(copy, NOON);
    expect(() => backUp({ catalog, state }, data, copy)).toThrow(`Cannot back up to ${copy}: catalog.db is in use`);
    await served.close();
    expect(await contentsIn(copy)).toBe(contents);
    await close();
  });

  test.each([".", "new"])("a directory into which another program is just making one (%s)", async (name) => {
    const { data, catalog, state, contents, close } = await backedUp();
    const directory = join(aDirectory(), name);
    let refusal: unknown;
    const report = (step: string) => {
      if (step !== "checking" || refusal !== undefined) return;
      try {
        backUp({ catalog, state }, data, directory);
      } catch (error) {
        refusal = error;
      }
    };
    backUp({ catalog, state }, data, directory, report);
    expect(String(refusal)).toBe(`Error: Cannot back up to ${directory}: another backup or restore is at work there`);
    expect(readdirSync(directory).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(directory)).toBe(contents);
    await close();
  });

  test.each<[string, (path: string) => void]>([
    ["a file that is no database", (path) => writeFileSync(path, "a letter ".repeat(1000))],
    ["another program's database", (path) => new Database(path, { create: true }).run("create table t (a)")],
    ["a directory of that name", (path) => mkdirSync(path)],
  ])("over %s", async (_, make) => {
    const { data, catalog, state, close } = await backedUp();
    const directory = aDirectory();
    make(join(directory, "state.db"));
    expect(() => backUp({ catalog, state }, data, directory)).toThrow(`Cannot back up to ${directory}: `);
    expect(readdirSync(directory)).toEqual(["state.db"]);
    await close();
  });
});

describe("restore()", () => {
  test("replaces damaged files", async () => {
    for (const damage of [
      (path: string) => truncateSync(path, 5000),
      (path: string) => writeFileSync(path, "not a database at all ".repeat(100)),
      (path: string) => overwriteRootPage(path, "opportunities"),
    ]) {
      const { data, copy, contents, close } = await backedUp();
      await close();
      damage(join(data, "catalog.db"));
      restore(copy, data);
      expect(await contentsIn(data)).toBe(contents);
    }
  });

  test("refuses the backup itself as the data directory", async () => {
    const { copy, contents, close } = await backedUp();
    await close();
    expect(() => restore(copy, copy)).toThrow(`Cannot restore ${copy}: it is the data directory itself`);
    expect(await contentsIn(copy)).toBe(contents);
  });

  test("replaces both files, and removes their logs", async () => {
    const { data, copy, catalog, contents, close } = await backedUp();
    await storeRecords(catalog, [anOpportunity({ title: "Later" })], NOON);
    await close();
    writeFileSync(join(data, "catalog.db-wal"), "what a killed one left");
    restore(copy, data);
    expect(await contentsIn(data)).toBe(contents);
    const elsewhere = join(aDirectory(), "new");
    restore(copy, elsewhere);
    expect(await contentsIn(elsewhere)).toBe(contents);
  });

  test("applies nothing to the restored files that a killed program left there", async () => {
    const { data, copy, contents, close } = await backedUp();
    await close();
    writeFileSync(join(data, "catalog.db"), "not a database at all ".repeat(100));
    for (const name of ["catalog.db.partial", "catalog.db"]) await leaveJournal(join(data, name));
    restore(copy, data);
    expect(readdirSync(data).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(data)).toBe(contents);
  });

  test("refuses while a server has the files open, even an idle one", async () => {
    const { data, copy, contents, close } = await backedUp();
    expect(() => restore(copy, data)).toThrow(`Cannot restore ${data}: catalog.db is in use: a server or an import has it open`);
    await close();
    const state = openState(data, NOON);
    expect(() => restore(copy, data)).toThrow(`Cannot restore ${data}: state.db is in use`);
    await state.close();
    expect(readdirSync(data).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(data)).toBe(contents);
  });

  test.each<[string, (copy: string) => void, string]>([
    ["a part of the backup is missing", (copy) => rmSync(join(copy, "state.db")), "it has no state.db"],
    ["a file is cut off", (copy) => truncateSync(join(copy, "state.db"), 8192), "the copy of state.db cannot be trusted"],
    [
      "a page is damaged",
      (copy) => overwriteRootPage(join(copy, "catalog.db"), "opportunities"),
      "the copy of catalog.db cannot be trusted",
    ],
    ["a file is empty", (copy) => truncateSync(join(copy, "catalog.db"), 0), "the copy of catalog.db cannot be trusted: it is empty"],
    ["a file is another one", (copy) => cpSync(join(copy, "state.db"), join(copy, "catalog.db")), "it is not a fundfeed catalog.db"],
    [
      "a newer version made a file",
      (copy) => change(join(copy, "catalog.db"), "insert into migrations values (99, 'later', 'x', 0)"),
      "its catalog.db cannot be opened: a newer version of fundfeed made it",
    ],
    [
      "its watches have another schema",
      (copy) => {
        openWatchFile(copy, NOON).sqlite.close();
        change(join(copy, "watch.db"), "update migrations set hash = 'x'");
      },
      "its watch.db cannot be opened: its migration 0000_initial differs from this program's",
    ],
    [
      "it was served and is not closed",
      (copy) => writeFileSync(join(copy, "catalog.db-wal"), "x"),
      "its catalog.db is in use, or was not closed",
    ],
  ])("refuses when %s, and changes nothing", async (_, damage, reason) => {
    const { data, copy, contents, close } = await backedUp();
    await close();
    damage(copy);
    expect(() => restore(copy, data)).toThrow(reason);
    expect(readdirSync(data).sort()).toEqual(["catalog.db", "state.db"]);
    expect(await contentsIn(data)).toBe(contents);
    expect(existsSync(join(data, "catalog.db.partial"))).toBe(false);
  });
});
