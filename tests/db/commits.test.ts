import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitMark } from "../../db/commits.ts";
import { openState } from "../../db/open.ts";

test("commitMark() differs after every commit of another connection, whatever happens to the log in between", () => {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
  const reader = openState(directory, 0).sqlite;
  const mark = commitMark(reader);
  const version = () => reader.query<{ data_version: number }, []>("pragma data_version").get()?.data_version;
  let writer = openState(directory, 0).sqlite;
  const deeds = [
    () => writer.run("update plans set daily = daily + 1"),
    () => writer.run("update plans set daily = daily"),
    () => writer.run("pragma wal_checkpoint(truncate)"),
    () => writer.run("pragma wal_checkpoint(restart)"),
    () => {
      writer.close();
      writer = openState(directory, 0).sqlite;
    },
  ];
  const seen = new Set<string>();
  for (let n = 0; n < 300; n++) {
    const [before, versionBefore] = [mark(), version()];
    deeds[(n * n + (n % 7)) % deeds.length]?.();
    if (version() !== versionBefore) {
      expect(Object.is(mark(), before) && !Number.isNaN(before)).toBe(false);
      seen.add(String(mark()));
    }
  }
  expect(seen.size).toBeGreaterThan(50);
  writer.close();
  reader.close();
  rmSync(directory, { recursive: true });
});

test("commitMark() always differs from itself where there is nothing to map", () => {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
  const sqlite = new Database(join(directory, "plain.db"), { create: true });
  expect(commitMark(sqlite)()).toBeNaN();
  sqlite.close();
  rmSync(directory, { recursive: true });
});
