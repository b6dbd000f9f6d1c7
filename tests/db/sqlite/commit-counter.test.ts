import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openState } from "../../../db/sqlite/open.ts";
import { waitFor } from "../../support/wait-for.ts";

test("commits() changes with every commit of another connection, also when the log is written back or reset", async () => {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
  const state = openState(directory, 0);
  const mark = state.commits;
  const version = () => state.sqlite.query<{ data_version: number }, []>("pragma data_version").get()?.data_version;
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
  await state.close();
  expect(mark()).toBeNaN();
  rmSync(directory, { recursive: true });
});

// Not on other systems: only Linux shows its locks.
test.skipIf(!existsSync("/proc/locks"))(
  "commits() leaves SQLite its lock on the wal-index, without which another process would begin it anew",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
    const state = openState(directory, 0);
    state.sqlite.query("select 1 from plans").get();
    const { ino } = statSync(join(directory, "state.db-shm"));
    const lock = new RegExp(`READ +${process.pid} \\S+:${ino} 128 128$`, "m");
    /** The list is read in parts, and locks that come and go meanwhile can repeat or hide one. */
    const isHeld = () => waitFor("the lock is held", () => lock.test(readFileSync("/proc/locks", "utf8")));
    await isHeld();
    const other = openState(directory, 0);
    for (const { commits } of [state, other]) commits();
    await isHeld();
    await other.close();
    await isHeld();
    await state.close();
    rmSync(directory, { recursive: true });
  },
);

test.skipIf(!existsSync("/proc/self/fd"))("a database that is closed leaves no file open", async () => {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
  const state = openState(directory, 0);
  state.commits();
  await state.close();
  const open = readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      return []; // The descriptor that read the directory.
    }
  });
  expect(open.filter((path) => path.startsWith(directory))).toEqual([]);
  rmSync(directory, { recursive: true });
});
