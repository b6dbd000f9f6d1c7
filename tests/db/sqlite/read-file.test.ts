import { afterAll, expect, test } from "bun:test";
import { copyFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../../db/sqlite/open.ts";
import { openToRead } from "../../../db/sqlite/read-file.ts";
import { aDirectory, dropScratch, NOON } from "../../support/imports.ts";

afterAll(dropScratch);

test("openToRead() opens a file that another program is just closing", async () => {
  const directory = aDirectory();
  await openCatalog(directory, NOON).close();
  const path = join(directory, "catalog.db");
  writeFileSync(`${path}-wal`, ""); // For a moment, a program that closes the file leaves it like this.
  const { sqlite, finish } = openToRead(path, 0, (from, to) => {
    rmSync(`${path}-wal`, { force: true });
    copyFileSync(from, to);
  });
  expect(sqlite.query("select count(*) from sources").values()).toEqual([[10]]);
  sqlite.close(true);
  finish();
  expect(readdirSync(directory)).toEqual(["catalog.db"]);
});
