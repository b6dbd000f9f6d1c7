/** The search index follows the catalog exactly, whatever happens to either. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { readFilter } from "../../src/filter/filter.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { find } from "../../src/search/find.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, aDirectory, DAY, documentsOf, dropScratch, NOON, SECOND } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const record = (n: number, title = `Title ${n}`) => ({ source: { code: "OWN", opportunity_id: `N${n}` }, title });
const records = (count: number) => Array.from({ length: count }, (_, n) => record(n));

const titled = (index: SearchFile, ...words: string[]) => {
  const filter = words.length === 0 ? {} : readFilter({ words }, "the words");
  const { ids } = find(index, { filter, limit: 10_000, order: "updated" }, { now: NOON, keys: [] }, UNLIMITED);
  const numberOf = index.sqlite.query<{ number: string }, [string]>("select number from records where id = ?");
  return ids.map((id) => numberOf.get(id)?.number);
};

/** Versions of records in the index and in the catalog, and the texts of some. */
async function expectExact(index: SearchFile, db: CatalogDb): Promise<void> {
  const rows = index.sqlite.query<{ id: string; at: number }, []>("select id, updated_at as at from records order by id").all();
  const documents = await documentsOf(db);
  const expected = documents.map(({ id, updated_at }) => ({ id, at: Date.parse(updated_at) }));
  expect(rows).toEqual(expected.sort((left, right) => (left.id < right.id ? -1 : 1)));
  const step = Math.ceil(documents.length / 40);
  for (const { title, source } of documents.filter((_, n) => n % step === 0)) expect(titled(index, title)).toContain(source.opportunity_id);
}

describe.each(engines)("catchUp() on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("writes what is new or changed, and then nothing", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    expect(await catchUp(db, index)).toBe(0);
    await take(records(1203));
    const reports: [number, number][] = [];
    expect(await catchUp(db, index, (...report) => void reports.push(report))).toBe(1203);
    expect(reports).toEqual([
      [500, 1203],
      [1000, 1203],
      [1203, 1203],
    ]);
    expect(await catchUp(db, index)).toBe(0);
    clock.now += SECOND;
    await take([record(7, "Other words"), record(2000)]);
    expect(await catchUp(db, index)).toBe(2);
    expect(titled(index, "other", "words")).toEqual(["N7"]);
    expect(titled(index, "Title 7")).toEqual([]);
    await expectExact(index, db);
    index.close();
  });

  test.if(isThere)("never uses the number of a row again", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    const rowOf = (id: string) => index.sqlite.query<{ seq: number }, [string]>("select seq from records where number = ?").get(id)?.seq;
    await take(records(3));
    await catchUp(db, index);
    const before = ["N0", "N1", "N2"].map(rowOf);
    clock.now += SECOND;
    await take(records(3).map(({ source }) => ({ source, title: "Other words" })));
    await catchUp(db, index);
    expect(before.toSorted()).toEqual([1, 2, 3]);
    expect(["N0", "N1", "N2"].map(rowOf).toSorted()).toEqual([4, 5, 6]);
    index.close();
  });

  test.if(isThere)("counts words again when there are many more records", async () => {
    const { db, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    await catchUp(db, index);
    await take(records(30));
    await catchUp(db, index);
    expect(index.sqlite.query("select records from words where word = 'title'").get()).toEqual({ records: 30 });
    index.close();
  });

  test.if(isThere)("notices records of which only what is not served changed, and then nothing", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    await take(records(3));
    await catchUp(db, index);
    clock.now += SECOND;
    await take([{ ...record(1), agency_codes: ["NSF"] }]);
    clock.now += SECOND;
    await take([record(2, "Other words"), { ...record(0), agency_codes: ["NSF"] }]);
    expect(await catchUp(db, index)).toBe(3);
    expect(await catchUp(db, index)).toBe(0);
    await take([{ ...record(1), agency_codes: ["HHS"] }]); // At the same instant of the clock.
    expect(await catchUp(db, index)).toBe(1);
    await expectExact(index, db);
    index.close();
  });

  test.if(isThere)("builds the index again for another catalog", async () => {
    const [one, other] = [await aCatalog(await emptyCatalog()), await aCatalog(await emptyCatalog())];
    const index = openSearchFile(aDirectory());
    await one.take([record(1)]);
    await catchUp(one.db, index);
    await other.take([record(2)]); // At the same instant, so that only the identity tells.
    await catchUp(other.db, index);
    await expectExact(index, other.db);
    index.close();
  });

  test.if(isThere)("builds it again if a backup was restored, even if records were imported since", async () => {
    const { db, clock, take } = await aCatalog(await emptyCatalog());
    const index = openSearchFile(aDirectory());
    await take(records(20));
    const restored = await emptyCatalog();
    await copyCatalog(db, restored); // The backup, with the same cursor secret.
    clock.now += SECOND;
    await take([record(3, "Lost words")]);
    await catchUp(db, index);
    await catchUp(restored, index);
    expect(titled(index, "lost")).toEqual([]);
    await expectExact(index, restored);

    await catchUp(db, index);
    const later = await aCatalog(restored);
    later.clock.now = NOON + 60 * SECOND;
    await later.take([record(4, "Found words")]);
    await catchUp(restored, index);
    expect([titled(index, "lost"), titled(index, "found")]).toEqual([[], ["N4"]]);
    await expectExact(index, restored);
    index.close();
  });
});

test("two commands that catch up at the same time do not disturb each other", async () => {
  const { db, take } = await aCatalog();
  const directory = aDirectory();
  const [one, other] = [openSearchFile(directory), openSearchFile(directory)];
  await take(records(3000));
  await Promise.all([catchUp(db, one), catchUp(db, other)]);
  await expectExact(one, db);
  one.close();
  other.close();
});

test("an index that was judged by a clock ahead is judged again", async () => {
  const { db, take } = await aCatalog();
  const index = openSearchFile(aDirectory());
  await take([{ ...record(1), dates: { closes_at: formatInstant(NOON + 20 * DAY) } }]);
  const statusAt = async (now: number) => {
    await catchUp(db, index, undefined, now);
    return index.sqlite.query<{ status: string }, []>("select status from records").get()?.status;
  };
  expect([await statusAt(NOON), await statusAt(NOON + 700 * DAY), await statusAt(NOON + DAY)]).toEqual(["open", "closed", "open"]);
  index.close();
});

test("a catch-up that fails between batches goes on where it was", async () => {
  const { db, take } = await aCatalog();
  const directory = aDirectory();
  const index = openSearchFile(directory);
  await catchUp(db, index);
  await take(records(2100));
  const fail = (done: number) => {
    if (done >= 1000) throw new Error("stop");
  };
  expect(catchUp(db, index, fail)).rejects.toThrow("stop");
  index.close();
  const again = openSearchFile(directory);
  expect(await catchUp(db, again)).toBe(1100);
  await expectExact(again, db);
  again.close();
});

describe("openSearchFile()", () => {
  test("builds an index of another version again", async () => {
    const { db, take } = await aCatalog();
    const directory = aDirectory();
    await take([record(1)]);
    const index = openSearchFile(directory);
    await catchUp(db, index);
    index.sqlite.run("pragma user_version = 0");
    index.close();
    const again = openSearchFile(directory);
    expect(titled(again)).toEqual([]);
    expect(await catchUp(db, again)).toBe(1);
    again.close();
  });

  test.each(["query", "run"] as const)("keeps what another command writes between its statements (%s)", (method) => {
    const directory = aDirectory();
    const others: SearchFile[] = [];
    const call = Database.prototype[method] as (this: Database, ...given: unknown[]) => never;
    let calls = 0;
    const spy = spyOn(Database.prototype, method).mockImplementation(function (this: Database, ...given: [string]) {
      const isBetween = method === "query" ? ++calls === 2 : given[0] === "begin immediate";
      if (isBetween && others.length === 0) {
        spy.mockRestore();
        const other = openSearchFile(directory);
        other.sqlite.run("update progress set identity = 'filled'");
        others.push(other);
      }
      return call.apply(this, given);
    });
    const index = openSearchFile(directory);
    expect(index.sqlite.query("select identity from progress").values()).toEqual([["filled"]]);
    for (const each of [index, ...others]) each.close();
  });

  test("refuses a file of another program, and says how to replace a damaged one", () => {
    const [foreign, text] = [aDirectory(), aDirectory()];
    const { sqlite, close } = openSearchFile(foreign);
    sqlite.run("pragma application_id = 7");
    close();
    writeFileSync(join(text, "search.db"), "Not a database, and longer than the hundred bytes of a header. ".repeat(20));
    expect(() => openSearchFile(foreign)).toThrow(`Cannot open ${foreign}/search.db: it is not a fundfeed search.db`);
    expect(() => openSearchFile(text)).toThrow(`Cannot open ${text}/search.db: it is not a database file`);
  });

  test("is for its owner only", () => {
    const directory = aDirectory();
    openSearchFile(directory).close();
    chmodSync(join(directory, "search.db"), 0o644);
    openSearchFile(directory).close();
    expect(
      Bun.file(join(directory, "search.db"))
        .stat()
        .then(({ mode }) => mode & 0o777),
    ).resolves.toBe(0o600);
    rmSync(directory, { recursive: true });
  });
});
