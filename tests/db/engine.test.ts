import { afterAll, describe, expect, test } from "bun:test";
import { and, eq, inArray, sql } from "drizzle-orm";
import { BATCH_ROWS, type CatalogDb, type StateDb } from "../../db/engine.ts";
import {
  deleteFrom,
  insertInto,
  listOf,
  orIgnore,
  orUpdate,
  parameter,
  pick,
  query,
  select,
  selectAll,
  selectBy,
  update,
} from "../../db/query.ts";
import { imports, settings, sources } from "../../db/schema/sqlite/catalog.ts";
import { accounts, keys, plans } from "../../db/schema/sqlite/state.ts";
import { sqliteEngine } from "../../db/sqlite/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { locations } from "../support/engines.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

afterAll(dropScratch);

/** A place for databases, and two openings of each: what one writes the other must see. */
type Place = { catalog: () => Promise<CatalogDb>; state: () => Promise<StateDb> };

const places: [string, boolean, () => Promise<Place>][] = locations.map(([name, isThere, newLocation]) => [
  name,
  isThere,
  async () => {
    const { catalog, state } = await newLocation();
    return { catalog: () => catalog(NOON), state: () => state(NOON) };
  },
]);

/** Put into `settings`, whose values are bytes. */
const put = "insert into settings (name, value) values (?, ?)";
const names = "select name from settings where name <> 'cursor_secret' order by name";

const bytes = (text: string) => new TextEncoder().encode(text);
const namesIn = async (db: CatalogDb) => (await db.all(rawSql<{ name: string }>(names))).map(({ name }) => name);

test("an engine on SQLite takes the write lock before it reads", async () => {
  const directory = aDirectory();
  const [one, other] = [NOON, NOON].map((now) => sqliteEngine(openCatalog(directory, now, { waitMs: 0 }).sqlite, "catalog"));
  await one?.transaction(async () => {
    await expect(other?.transaction(async () => 1)).rejects.toThrow("database is locked");
    expect(await other?.readTransaction((sql) => sql.get(rawSql("select 1 as one")))).toEqual({ one: 1 });
  });
  expect(await other?.transaction(async () => 1)).toBe(1);
  await Promise.all([one?.close(), other?.close()]);
});

test("an engine on SQLite writes nothing of a transaction during which the disk was full", async () => {
  const db = openCatalog(aDirectory(), NOON);
  const pages = db.sqlite.query("pragma page_count").values()[0]?.[0];
  db.sqlite.run(`pragma max_page_count = ${pages}`);
  const writing = db.transaction((sql) =>
    Promise.all([10, 1_000_000, 10].map((size, index) => sql.run(rawSql(put, `${index}`, new Uint8Array(size))))),
  );
  await expect(writing).rejects.toThrow("database or disk is full");
  expect(await namesIn(db)).toEqual([]);
  await db.close();
});

describe.each(places)("an engine on %s", (kind, isThere, makePlace) => {
  /** Two openings of one new catalog. */
  async function opened() {
    const { catalog } = await makePlace();
    const [one, other] = [await catalog(), await catalog()];
    return { one, other, [Symbol.asyncDispose]: async () => void (await Promise.all([one.close(), other.close()])) };
  }

  async function openedState() {
    const db = await (await makePlace()).state();
    return { db, [Symbol.asyncDispose]: () => db.close() };
  }

  const testIf = test.if(isThere);

  testIf("returns the values that it stored", async () => {
    await using place = await opened();
    const { one, other } = place;
    const insert =
      "insert into imports (format, files, sources, snapshot, as_of, started_at, finished_at, last_instant, counts) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning id";
    const texts = ["", 'O\'Brien "q" \\ ?', "é 😀 \u2028 \ud7ff"];
    const made = await one.get(rawSql<{ id: number }>(insert, ...texts, 0, null, 2 ** 53 - 1, -8.64e15, 2 ** 31, "{}"));
    const row = await other.get(rawSql<object>("select * from imports where id = ?", made?.id ?? 0));
    expect({ ...row }).toEqual({
      id: 1,
      format: texts[0],
      files: texts[1],
      sources: texts[2],
      snapshot: 0,
      as_of: null,
      started_at: 2 ** 53 - 1,
      finished_at: -8.64e15,
      last_instant: 2 ** 31,
      counts: "{}",
    });
    const contents = [
      new Uint8Array(),
      new Uint8Array([0, 1, 255]),
      new Uint8Array(3_000_000).fill(7),
      new Uint8Array([9, 8, 7]).subarray(1),
    ];
    for (const [index, content] of contents.entries()) {
      await one.run(rawSql(put, `n${index}`, content));
      const stored = await other.get(rawSql<{ value: Uint8Array }>("select value from settings where name = ?", `n${index}`));
      expect(Buffer.from(stored?.value ?? []).equals(content)).toBe(true);
    }
  });

  testIf.each([["half \ud800 a pair"], ["a\0b"], [0.5], [2 ** 53], [Number.NaN]])(
    "refuses %p, which would not come back as it was",
    async (value) => {
      await using place = await opened();
      await expect(place.one.get(rawSql("select 1 from settings where name = ?", value))).rejects.toThrow("Cannot store");
      await expect(place.one.transaction((sql) => sql.run(rawSql(put, `${value}`, null)))).rejects.toThrow();
    },
  );

  testIf("counts, sums and compares numbers", async () => {
    await using place = await openedState();
    const { db } = place;
    const row = await db.get(
      rawSql<object>(
        "select count(*) as plans, sum(daily) as daily, max(per_minute) as most, name = ? as isit from plans where name = ? group by name",
        "paid",
        "paid",
      ),
    );
    expect({ ...row }).toEqual({ plans: 1, daily: 100_000, most: 600, isit: 1 });
    expect(await db.get(rawSql("select name from plans where daily + ? = ?", 2 ** 40, 2 ** 40 + 1000))).toEqual({ name: "trial" });
    expect(await db.get(rawSql("select name from plans where name = ?", "none"))).toBeUndefined();
    expect(await db.all(rawSql("select name from plans where false"))).toEqual([]);
    expect(await db.all(rawSql("select name from plans where cast(? as text) is null order by daily limit ?", null, 1))).toEqual([
      { name: "trial" },
    ]);
  });

  testIf("returns how many rows it wrote", async () => {
    await using place = await openedState();
    const { db } = place;
    expect(await db.run(rawSql("update plans set daily = daily"))).toBe(3);
    expect(await db.run(rawSql("update plans set daily = 1 where name = ?", "none"))).toBe(0);
    const insert = "insert into plans (name, daily, per_minute) values (?, 1, 1) on conflict (name) do nothing";
    expect([await db.run(rawSql(insert, "new")), await db.run(rawSql(insert, "new"))]).toEqual([1, 0]);
  });

  testIf("treats `?` as a parameter, except in strings, names and comments", async () => {
    await using place = await opened();
    const row = await place.one.get(
      rawSql<object>(`select cast(? as text) as "what?", 'it''s ?' as text /* ? */, cast(? as text) as last -- ?\n`, "a", "b"),
    );
    expect({ ...row }).toEqual({ "what?": "a", text: "it's ?", last: "b" });
  });

  testIf("orders text by its bytes", async () => {
    await using place = await opened();
    for (const name of ["b", "B", "a", "é", "z", "_", "😀", "\uffee"]) await place.one.run(rawSql(put, name, bytes(".")));
    expect(await namesIn(place.other)).toEqual(["B", "_", "a", "b", "z", "é", "\uffee", "😀"]);
  });

  testIf("reads lists, members and parts of bytes in its dialect", async () => {
    await using place = await opened();
    const { one } = place;
    const codes = query({ codes: listOf(sources.code) }, (given) =>
      select({ code: sources.code }).from(sources).where(inArray(sources.code, given.codes)).orderBy(sources.code),
    );
    expect(await one.all(codes, { codes: ["DSIP", `o"'{},\\`, "SAM_GOV"] })).toEqual([{ code: "DSIP" }, { code: "SAM_GOV" }]);
    await one.run(
      rawSql(
        "insert into imports (format, files, sources, snapshot, started_at, counts) values ('x', '[]', ?, 0, 0, ?)",
        '["A","B"]',
        '{"read":7}',
      ),
    );
    const numbers = query({ ids: listOf(imports.id) }, ({ ids }) =>
      select({ id: imports.id }).from(imports).where(inArray(imports.id, ids)),
    );
    expect(await one.all(numbers, { ids: [1, 2 ** 40] })).toEqual([{ id: 1 }]);
    const elements = query(
      {},
      (_, { jsonElements }) => sql`select value, ${imports.id} from ${imports}, ${jsonElements(imports.sources)} order by value`,
    );
    expect(await one.all(elements)).toEqual([
      { value: "A", id: 1 },
      { value: "B", id: 1 },
    ]);
    const member = query(
      {},
      (_, { jsonMember }) => sql`select sum(cast(${jsonMember(imports.counts, "read")} as bigint)) as read from ${imports}`,
    );
    expect(await one.get(member)).toEqual({ read: 7 });
    await one.run(rawSql(put, "d", bytes('{"é":[],"contacts":[]}')));
    const containing = query({ text: parameter<string>() }, ({ text }, { containsText }) =>
      select({ name: settings.name })
        .from(settings)
        .where(and(eq(settings.name, "d"), containsText(settings.value, text))),
    );
    expect([await one.get(containing, { text: '"é":[]' }), await one.get(containing, { text: "none" })]).toEqual([
      { name: "d" },
      undefined,
    ]);
  });

  testIf("commits all of a transaction or nothing", async () => {
    await using place = await opened();
    const { one, other } = place;
    expect(await one.transaction(async (sql) => (await sql.run(rawSql(put, "kept", bytes(".")))) + 1)).toBe(2);
    const failing = one.transaction(async (sql) => {
      await sql.run(rawSql(put, "lost", bytes(".")));
      throw new Error("on purpose");
    });
    await expect(failing).rejects.toThrow("on purpose");
    const half = one.transaction(async (sql) => {
      await sql.run(rawSql(put, "lost too", bytes(".")));
      await sql.run(rawSql(put, "kept", bytes("."))); // It is there.
    });
    await expect(half).rejects.toThrow(/unique/i);
    expect(await namesIn(other)).toEqual(["kept"]);
    expect(await one.transaction((sql) => sql.run(rawSql(put, "after", bytes("."))))).toBe(1);
  });

  testIf("runs writers one after the other, on one connection and on several, so that no two commits have the same instant", async () => {
    await using place = await opened();
    const { one, other } = place;
    const write = (db: CatalogDb, rounds: number) =>
      db.transaction(async (sql) => {
        const newest = (await sql.get(rawSql<{ newest: number | null }>("select max(started_at) as newest from imports")))?.newest ?? 0;
        for (let round = 0; round < rounds; round++) await Bun.sleep(1);
        await sql.run(
          rawSql(
            "insert into imports (format, files, sources, snapshot, started_at, counts) values ('x', '[]', '[]', 0, ?, '{}')",
            newest + 1,
          ),
        );
        return newest + 1;
      });
    // SQLite's other writer waits without giving way, so there the two openings take turns.
    const both =
      kind === "SQLite"
        ? [
            ...(await Promise.all([1, 2, 3].map((rounds) => write(one, rounds)))),
            ...(await Promise.all([1, 2, 3].map((rounds) => write(other, rounds)))),
          ]
        : await Promise.all([3, 2, 1, 0, 2, 1].map((rounds, index) => write(index % 2 === 0 ? one : other, rounds)));
    expect(both.sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  testIf("keeps statements of other callers out of a transaction", async () => {
    await using place = await opened();
    const { one } = place;
    const [half, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writing = one.transaction(async (sql) => {
      await sql.run(rawSql(put, "half", bytes(".")));
      half.resolve();
      await asked.promise;
      await sql.run(rawSql("delete from settings where name = 'half'"));
      await sql.run(rawSql(put, "whole", bytes(".")));
    });
    await half.promise;
    const reading = Promise.all([
      namesIn(one),
      one.readTransaction((sql) => sql.all(rawSql<{ name: string }>(names))),
      one.all(query({}, () => selectAll(settings))),
    ]);
    asked.resolve();
    const seen = await reading;
    await writing;
    for (const rows of seen) expect(JSON.stringify(rows)).not.toContain("half");
    expect(await namesIn(one)).toEqual(["whole"]);
  });

  testIf("works after a read during a transaction that failed", async () => {
    await using place = await opened();
    const { one } = place;
    const outcomes = await Promise.allSettled([
      one.transaction(async (sql) => sql.run(rawSql("insert into nowhere values (1)"))),
      one.run(rawSql(put, "beside", bytes("."))),
      one.transaction(async (sql) => sql.run(rawSql(put, "next", bytes(".")))),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    expect(await namesIn(one)).toEqual(["beside", "next"]);
  });

  testIf("sees one state of the database in a read transaction", async () => {
    await using place = await opened();
    const { one, other } = place;
    await other.run(rawSql(put, "before", bytes(".")));
    const seen = await one.readTransaction(async (sql) => {
      const first = await sql.all(rawSql(names));
      await other.run(rawSql(put, "meanwhile", bytes(".")));
      return [first, await sql.all(rawSql(names))];
    });
    expect(seen).toEqual([[{ name: "before" }], [{ name: "before" }]]);
    expect(await namesIn(one)).toEqual(["before", "meanwhile"]);
  });

  testIf("passes many rows of one state in batches, with other statements in between", async () => {
    await using place = await opened();
    const { one, other } = place;
    const numbers = "with recursive n (i) as (select 1 union all select i + 1 from n where i < ?) select i from n";
    await one.run(
      rawSql(
        `insert into imports (format, files, sources, snapshot, started_at, counts) select 'x', '[]', '[]', 0, i, '{}' from (${numbers}) as all_of_them`,
        2 * BATCH_ROWS + 1,
      ),
    );
    const sizes: number[] = [];
    let sum = 0;
    const later = rawSql<{ started_at: number }>("select started_at from imports where started_at > ? order by started_at", 0);
    await one.each(later, {}, async (rows) => {
      sizes.push(rows.length);
      for (const { started_at } of rows) sum += started_at;
      await other.run(rawSql("delete from imports where started_at > ?", BATCH_ROWS));
    });
    expect(sizes).toEqual([BATCH_ROWS, BATCH_ROWS, 1]);
    expect(sum).toBe(((2 * BATCH_ROWS + 1) * (2 * BATCH_ROWS + 2)) / 2);

    const found: number[] = [];
    const statement = "select id, started_at from imports where started_at <= ? order by id";
    await one.readTransaction((sql) =>
      sql.each(rawSql<{ id: number }>(statement, 3), {}, async ([first]) => {
        found.push((await sql.all(rawSql(statement, 2))).length, first?.id ?? 0);
        await sql.each(rawSql("select code from sources"), {}, (rows) => void found.push(rows.length));
      }),
    );
    expect(found).toEqual([2, 1, 10]);
    await one.each(rawSql("select code from sources where false"), {}, () => expect.unreachable());
    await expect(one.each(rawSql("select code from sources"), {}, () => Promise.reject(new Error("enough")))).rejects.toThrow("enough");
    expect(await one.get(rawSql("select count(*) as count from sources"))).toEqual({ count: 10 });
  });

  testIf("sees changes of the tables' columns", async () => {
    await using place = await opened();
    const { one, other } = place;
    const all = "select * from sources where code = ?";
    const before = await one.get(rawSql<object>(all, "DSIP"));
    await one.each(rawSql(all, "DSIP"), {}, () => undefined);
    await other.run(rawSql("alter table sources add column later text"));
    expect(await one.get(rawSql<object>(all, "DSIP"))).toEqual({ ...before, later: null });
    await one.each(rawSql(all, "DSIP"), {}, ([row]) => expect(row).toEqual({ ...before, later: null }));
  });

  testIf("runs Drizzle's statements by the names of their parameters, also in transactions", async () => {
    await using place = await openedState();
    const { db } = place;
    await db.run(insertInto(plans), { name: "big", daily: 2 ** 40, per_minute: 1 });
    const hash = Buffer.from([0, 255]);
    const account = { name: "Acme", plan: "big", subscription: "active", created_at: NOON };
    expect(await db.insert(insertInto(accounts, { key: "id" }), account)).toBe(1);
    const unused = {
      label: null,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      generation: 0,
      member: null,
      sign_ins: 0,
      successor: null,
    };
    const relabel = query(pick(keys, "id", "label"), ({ id, label }) => update(keys).set({ label }).where(eq(keys.id, id)));
    await db.transaction(async (sql) => {
      await sql.run(insertInto(keys), { id: "k", account_id: 1, hash, last_four: "abcd", created_at: NOON, ...unused });
      expect(await sql.run(relabel, { label: "one", id: "k" })).toBe(1);
    });
    const lost = db.transaction(async (sql) => {
      await sql.run(query({}, () => deleteFrom(keys)));
      throw new Error("on purpose");
    });
    await expect(lost).rejects.toThrow("on purpose");
    const joined = query({ ids: listOf(keys.id) }, ({ ids }) =>
      select({ ...pick(keys, "id", "hash", "label"), account: accounts.name, daily: plans.daily })
        .from(keys)
        .innerJoin(accounts, eq(accounts.id, keys.account_id))
        .innerJoin(plans, eq(plans.name, accounts.plan))
        .where(inArray(keys.id, ids)),
    );
    expect(await db.all(joined, { ids: ["other", "k"] })).toEqual([
      { id: "k", hash: new Uint8Array(hash), label: "one", account: "Acme", daily: 2 ** 40 },
    ]);
    expect(await db.all(joined, { ids: [] })).toEqual([]);
    await db.run(insertInto(plans, { onConflict: orUpdate(plans.name, plans.daily) }), { name: "big", daily: 5, per_minute: 6 });
    expect(await db.get(selectBy(plans, "name"), { name: "big" })).toEqual({ name: "big", daily: 5, per_minute: 1 });
    expect(await db.run(insertInto(plans, { onConflict: orIgnore }), { name: "big", daily: 7, per_minute: 7 })).toBe(0);
    const dangling = db.insert(insertInto(accounts, { key: "id" }), { ...account, name: "B", plan: "none" });
    await expect(dangling).rejects.toThrow();
  });

  testIf("returns a number that changes with every commit, or NaN", async () => {
    await using place = await opened();
    const { one, other } = place;
    const before = one.commits();
    await other.run(rawSql(put, "x", bytes(".")));
    expect(one.commits() === before).toBe(false); // NaN is not itself.
  });

  testIf("holds a lock against other programs until its release", async () => {
    await using place = await opened();
    const { one, other } = place;
    await using another = await other.tryLock("another");
    expect(another).toBeDefined();
    {
      await using lock = await one.tryLock("import");
      expect(lock).toBeDefined();
      expect(await other.tryLock("import")).toBeUndefined();
    }
    await using next = await other.tryLock("import");
    expect(next).toBeDefined();
  });

  testIf("finds no damage in its storage, and vacuums it", async () => {
    await using place = await opened();
    await place.one.run(rawSql(put, "x", bytes(".")));
    expect(await place.one.storageFaults()).toEqual([]);
    await waitFor("no reader sees old versions", () => place.one.vacuum());
    expect(await namesIn(place.other)).toEqual(["x"]);
  });
});
