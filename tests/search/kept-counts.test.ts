/** What is kept of an index until it changes. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { keptUntilChanged } from "../../src/search/kept-counts.ts";

function anIndex(): Database {
  const sqlite = new Database(":memory:");
  sqlite.run("create table progress (stored_at integer)");
  sqlite.run("insert into progress values (1)");
  return sqlite;
}

test("is made again after a change of the index, for another index, and for another thing", () => {
  const kept = keptUntilChanged<number>();
  const [one, other] = [anIndex(), anIndex()];
  let made = 0;
  const make = () => ++made;
  expect([kept(one, make), kept(one, make), kept(other, make), kept(one, make)]).toEqual([1, 1, 2, 1]);
  one.run("update progress set stored_at = 2");
  expect([kept(one, make), kept(one, make)]).toEqual([3, 3]);
  expect([kept(one, make, ["2026-03"]), kept(one, make, ["2026-03"]), kept(one, make, ["2026-04"])]).toEqual([4, 4, 5]);
});

test("is made again after the same index was built again, because its rows have other numbers", () => {
  const [kept, index] = [keptUntilChanged<number>(), anIndex()];
  let made = 0;
  const make = () => ++made;
  expect([kept(index, make), kept(index, make)]).toEqual([1, 1]);
  index.run("drop table progress");
  index.run("create table progress (stored_at integer)");
  index.run("insert into progress values (1)");
  expect([kept(index, make), kept(index, make)]).toEqual([2, 2]);
});

test("is made again if it failed", async () => {
  const kept = keptUntilChanged<Promise<string>>();
  const index = anIndex();
  await expect(kept(index, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await kept(index, async () => "yes")).toBe("yes");
  expect(await kept(index, () => Promise.reject(new Error("no")))).toBe("yes");
});
