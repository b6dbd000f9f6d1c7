/**
 * Database files that operators replace or remove while a program uses them. A server stops, a command fails, and the log of the
 * old file never damages the new one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { hasForeignLog } from "../../db/sqlite/log-owner.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { saveUse } from "../../src/accounts/access.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { openStores, type Stores } from "../../src/server/stores.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aCatalog, aDirectory, contentsOf, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const records = (title: string) =>
  Array.from({ length: 50 }, (_, n) => ({ source: { code: "OWN", opportunity_id: `${title}${n}` }, title }));

/** The same database twice: in `new`, as another installation closed it, and in `copy`, as a backup. */
let made = "";
let contentsOfNew = "";
beforeAll(async () => {
  made = aDirectory();
  const [catalog, state] = [openCatalog(join(made, "new"), NOON), openState(join(made, "new"), NOON)];
  await (await aCatalog(catalog)).take(records("New"));
  contentsOfNew = await contentsOf(catalog);
  await Promise.all([catalog.close(), state.close()]);
  expect((await fundfeed(["backup", join(made, "copy"), "--data", join(made, "new")])).code).toBe(0);
});

type From = "new" | "copy";

/** A directory with the data directory `data` and the new files in `next`. */
function aPlace(from: From): string {
  const place = aDirectory();
  mkdirSync(join(place, "data"));
  mkdirSync(join(place, "next"));
  for (const name of ["catalog.db", "state.db"]) cpSync(join(made, from, name), join(place, "next", name));
  return place;
}

/** The same, with the databases of a server, whose catalog has a log. */
async function aServedPlace(from: From): Promise<{ place: string; stores: Stores }> {
  const place = aPlace(from);
  const stores = await openStores({ data: join(place, "data") }, NOON, () => undefined);
  await (await aCatalog(stores.model.db)).take(records("Old"));
  return { place, stores };
}

function sh(place: string, script: string): void {
  const ran = Bun.spawnSync(["sh", "-euc", script], { cwd: place });
  if (ran.exitCode !== 0) throw new Error(`${script}: ${ran.stderr}`);
}

async function contentsIn(directory: string): Promise<string> {
  const db = openCatalog(directory, NOON);
  expect(await db.storageFaults()).toEqual([]);
  const contents = await contentsOf(db);
  await db.close();
  return contents;
}

/** The new files are as they were, and no log is left. */
async function expectNewIsWhole(place: string): Promise<void> {
  expect(readdirSync(join(place, "data")).filter((name) => /wal|shm/.test(name))).toEqual([]);
  expect((await contentsIn(join(place, "data"))) === contentsOfNew).toBe(true);
}

/** Each is a shell command that puts the files of `next` into the data directory. */
const ways: [string, string][] = [
  ["mv of the catalog", "mv next/catalog.db data/catalog.db"],
  // Without --inplace, it copies to a temporary name and renames.
  ["rsync of the catalog", "cp next/catalog.db data/.catalog.db.x; mv data/.catalog.db.x data/catalog.db"],
  [
    "rsync --delete of the directory",
    "for n in catalog state; do cp next/$n.db data/.$n.x; mv data/.$n.x data/$n.db; done; rm -f data/*-wal data/*-shm data/*.owner",
  ],
  ["install of the catalog", "install -m 0600 next/catalog.db data/catalog.db"],
  ["rm and cp of the catalog", "rm data/catalog.db; cp next/catalog.db data/catalog.db"],
  ["mv of both files", "mv next/catalog.db next/state.db data/"],
  ["rm -rf and cp -r of the directory", "rm -rf data; cp -r next data"],
  ["mv of the directory", "mv data away; mv next data"],
];
const all = ways
  .flatMap(([name, way]) => (["new", "copy"] as const).map((from) => [name, from, way] as const))
  // Of backups, one way.
  .filter(([name, from]) => from === "new" || name === "mv of the catalog");

describe("the databases of a server", () => {
  test.each(all)("notice %s (%s), write nothing more, and leave the new files intact", async (_, from, way) => {
    const { place, stores } = await aServedPlace(from);
    expect(stores.areIntact()).toBe(true);
    sh(place, way);
    await expect(stores.statusDb.run(rawSql("insert into settings values ('late', x'00')"))).rejects.toThrow(
      /catalog\.db was (replaced by another file|removed) while/,
    );
    expect(stores.areIntact()).toBe(false);
    await stores.close();
    await expectNewIsWhole(place);
  });

  test.each(all)("are closed after %s (%s) without having noticed it, and leave the new files intact", async (_, from, way) => {
    const { place, stores } = await aServedPlace(from);
    sh(place, way);
    await stores.close();
    await expectNewIsWhole(place);
  });

  test("notice a state that is replaced, and count no use in it", async () => {
    const { place, stores } = await aServedPlace("new");
    sh(place, "mv next/state.db data/state.db");
    expect(stores.areIntact()).toBe(false);
    await expect(stores.access.db.run(rawSql("delete from use"))).rejects.toThrow("state.db was replaced by another file");
    await saveUse(stores.access); // There is none to save.
    await stores.close();
  });

  test("leave what was in the log in a catalog that is moved elsewhere", async () => {
    const { place, stores } = await aServedPlace("new");
    const old = await contentsOf(stores.model.db);
    sh(place, "mkdir aside; mv data/catalog.db aside/; mv next/catalog.db data/");
    expect(stores.areIntact()).toBe(false);
    await stores.close();
    await expectNewIsWhole(place);
    expect((await contentsIn(join(place, "aside"))) === old).toBe(true);
  });

  test.each([
    ["a catalog that is moved away", "mkdir aside; mv data/catalog.db aside/", "mv aside/catalog.db data/"],
    ["a data directory that is moved away", "mv data away", "mv away data"],
  ])("notice %s, and leave what was in the log in it", async (_, away, back) => {
    const { place, stores } = await aServedPlace("new");
    const old = await contentsOf(stores.model.db);
    sh(place, away);
    expect(stores.areIntact()).toBe(false);
    await stores.close();
    sh(place, back);
    expect((await contentsIn(join(place, "data"))) === old).toBe(true);
  });

  test("leave no log behind for a catalog that is removed, so that a new one can be made", async () => {
    const { place, stores } = await aServedPlace("new");
    sh(place, "rm data/catalog.db");
    expect(stores.areIntact()).toBe(false);
    await stores.close();
    sh(place, "cp next/catalog.db data/catalog.db");
    await expectNewIsWhole(place);
  });
});

test.each([
  ["replaced", "mv next/catalog.db next/state.db data/"],
  ["removed", "rm -rf data"],
])("a server whose files are %s stops with exit code 1 and one sentence, and answers nothing more", async (_, way) => {
  const place = aPlace("new");
  const [data, err]: [string, string[]] = [join(place, "data"), []];
  const listening = Promise.withResolvers<string>();
  const machine = machineOf(
    {},
    { printLine: (line) => listening.resolve(line.replace("listening on ", "")), printError: (line) => err.push(line) },
  );
  const writeLog = (line: string) => void (line.includes('"level":"notice"') || err.push(line));
  const ended = runCommandLine(["serve", "--port", "0", "--data", data, "--log-level", "failure"], { ...machine, writeLog });
  const base = await listening.promise;
  expect((await fetch(`${base}/meta`)).status).toBe(200);
  sh(place, way);
  expect(await ended).toBe(1);
  expect(err).toEqual([`Cannot go on: the files in ${data} were replaced or removed; start the server again to serve what is there now`]);
  await expect(fetch(`${base}/meta`)).rejects.toThrow();
  if (way.includes("next")) await expectNewIsWhole(place);
});

test.each(["mv", "cp"])("the pages of browse show the new files at once (%s)", async (verb) => {
  const place = aPlace("copy");
  const data = join(place, "data");
  const db = openCatalog(data, NOON);
  await (await aCatalog(db)).take(records("Old"));
  await db.close();
  const [listening, stopping] = [Promise.withResolvers<string>(), Promise.withResolvers<() => void>()];
  const machine = machineOf({}, { printLine: (line) => listening.resolve(line.replace("listening on ", "")), printError: () => undefined });
  const ended = runCommandLine(["browse", "--port", "0", "--data", data], { ...machine, onStopSignal: stopping.resolve });
  const page = async () => (await fetch(new URL("/?sort=updated", await listening.promise))).text();
  expect(await page()).toContain("Old");
  sh(place, `${verb} next/catalog.db data/catalog.db`);
  const shown = await page();
  expect([shown.includes("Old"), shown.includes("New")]).toEqual([false, true]);
  (await stopping.promise)();
  expect(await ended).toBe(0);
});

describe("an import", () => {
  test.each(all)("fails at %s (%s), and the new file stays intact", async (_, from, way) => {
    const place = aPlace(from);
    const db = openCatalog(join(place, "data"), NOON);
    await (await aCatalog(db)).take(records("Old"));
    const importing = db.transaction(async (sql) => {
      await sql.run(rawSql("insert into settings values ('late', x'00')"));
      sh(place, way);
    });
    await expect(importing).rejects.toThrow(/catalog\.db was (replaced by another file|removed) while .*run it again/);
    await db.close();
    await expectNewIsWhole(place);
  });
});

describe("after another program", () => {
  /** Starts a program that has stored something in the catalog of the place, which is in its log. It ends when its input does. */
  async function aWriter(place: string) {
    const script = `import { openCatalog } from ${JSON.stringify(join(import.meta.dir, "../../db/sqlite/open.ts"))};
      const db = openCatalog(${JSON.stringify(join(place, "data"))}, 0);
      db.sqlite.run("insert into settings values ('stored', randomblob(100000))");
      console.log("stored");
      for await (const _ of console) break;
      await db.close();`;
    const writer = Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    await writer.stdout.getReader().read();
    return writer;
  }
  /** A place whose catalog has the log of a killed program. */
  async function aPlaceAfterKill(): Promise<string> {
    const place = aPlace("copy");
    const writer = await aWriter(place);
    writer.kill("SIGKILL");
    await writer.exited;
    return place;
  }
  const storedIn = async (data: string) => {
    const db = openCatalog(data, NOON);
    const [row] = await db.all(rawSql<{ bytes: number }>("select length(value) as bytes from settings where name = 'stored'"));
    await db.close();
    return row?.bytes;
  };

  test.each(["mv", "cp"])("was killed, a backup next to its log (%s) is refused until the log is removed", async (way) => {
    const place = await aPlaceAfterKill();
    const path = join(place, "data/catalog.db");
    sh(place, `${way} next/catalog.db data/catalog.db`);
    expect(hasForeignLog(path)).toBe(true);
    if (way === "mv") {
      const { code, err } = await fundfeed(["export", "--data", join(place, "data")]);
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/the log .*-wal belongs to a file that was replaced.*remove the log and .*-shm/),
      ]);
    }
    sh(place, "rm data/catalog.db-*");
    await expectNewIsWhole(place);
  });

  test("was killed, a copied or moved data directory opens with what is in its log", async () => {
    const place = await aPlaceAfterKill();
    cpSync(join(place, "data"), join(place, "elsewhere"), { recursive: true });
    renameSync(join(place, "data"), join(place, "moved"));
    for (const data of ["elsewhere", "moved"]) expect(await storedIn(join(place, data))).toBe(100_000);
    rmSync(join(place, "moved"), { recursive: true });
  });

  test("whose file was replaced, a command waits until that one has removed its log", async () => {
    const place = aPlace("copy");
    const writer = await aWriter(place);
    sh(place, "mv next/catalog.db data/catalog.db");
    expect(hasForeignLog(join(place, "data/catalog.db"))).toBe(true);
    writer.stdin.write("end\n");
    await writer.stdin.end();
    await expect(contentsIn(join(place, "data"))).resolves.toBe(contentsOfNew);
    expect(await writer.exited).toBe(0);
  });
});
