import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commitMark } from "../../../db/sqlite/commit-counter.ts";
import { openState } from "../../../db/sqlite/open.ts";

test("commitMark() changes with every commit of another connection, also when the log is written back or reset", () => {
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

// Not on other systems: only Linux shows its locks.
test.skipIf(!existsSync("/proc/locks"))(
  "commitMark() leaves SQLite its lock on the wal-index, without which another process would begin it anew",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
    const { sqlite } = openState(directory, 0);
    sqlite.query("select 1 from plans").get();
    const { ino } = statSync(join(directory, "state.db-shm"));
    const locks = () => readFileSync("/proc/locks", "utf8").match(new RegExp(`READ +${process.pid} \\S+:${ino} 128 128$`, "gm"))?.length;
    expect(locks()).toBe(1);
    const mark = commitMark(sqlite);
    mark();
    expect(locks()).toBe(1);
    sqlite.close();
    rmSync(directory, { recursive: true });
  },
);
