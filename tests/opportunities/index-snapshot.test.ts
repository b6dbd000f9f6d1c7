import { afterAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomOf } from "../../bench/generate.ts";
import { type CatalogFile, openCatalog } from "../../db/sqlite/open.ts";
import { keepSnapshot, readSnapshot, SNAPSHOT_NAME, writeSnapshot } from "../../src/opportunities/index-snapshot.ts";
import { createReadModel, type ReadModel, refresh } from "../../src/opportunities/read-model.ts";
import { checkListIndex } from "../support/check-list-index.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
const ROUNDS = Number(process.env.FUNDFEED_SNAPSHOT_ROUNDS ?? 2);

afterAll(dropScratch);

type Opened = { directory: string; path: string; db: CatalogFile };

function aCatalogFile(): Opened {
  const directory = aDirectory();
  return { directory, path: join(directory, SNAPSHOT_NAME), db: openFast(directory) };
}

function openFast(directory: string): CatalogFile {
  const db = openCatalog(directory, NOON);
  db.sqlite.run("pragma synchronous = off");
  return db;
}

const aRecord = (n: number, version: number) =>
  anOpportunity({ source: { code: `S${n % 4}`, opportunity_id: `N${n}` }, title: `T${n}, version ${version}` });

/** The catalog, and a count of the records that it returned. */
function countingRows(db: CatalogFile): { db: CatalogFile; rows: () => number } {
  let rows = 0;
  return {
    db: {
      ...db,
      all: async (query, ...values) => {
        const all = await db.all(query, ...values);
        rows += (all as { seq?: number }[]).filter(({ seq }) => seq !== undefined).length;
        return all;
      },
    },
    rows: () => rows,
  };
}

const openWith = (db: CatalogFile, path: string) => createReadModel(db, { readSnapshot: (...given) => readSnapshot(path, ...given) });

/** The live slots of the index, oldest first. */
function contentsOf({ index }: ReadModel): number[][] {
  checkListIndex(index);
  return Array.from({ length: index.end - 1 }, (_, number) => number + 1)
    .filter((slot) => index.facets[slot] !== 0)
    .map((slot) => [index.times[slot], index.seqs[slot], index.facets[slot]] as number[]);
}

async function expectExact(db: CatalogFile, path: string): Promise<void> {
  expect(contentsOf(await openWith(db, path))).toEqual(contentsOf(await createReadModel(db)));
}

test("a server loads the snapshot, and reads only newer records from the catalog", async () => {
  const { db, path, directory } = aCatalogFile();
  await storeRecords(
    db,
    Array.from({ length: 400 }, (_, n) => aRecord(n, 1)),
    NOON,
  );
  const model = await createReadModel(db);
  await writeSnapshot(model, path);
  expect([statSync(path).mode & 0o777, readdirSync(directory).filter((name) => name.startsWith("index"))]).toEqual([
    0o600,
    [SNAPSHOT_NAME],
  ]);

  await storeRecords(db, [aRecord(7, 2), aRecord(500, 1)], NOON);
  const counting = countingRows(db);
  const opened = await openWith(counting.db, path);
  expect(counting.rows()).toBeLessThan(205 + 2); // The compared records and the two new ones.
  expect(contentsOf(opened)).toEqual(contentsOf(await createReadModel(db)));
  await db.close();
});

test("a damaged snapshot is not used", async () => {
  const { db, path } = aCatalogFile();
  await storeRecords(
    db,
    Array.from({ length: 300 }, (_, n) => aRecord(n, 1)),
    NOON,
  );
  await writeSnapshot(await createReadModel(db), path);
  const whole = readFileSync(path);
  const expected = contentsOf(await createReadModel(db));
  const isUsed = async () => {
    const counting = countingRows(db);
    expect(contentsOf(await openWith(counting.db, path))).toEqual(expected);
    return counting.rows() < 300;
  };
  expect(await isUsed()).toBe(true);
  for (let at = 0; at < whole.length; at += 97) {
    const damaged = Buffer.from(whole);
    damaged[at] = (damaged[at] as number) ^ 1;
    writeFileSync(path, damaged);
    expect({ at, isUsed: await isUsed() }).toEqual({ at, isUsed: false });
  }
  for (const length of [0, 1, 15, 16, 17, whole.length - 17, whole.length - 16, whole.length - 1]) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    expect({ length, isUsed: await isUsed() }).toEqual({ length, isUsed: false });
  }
  rmSync(path);
  expect(await isUsed()).toBe(false);
  await db.close();
}, 300_000);

test("another catalog's snapshot is not used", async () => {
  const [one, other] = [aCatalogFile(), aCatalogFile()];
  for (const { db } of [one, other])
    await storeRecords(
      db,
      Array.from({ length: 300 }, (_, n) => aRecord(n, 1)),
      NOON,
    );
  await writeSnapshot(await createReadModel(one.db), one.path);
  const counting = countingRows(other.db);
  await openWith(counting.db, one.path);
  expect(counting.rows()).toBeGreaterThanOrEqual(300);
  await Promise.all([one.db.close(), other.db.close()]);
});

test("a snapshot that is newer than a restored backup is not used", async () => {
  const { db, path, directory } = aCatalogFile();
  const backup = join(aDirectory(), "catalog.db");
  const change = (by: CatalogFile, to: number, version: number) =>
    storeRecords(
      by,
      Array.from({ length: to }, (_, n) => aRecord(n, version)),
      NOON,
    );
  await change(db, 300, 1);
  db.sqlite.query("vacuum into ?").run(backup);
  await change(db, 150, 2);
  await writeSnapshot(await createReadModel(db), path);
  await db.close();
  for (const name of ["catalog.db", "catalog.db-wal", "catalog.db-shm"]) rmSync(join(directory, name), { force: true });
  copyFileSync(backup, join(directory, "catalog.db"));
  const restored = openFast(directory);
  await change(restored, 1, 3);
  await expectExact(restored, path);
  await restored.close();
});

test("a snapshot is not used if another import has the id of its newest import", async () => {
  const { db, path } = aCatalogFile();
  await storeRecords(
    db,
    Array.from({ length: 300 }, (_, n) => aRecord(n, 1)),
    NOON,
  );
  db.sqlite.run(
    "insert into imports (format, files, sources, snapshot, started_at, counts) values ('records', '[]', '[]', 0, 1, '{}') on conflict do nothing",
  );
  await writeSnapshot(await createReadModel(db), path);
  db.sqlite.run("update imports set started_at = started_at + 1");
  const counting = countingRows(db);
  await openWith(counting.db, path);
  expect(counting.rows()).toBe(300);
  await db.close();
});

test("the index matches the catalog after any sequence of writes, restores and snapshots", async () => {
  let used = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const random = randomOf(SEED, round);
    const below = (limit: number) => Math.floor(random() * limit);
    let { directory, path, db } = aCatalogFile();
    const backup = join(aDirectory(), "catalog.db");
    let version = 0;
    for (let step = 0; step < 30; step++) {
      version++;
      const records = Array.from({ length: 1 + below(40) }, () => aRecord(below(300), version));
      await storeRecords(db, records, NOON + (random() < 0.5 ? 0 : version));
      if (random() < 0.3) {
        const model = await createReadModel(db);
        const writing = writeSnapshot(model, path);
        if (random() < 0.5) await storeRecords(db, [aRecord(below(300), ++version)], NOON);
        await refresh(model);
        await writing;
      }
      if (random() < 0.2) {
        rmSync(backup, { force: true });
        db.sqlite.query("vacuum into ?").run(backup);
      }
      if (random() < 0.2 && existsSync(backup)) {
        await db.close();
        for (const name of ["catalog.db", "catalog.db-wal", "catalog.db-shm"]) rmSync(join(directory, name), { force: true });
        copyFileSync(backup, join(directory, "catalog.db"));
        db = openFast(directory);
        if (random() < 0.5) await storeRecords(db, [aRecord(below(300), ++version)], NOON);
      }
      const counting = countingRows(db);
      await expectExact(counting.db, path);
      const { index } = await createReadModel(db);
      if (existsSync(path) && counting.rows() < 2 * index.end) used++;
    }
    await db.close();
  }
  expect(used).toBeGreaterThan(0);
}, 300_000);

test("a server writes a snapshot of many records, and another when a sixteenth is newer, but none of few records", async () => {
  const { db, path } = aCatalogFile();
  const model = await createReadModel(db);
  const grow = async (from: number, to: number) => {
    await storeRecords(
      db,
      Array.from({ length: to - from }, (_, n) => aRecord(from + n, 1)),
      NOON,
    );
    await refresh(model);
    await keepSnapshot(model, path, 50);
  };
  await grow(0, 50);
  expect(existsSync(path)).toBe(false);
  await grow(50, 1200);
  const first = statSync(path).mtimeMs;
  await grow(1200, 1260);
  expect(statSync(path).mtimeMs).toBe(first);
  await grow(1260, 1300);
  expect(statSync(path).mtimeMs).toBeGreaterThan(first);
  await db.close();
});
