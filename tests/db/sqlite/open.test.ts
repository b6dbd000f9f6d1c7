import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireOwnFile } from "../../../db/own-file.ts";
import { migrations } from "../../../db/sqlite/migrate.ts";
import { openCatalog, openState } from "../../../db/sqlite/open.ts";
import { listPlans } from "../../../src/accounts/account.ts";
import { listSources } from "../../../src/sources/source.ts";
import { aDirectory, dropScratch, NOON } from "../../support/imports.ts";

afterAll(dropScratch);

const secretOf = ({ sqlite }: { sqlite: Database }) =>
  sqlite.query<{ value: Uint8Array }, []>("select value from settings where name = 'cursor_secret'").get()?.value.toHex();
const tablesOf = (sqlite: Database) =>
  sqlite.query("select name from sqlite_master where type = 'table' order by name").values().flat() as string[];

describe("openCatalog() and openState()", () => {
  test("create both files with all their tables, and find them again", async () => {
    const directory = join(aDirectory(), "new", "deeper");
    const first = openCatalog(directory, NOON);
    const secret = secretOf(first);
    expect(secret).toHaveLength(64);
    expect(tablesOf(first.sqlite)).toEqual([
      "counts",
      "earlier_sidecars",
      "events",
      "facets",
      "imports",
      "instants",
      "layout_sightings",
      "link_keys",
      "migrations",
      "moved_link_keys",
      "opportunities",
      "readings",
      "settings",
      "sightings",
      "sources",
      "upstream_ids",
      "versions",
    ]);
    await first.close();
    await openState(directory, NOON).close();
    expect(readdirSync(directory).sort()).toEqual(["catalog.db", "state.db"]);
    const second = openCatalog(directory, NOON);
    expect(secretOf(second)).toBe(secret);
    await second.close();
  });

  test("leave single files after closing, whatever was run", async () => {
    const directory = aDirectory();
    const db = openCatalog(directory, NOON);
    await listSources(db);
    await db.close();
    expect(readdirSync(directory)).toEqual(["catalog.db"]);
  });

  test("two that open a new directory at once have the same secret", () => {
    const directory = aDirectory();
    const [first, second] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
    expect(secretOf(first)).toBe(secretOf(second));
    for (const { sqlite } of [first, second]) sqlite.close();
  });

  test("wait for a writer that is creating the same catalog, also if they do not wait for writers later", async () => {
    const directory = aDirectory();
    const made = openCatalog(directory, NOON);
    made.sqlite.run("delete from settings where name = 'cursor_secret'"); // As between the migrations and the secret.
    await made.close();
    const script = `const { Database } = require("bun:sqlite");
      const sqlite = new Database(${JSON.stringify(join(directory, "catalog.db"))});
      sqlite.run("begin immediate");
      console.log("locked");
      setTimeout(() => sqlite.run("commit"), 300);`;
    const writer = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    await writer.stdout.getReader().read();
    const opened = openCatalog(directory, NOON, { waitMs: 0 });
    expect(secretOf(opened)).toHaveLength(64);
    await opened.close();
    expect(await writer.exited).toBe(0);
  });

  test("recognize a file that another program creates at that moment", () => {
    const directory = aDirectory();
    const sqlite = new Database(join(directory, "state.db"), { create: true });
    const query = sqlite.query.bind(sqlite);
    let queries = 0;
    sqlite.query = (text: string) => {
      if (++queries === 2) openState(directory, NOON).sqlite.close();
      return query(text);
    };
    expect(requireOwnFile(sqlite, "state.db")).toBe(true);
    sqlite.close();
  });

  test("complete what a killed program left, at any step", () => {
    const empty = aDirectory();
    writeFileSync(join(empty, "catalog.db"), "");
    const inLog = aDirectory();
    new Database(join(inLog, "catalog.db"), { create: true }).run("pragma journal_mode = wal");
    const marked = aDirectory();
    const sqlite = new Database(join(marked, "catalog.db"), { create: true });
    sqlite.run("pragma application_id = 0x66666374");
    sqlite.close();
    for (const directory of [empty, inLog, marked]) {
      const opened = openCatalog(directory, NOON);
      expect(tablesOf(opened.sqlite)).toContain("opportunities");
      expect(opened.sqlite.query("select count(*) from sources").values()).toEqual([[10]]);
      opened.sqlite.close();
    }
  });

  test("a state.db without tables, which a kill or a full disk leaves, is read like none at all", async () => {
    const directory = aDirectory();
    await openCatalog(directory, NOON).close();
    const sqlite = new Database(join(directory, "state.db"), { create: true });
    sqlite.run("pragma journal_mode = wal");
    sqlite.run("pragma application_id = 0x66667374");
    sqlite.close();
    const state = openState(directory, NOON, { mode: "read" });
    expect(await listPlans(state)).toHaveLength(3);
    await state.close();
  });

  test("mark the file before creating its first table, so that no kill leaves a file that looks foreign", () => {
    const sqlite = openCatalog(aDirectory(), NOON).sqlite;
    const pages = sqlite.query("pragma application_id").values();
    expect(pages).toEqual([[0x66666374]]);
    sqlite.close();
  });
});

describe("openCatalog() refuses, with one sentence,", () => {
  const refusal = (make: (path: string) => void) => {
    const directory = aDirectory();
    make(join(directory, "catalog.db"));
    try {
      openCatalog(directory, NOON).sqlite.close();
    } catch (error) {
      return error instanceof Error ? error.message.replace(directory, "…") : String(error);
    }
    return "nothing";
  };
  const made = (statement: string) => (path: string) => void new Database(path, { create: true }).run(statement);
  const edited = (statement: string) => (path: string) => {
    openCatalog(join(path, ".."), NOON).sqlite.close();
    const sqlite = new Database(path);
    sqlite.run(statement);
    sqlite.close();
  };

  test.each<[string, (path: string) => void, string]>([
    ["a file that is no database", (path) => writeFileSync(path, "some text ".repeat(100)), "it is not a database file"],
    ["another program's database", made("create table t (a)"), "it is not a fundfeed catalog.db"],
    ["another program's mark", made("pragma application_id = 7"), "it is not a fundfeed catalog.db"],
    [
      "the state in the catalog's place",
      (path) => openState(join(path, ".."), NOON) && new Database(path.replace("catalog", "state")).run("vacuum into ?", [path]),
      "it is not a fundfeed catalog.db",
    ],
    [
      "one that a newer program made",
      edited(`insert into migrations values (${migrations.catalog.length + 1}, 'x', 'x', 0)`),
      "a newer version of fundfeed made it",
    ],
    [
      "one that another text migrated",
      edited("update migrations set hash = 'x' where n = 1"),
      "its migration 0000_initial differs from this program's",
    ],
    [
      "a directory in its place",
      (path) => mkdirSync(path),
      "it cannot be opened: the directory and its files must be readable and writable",
    ],
  ])("%s", (_, make, reason) => {
    expect(refusal(make)).toBe(`Cannot open …/catalog.db: ${reason}`);
  });
});
