/** `damageIn`: what it reports, what it reads and what it leaves behind. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { damageIn } from "../../../db/sqlite/damage.ts";
import { overwriteRootPage } from "../../support/damage.ts";
import { aDirectory, dropScratch } from "../../support/imports.ts";

afterAll(dropScratch);

const ROWS = 60_000;

/** A file of about 20 MB whose index has another order than its table, so that looking up the rows in it reads pages in random order. */
function aFileWithRandomIndex(): string {
  const path = join(aDirectory(), "file.db");
  const sqlite = new Database(path, { create: true });
  sqlite.run("create table numbers (key integer primary key, text text)");
  sqlite.run(`insert into numbers with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})
    select i, hex(i * 2654435761 % 4294967296) || hex(zeroblob(60)) from n`);
  sqlite.run("create index numbers_text on numbers (text)");
  sqlite.close(true);
  return path;
}

/** Bytes that this process has read from files so far. Only Linux counts them. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);

test.skipIf(!existsSync("/proc/self/io"))("a sound file is read only a few times, and the cache is as large as before", () => {
  const path = aFileWithRandomIndex();
  const sqlite = new Database(path, { readonly: true });
  sqlite.run("pragma cache_size = -1000");
  const before = bytesRead();
  expect(damageIn(sqlite)).toEqual([]);
  expect((bytesRead() - before) / statSync(path).size).toBeLessThan(3);
  expect(sqlite.query("pragma cache_size").get()).toEqual({ cache_size: -1000 });
  sqlite.close(true);
});

test("damage is reported", () => {
  const path = aFileWithRandomIndex();
  overwriteRootPage(path, "numbers_text");
  const sqlite = new Database(path, { readonly: true });
  expect(damageIn(sqlite).join()).toContain("btreeInitPage");
  sqlite.close(true);
});
