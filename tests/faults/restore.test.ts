/** What begins while a backup is put back: it waits for that, or is refused; nothing that it was told to be done is lost. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { restore } from "../../db/sqlite/backup.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";

afterAll(dropHomes);
setDefaultTimeout(300_000); // Processes on a busy machine take their time.

const record = (id: string) => `${JSON.stringify({ source: { code: "OWN", opportunity_id: id }, title: `Record ${id}` })}\n`;

/** A home with a data directory and a backup of what it held earlier. */
async function aHomeWithBackup(): Promise<Home> {
  const home = aHome();
  await home.key();
  await home.run(["import", "records", "-"], { stdin: record("1") });
  expect((await home.run(["backup", "copy"])).code).toBe(0);
  await home.run(["import", "records", "-"], { stdin: record("later") });
  return home;
}

const exported = async (home: Home, data: string) =>
  (await home.run(["export", "--data", data])).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).title)
    .sort();

/** Whether a process has a file of this directory open: then it is under way, and what it does is not begun later. */
function hasOpen(pid: number, directory: string): boolean {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).some((name) => {
    try {
      return readlinkSync(join(descriptors, name)).startsWith(join(directory, "catalog.db"));
    } catch {
      return false; // It was closed meanwhile.
    }
  });
}

/** Puts the backup back, and begins something as soon as the first file is being copied, until that has the catalog open. */
function restoreWhile<T>(home: Home, data: string, begin: () => T): T {
  const begun: T[] = [];
  restore(home.at("copy"), home.at(data), {
    copy: (from, to) => {
      copyFileSync(from, to);
      if (begun.length > 0) return;
      begun.push(begin());
      while (!hasOpen(home.newest(), home.at(data))) Bun.sleepSync(5);
      Bun.sleepSync(300); // So that it comes as far as it gets.
    },
  });
  return begun[0] as T;
}

test.each([
  ["over other files", "fundfeed-data"],
  ["into an empty directory", "new"],
])("an import that is begun while a backup is put back %s waits, and is kept", async (_, data) => {
  const home = await aHomeWithBackup();
  mkdirSync(home.at("new"));
  const importing = restoreWhile(home, data, () => home.start(["import", "records", "-", "--data", data], { stdin: record("meanwhile") }));
  expect([await importing.exited, await importing.stderr.text()]).toEqual([0, ""]);
  expect(await exported(home, data)).toEqual(["Record 1", "Record meanwhile"]);
  expect((await home.run(["check", "--data", data])).out).toBe("No problems found\n");
  expect(readdirSync(home.at(data)).sort()).toEqual(["catalog.db", "import.lock", "state.db"]);
});

test("a server that is begun meanwhile waits, and serves what was put back", async () => {
  const home = await aHomeWithBackup();
  const key = (await home.run(["keys", "create", "--account", "A", "--data", "copy"])).out.trim();
  const server = await restoreWhile(home, "fundfeed-data", () => home.serve());
  const { data } = (await (await server.get("/opportunities", key)).json()) as { data: { title: string }[] };
  expect(data.map(({ title }) => title)).toEqual(["Record 1"]);
  expect(await server.stop()).toBe(0);
  expect((await home.run(["check"])).out).toBe("No problems found\n");
});

test("an unusable backup changes nothing, also in an empty directory", async () => {
  const home = await aHomeWithBackup();
  const before = await exported(home, "fundfeed-data");
  const fail = () => {
    throw new Error("it broke");
  };
  for (const data of ["fundfeed-data", "new"]) expect(() => restore(home.at("copy"), home.at(data), { copy: fail })).toThrow("it broke");
  expect(await exported(home, "fundfeed-data")).toEqual(before);
  expect(readdirSync(home.at("new"))).toEqual([]);
});

test("restored files are readable by their owner only, whatever the permissions of the backup", async () => {
  const home = await aHomeWithBackup();
  for (const name of readdirSync(home.at("copy"))) chmodSync(home.at(`copy/${name}`), 0o644);
  for (const data of ["fundfeed-data", "new"]) {
    expect((await home.run(["restore", "copy", "--data", data])).code).toBe(0);
    for (const name of ["catalog.db", "state.db"]) expect([name, statSync(home.at(`${data}/${name}`)).mode & 0o777]).toEqual([name, 0o600]);
  }
});
