/** What begins while a backup is put back: it waits for that, or is refused; nothing that it was told to be done is lost. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { restore } from "../../db/sqlite/backup.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { aHome, dropHomes, type Home } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropHomes);
afterAll(dropScratch);

const content = (id: string) => ({ source: { code: "OWN", opportunity_id: id }, title: `Record ${id}` });
const record = (id: string) => `${JSON.stringify(content(id))}\n`;

/** A home with a data directory and a backup of what it held earlier. */
async function aHomeWithBackup(): Promise<Home> {
  const home = aHome();
  await fillWithBackup(home.at("fundfeed-data"), home.at("copy"));
  return home;
}

async function fillWithBackup(data: string, copy: string): Promise<void> {
  for (const args of [
    ["import", "records", aFile([content("1")])],
    ["plans", "set", "trial", "--daily", "1000"],
    ["backup", copy],
    ["import", "records", aFile([content("later")])],
  ])
    expect((await fundfeed([...args, "--data", data])).code).toBe(0);
}

const exported = async (data: string) =>
  (await fundfeed(["export", "--data", data])).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).title)
    .sort();

/** The files that a process has open. */
function openFilesOf(pid: number): string[] {
  const descriptors = `/proc/${pid}/fd`;
  return readdirSync(descriptors).flatMap((name) => {
    try {
      return [readlinkSync(join(descriptors, name))];
    } catch {
      return []; // It was closed meanwhile.
    }
  });
}

/** Waits until a process has the catalog open: then it is under way, and what it does is not begun later. Blocks, because a restore does. */
function waitUntilOpen(pid: number, catalog: string): void {
  let seen: string[] = [];
  for (const deadline = Date.now() + 240_000; Date.now() < deadline; Bun.sleepSync(5)) {
    if (!existsSync(`/proc/${pid}/fd`)) throw new Error(`The process ended before it opened ${catalog}; its last files were ${seen}`);
    seen = openFilesOf(pid);
    if (seen.some((path) => path.startsWith(catalog))) return;
  }
  throw new Error(`Waited 240 s in vain: the process opens ${catalog}; it has ${seen}`);
}

/** Puts the backup back, and begins something as soon as the first file is being copied, until that has the catalog open. */
function restoreWhile<T>(home: Home, data: string, begin: () => T): T {
  const begun: T[] = [];
  restore(home.at("copy"), home.at(data), {
    copy: (from, to) => {
      copyFileSync(from, to);
      if (begun.length > 0) return;
      begun.push(begin());
      waitUntilOpen(home.newest(), join(home.at(data), "catalog.db"));
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
  expect(await exported(home.at(data))).toEqual(["Record 1", "Record meanwhile"]);
  expect((await fundfeed(["check", "--data", home.at(data)])).out).toBe("No problems found\n");
  expect(readdirSync(home.at(data)).sort()).toEqual(["catalog.db", "import.lock", "state.db"]);
});

test("a server that is begun meanwhile waits, and serves what was put back", async () => {
  const home = await aHomeWithBackup();
  const key = (await fundfeed(["keys", "create", "--account", "A", "--data", home.at("copy")])).out.trim();
  const server = await restoreWhile(home, "fundfeed-data", () => home.serve());
  const { data } = (await (await server.get("/opportunities", key)).json()) as { data: { title: string }[] };
  expect(data.map(({ title }) => title)).toEqual(["Record 1"]);
  expect(await server.stop()).toBe(0);
  expect((await fundfeed(["check", "--data", home.at("fundfeed-data")])).out).toBe("No problems found\n");
});

/** A data directory and a backup of what it held earlier, made in this process. */
async function aDirectoryWithBackup() {
  const [data, copy] = [aDirectory(), join(aDirectory(), "copy")];
  await fillWithBackup(data, copy);
  return { data, copy };
}

test("an unusable backup changes nothing, also in an empty directory", async () => {
  const [{ data, copy }, empty] = [await aDirectoryWithBackup(), aDirectory()];
  const before = (await fundfeed(["export", "--data", data])).out;
  const fail = () => {
    throw new Error("it broke");
  };
  for (const place of [data, empty]) expect(() => restore(copy, place, { copy: fail })).toThrow("it broke");
  expect((await fundfeed(["export", "--data", data])).out).toBe(before);
  expect(readdirSync(empty)).toEqual([]);
});

test("restored files are readable by their owner only, whatever the permissions of the backup", async () => {
  const { data, copy } = await aDirectoryWithBackup();
  for (const name of readdirSync(copy)) chmodSync(join(copy, name), 0o644);
  for (const place of [data, join(aDirectory(), "new")]) {
    expect((await fundfeed(["restore", copy, "--data", place])).code).toBe(0);
    for (const name of ["catalog.db", "state.db"]) expect([name, statSync(join(place, name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});

test("a backup is not restored under an import or a server, which go on", async () => {
  const { data, copy } = await aDirectoryWithBackup();
  const db = openCatalog(data, NOON);
  const { code, err } = await fundfeed(["restore", copy, "--data", data]);
  expect([code, err]).toEqual([1, expect.stringContaining("catalog.db is in use: a server or an import has it open; stop it first")]);
  expect(db.checkFile()).toBe("intact");
  expect(await (await aCatalog(db)).take([content("2")])).toMatchObject({ added: 1 });
  await db.close();
});
