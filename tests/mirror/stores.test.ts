import { Database } from "bun:sqlite";
import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createExportFile } from "../../src/export/sqlite-file.ts";
import { openSqliteStore } from "../../src/mirror/sqlite-store.ts";
import type { MirrorEntry, Store } from "../../src/mirror/store.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { aPlace, everything } from "./mirrored.ts";

afterAll(dropScratch);

const at = (second: number) => `2026-03-01T12:00:0${second}.000Z`;
const anEntry = (id: string, second: number): MirrorEntry => {
  const event = { id: `${id}-${second}`, opportunity_id: id, detected_at: at(second) };
  return {
    ...{ id, at: at(second), text: JSON.stringify({ id, updated_at: at(second) }) },
    history: [{ id: event.id, at: event.detected_at, text: JSON.stringify(event) }],
  };
};
const pageOf = (entries: readonly MirrorEntry[]) => ({ entries, added: [] });
const complete = (second: number) => ({ since: at(second), newest: null, cursor: null, events: null });
const underWay = { since: null, newest: at(5), cursor: "next", events: "after" };

describe("a copy in SQLite", () => {
  test("belongs to one server, one choice of sources, and has histories or not", async () => {
    const place = aPlace();
    const store = place.open();
    await store.save(pageOf([]), complete(1));
    await store.close();
    for (const other of [{ events: false }, { source: ["SAM"] }, { baseUrl: "https://other.example/v1" }])
      expect(() => place.open({ ...everything, ...other })).toThrow(/^Cannot keep a copy in .*: it is a copy of .*; use another file$/);
    await place.open().close();
  });

  test("drops the pages of a restarted walk, but keeps its mark", async () => {
    const store = aPlace().open();
    await store.save(pageOf([anEntry("a", 1)]), complete(1));
    await store.begin(false);
    await store.save(pageOf([anEntry("b", 5)]), { ...underWay, since: at(1) });
    expect(await store.begin(true)).toEqual({ ...complete(1), events: "after" });
    await store.close();
  });
});

describe("a copy in SQLite", () => {
  test("knows the walk under way after it is reopened", async () => {
    const place = aPlace();
    const store = place.open();
    await store.save(pageOf([anEntry("a", 5)]), underWay);
    await store.close();
    const again = place.open();
    expect(await again.begin(false)).toEqual(underWay);
    await again.close();
  });

  test("saves a page and its walk, or neither", async () => {
    const store = aPlace().open();
    const page = [anEntry("a", 5), { ...anEntry("b", 5), text: undefined as unknown as string }];
    await expect(store.save(pageOf(page), underWay)).rejects.toThrow();
    expect(await store.begin(false)).toEqual({ since: null, newest: null, cursor: null, events: null });
    await store.close();
  });

  test.each(["a page without records", "the next walk, after a reader of the copy has ended"])("empties its log with %s", async (when) => {
    const { path, open } = aPlace();
    const store = open();
    await store.save(pageOf([]), complete(1));
    const reader = new Database(path, { readonly: true });
    reader.run("begin");
    if (when.includes("reader")) reader.query("select * from mirror").all();
    await store.save(pageOf([anEntry("a", 5)]), when.includes("reader") ? complete(5) : underWay);
    reader.run("rollback");
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    await store.save(pageOf([]), complete(5));
    expect(statSync(`${path}-wal`).size).toBe(0);
    reader.close();
    await store.close();
  });

  test("overwrites no other database, and no other file", () => {
    const path = join(aDirectory(), "other.db");
    const sqlite = new Database(path);
    sqlite.run("create table notes (text)");
    sqlite.close();
    expect(() => openSqliteStore(path, everything)).toThrow(`Cannot keep a copy in ${path}: it is not a fundfeed copy`);
    writeFileSync(path, "no database at all, although longer than the header of one would be: a hundred bytes and more of plain text");
    expect(() => openSqliteStore(path, everything)).toThrow(`Cannot keep a copy in ${path}: it is not a database file`);
  });
});

describe("a copy in SQLite that cannot be written", () => {
  const withPages = async () => {
    const { path, open } = aPlace();
    const store = open();
    for (let n = 0; n < 200; n++) await store.save(pageOf([anEntry(`a ${n}`, 1)]), underWay);
    await store.save(pageOf([]), complete(1));
    await store.close();
    return path;
  };

  test("because it was cut off or overwritten is called damaged, with what to do", async () => {
    const path = await withPages();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    expect(() => openSqliteStore(path, everything)).toThrow(`Cannot keep a copy in ${path}: it is damaged; start a new copy`);
    writeFileSync(path, bytes);
    const sqlite = new Database(path, { readonly: true });
    const { root = 0 } = sqlite.query<{ root: number }, []>("select max(rootpage) as root from sqlite_master").get() ?? {};
    sqlite.close();
    writeFileSync(path, bytes.fill(0xff, root * 4096)); // All but the first pages of the tables.
    const store = openSqliteStore(path, everything);
    await store.begin(false);
    const entries = Array.from({ length: 200 }, (_, n) => anEntry(`a ${n}`, 2));
    await expect(store.save(pageOf(entries), complete(2))).rejects.toThrow(`${path} is damaged; start a new copy`);
    await store.close();
  });

  test("because it is a pipe is refused at once", () => {
    const path = join(aDirectory(), "pipe.sqlite");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    expect(() => openSqliteStore(path, everything)).toThrow(`Cannot keep a copy in ${path}: it is not a regular file`);
    expect(() => createExportFile(path, { filter: "{}", made_at: "" })).toThrow("it exists and is not an export of this program");
  });
});

describe("two programs on one copy in SQLite", () => {
  test("can create it at the same moment", async () => {
    const { path, open } = aPlace();
    const query = Database.prototype.query as (this: Database, text: string) => never;
    const others: Store[] = [];
    let queries = 0;
    const spy = spyOn(Database.prototype, "query").mockImplementation(function (this: Database, text: string) {
      if (++queries === 2) {
        spy.mockRestore();
        others.push(open());
      }
      return query.call(this, text);
    });
    const store = openSqliteStore(path, everything);
    expect(others).toHaveLength(1);
    for (const each of [store, ...others]) await each.close();
  });

  const contents = (path: string) => {
    const sqlite = new Database(path, { readonly: true });
    const rows = sqlite.query("select updated_at, cursor from opportunities, mirror").values();
    sqlite.close();
    return rows;
  };

  test.each([
    ["the last one", complete(1), complete(5)],
    ["one of several", { since: null, newest: at(1), cursor: "next", events: null }, complete(5)],
    ["one of several, of a walk under way as well", { since: null, newest: at(1), cursor: "next", events: null }, underWay],
  ])("cannot put an older record over a newer one with a page that is %s", async (_, older, newer) => {
    const { path, open } = aPlace();
    const [slow, quick] = [open(), open()];
    await slow.begin(false);
    await quick.begin(false);
    await quick.save(pageOf([anEntry("a", 5)]), newer);
    await expect(slow.save(pageOf([anEntry("a", 1)]), older)).rejects.toThrow(`another program also writes to ${path}`);
    expect(contents(path)).toEqual([[at(5), newer.cursor]]);
    expect(await slow.begin(false)).toEqual(newer);
    await slow.save(pageOf([anEntry("a", 6)]), complete(6));
    expect(contents(path)).toEqual([[at(6), null]]);
    await slow.close();
    await quick.close();
  });
});

describe("a copy in SQLite whose file is gone", () => {
  const opened = async (told: string[]) => {
    const path = join(aDirectory(), "copy.sqlite");
    const store = openSqliteStore(path, everything, (message) => void told.push(message));
    await store.begin(false);
    await store.save(pageOf([anEntry("a", 5)]), underWay);
    return { path, store };
  };
  const idsIn = (path: string) => {
    const sqlite = new Database(path, { readonly: true });
    const found = sqlite.query<[string], []>("select id from opportunities order by id").values().flat();
    expect(sqlite.query("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    sqlite.close();
    return found;
  };

  test("begins a new copy, and says so, instead of writing to the removed file", async () => {
    const told: string[] = [];
    const { path, store } = await opened(told);
    rmSync(path);
    await expect(store.save(pageOf([anEntry("b", 5)]), complete(5))).rejects.toThrow(`${path} was removed or replaced`);
    expect(existsSync(path)).toBe(false);
    expect(await store.begin(false)).toEqual({ since: null, newest: null, cursor: null, events: null });
    expect(told).toEqual([`${path} was removed; a new copy begins`]);
    await store.save(pageOf([anEntry("c", 6)]), complete(6));
    await store.close();
    expect(idsIn(path)).toEqual(["c"]);
  });

  test("continues the copy that took its place, without the old file's log", async () => {
    const told: string[] = [];
    const other = aPlace();
    const replacement = other.open();
    await replacement.begin(false);
    for (let n = 0; n < 50; n++) await replacement.save(pageOf([anEntry(`other ${n}`, 1)]), underWay);
    await replacement.save(pageOf([]), complete(1));
    await replacement.close();
    const { path, store } = await opened(told);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    renameSync(other.path, path);
    expect(await store.begin(false)).toEqual(complete(1));
    expect(told).toEqual([`${path} was replaced; the file that is there now is continued`]);
    await store.save(pageOf([anEntry("other 0", 6)]), complete(6));
    await store.close();
    expect(idsIn(path)).toHaveLength(50);
  });

  test("is not continued in a file of something else, now or later", async () => {
    const { path, store } = await opened([]);
    rmSync(path);
    writeFileSync(path, "my notes, which are longer than the header of a database and must stay as they are, whatever happens to the copy");
    for (let turn = 0; turn < 2; turn++) await expect(store.begin(false)).rejects.toThrow("it is not a database file");
    expect(readFileSync(path, "utf8")).toStartWith("my notes");
    rmSync(path);
    expect(await store.begin(false)).toEqual({ since: null, newest: null, cursor: null, events: null });
    await store.close();
  });
});
