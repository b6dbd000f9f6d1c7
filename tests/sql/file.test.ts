/** The tables of an SQLite file follow its documents, whatever is written, and are built again for another version. */
import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createExportFile } from "../../src/export/sqlite-file.ts";
import { openSqliteStore } from "../../src/mirror/sqlite-store.ts";
import { type FileProgress, prepareTables, putInto } from "../../src/sql/file.ts";
import { everything } from "../mirror/mirrored.ts";
import { aCatalogOfAll } from "../support/all-records.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { randomNumbers } from "../support/random-numbers.ts";
import { expectInStep } from "../support/sql-file.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("every record of the sources, written, replaced and deleted in any order, is in step with its columns, codes and texts", async () => {
  const all = (await aCatalogOfAll()).all.filter((_, n) => n % 3 === 0);
  const path = join(aDirectory(), "all.sqlite");
  const sqlite = new Database(path, { strict: true });
  prepareTables(sqlite);
  const put = putInto(sqlite);
  const random = randomNumbers(7);
  const write = (n: number) => {
    const [opportunity, other] = [all[n % all.length], all[Math.floor(random() * all.length)]];
    if (opportunity === undefined || other === undefined) throw new Error("There are no records");
    const content = random() < 0.5 ? opportunity : { ...other, id: opportunity.id, updated_at: opportunity.updated_at };
    const event = { id: `event-${n}`, opportunity_id: opportunity.id, type: "field_updated", severity: "material", summary: null };
    const changes = [{ field: "title", previous: null, current: { a: [1] } }];
    const text = JSON.stringify({ ...event, changes });
    put(
      { id: opportunity.id, at: opportunity.updated_at, text: JSON.stringify(content) },
      random() < 0.2 ? [{ id: event.id, at: "2026", text }] : [],
    );
    if (random() < 0.05) sqlite.run(`delete from opportunities where id = '${other.id}' and rowid not in (select opportunity from events)`);
  };
  sqlite.transaction(() => {
    for (let n = 0; n < 2 * all.length; n++) write(n);
  })();
  sqlite.run("vacuum"); // Row numbers stay.
  sqlite.close();
  expect(expectInStep(path).length).toBeGreaterThan(all.length / 2);
});

test("an export, completed at its end, has the same tables, indexes, triggers and views as a file that triggers keep", async () => {
  const [kept, exported] = [join(aDirectory(), "kept.sqlite"), join(aDirectory(), "exported.sqlite")];
  const sqlite = new Database(kept, { strict: true });
  prepareTables(sqlite);
  sqlite.close();
  const steps: FileProgress[] = [];
  await createExportFile(exported, { filter: "{}", madeAt: "2026-08-03T00:00:00Z" }).finish(async (next) => void steps.push(next));
  const schemaOf = (path: string) => {
    const file = new Database(path, { readonly: true });
    const schema = file.query("select type, name, sql from sqlite_master where name not in ('export', 'sqlite_stat1') order by 1, 2").all();
    const version = file.query("pragma user_version").get();
    file.close();
    return { schema, version };
  };
  expect(schemaOf(exported)).toEqual(schemaOf(kept));
  expect(steps.map(({ done }) => done)).toEqual(steps.map((_, n) => n));
  expect(steps.at(-2)).toEqual({ step: "indexing texts", done: steps.length - 2, total: steps.length });
});

test.each([
  [
    "deadlines of what is open",
    "select * from opportunity where status = 'open' order by closes_at",
    ["opportunities_by_status (status=?)"],
  ],
  ["the newest changes", "select * from change order by detected_at desc", ["events_by_detected_at", "changes_by_event"]],
  ["the contacts", "select * from contact", ["SCAN contacts"]],
])("%s come from an index, without a sort", (_, sql, used) => {
  const sqlite = new Database(":memory:", { strict: true });
  prepareTables(sqlite);
  const plan = sqlite
    .query<{ detail: string }, []>(`explain query plan ${sql}`)
    .all()
    .map(({ detail }) => detail)
    .join("\n");
  for (const part of used) expect(plan).toContain(part);
  expect(plan).not.toMatch(/TEMP B-TREE|json_each/);
  sqlite.close();
});

test("instants sort as texts and days are those published, whatever their offset, letters and fractions", () => {
  const sqlite = new Database(":memory:", { strict: true });
  prepareTables(sqlite);
  const put = putInto(sqlite);
  /** In the order of the instants. */
  const written = [
    "2026-01-01T00:00:00+23:59",
    "2026-01-01T00:00:00+14:01",
    "2025-12-31T18:59:59.999-05:00",
    "2025-12-31t23:59:59.9999999z",
    "2025-12-31T23:59:60Z",
    "2026-01-01T00:00:00.001+00:00",
    "2025-12-31T19:00:00.5-05:00",
    "2026-01-01T00:00:01Z",
    "2026-01-01T00:00:00-15:00",
  ];
  for (const [n, closes_at] of written.entries())
    put(
      { id: `${written.length - n}`, at: "2026", text: JSON.stringify({ dates: { closes_at }, created_at: "2026-01-01T00:00:00.400Z" }) },
      [],
    );
  const rows = sqlite
    .query<{ closes_at: string; closes_on: string; is_later: number }, []>(
      "select closes_at, closes_on, closes_at > created_at as is_later from opportunity order by closes_at, id desc",
    )
    .all();
  expect(rows.map(({ closes_on }) => closes_on)).toEqual(written.map((each) => each.slice(0, 10)));
  expect(rows.map(({ closes_at }) => closes_at)).toEqual([
    "2025-12-31T00:01:00.000Z",
    "2025-12-31T09:59:00.000Z",
    "2025-12-31T23:59:59.999Z",
    "2025-12-31T23:59:59.999Z",
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.001Z",
    "2026-01-01T00:00:00.500Z",
    "2026-01-01T00:00:01.000Z",
    "2026-01-01T15:00:00.000Z",
  ]);
  expect(rows.map(({ is_later }) => is_later)).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1]);
  sqlite.close();
});

test.each(["creates", "upgrades"])("a program that %s a file does it once, although another one does it at the same moment", (verb) => {
  const path = join(aDirectory(), "both.sqlite");
  const [one, two] = [new Database(path, { strict: true }), new Database(path, { strict: true })];
  if (verb === "upgrades") prepareTables(one);
  if (verb === "upgrades") one.run("pragma user_version = 0");
  const upgrades: string[] = [];
  const transaction = one.transaction.bind(one);
  one.transaction = ((work: () => void) => {
    prepareTables(two, () => upgrades.push("two"));
    return transaction(work);
  }) as typeof one.transaction;
  prepareTables(one, () => upgrades.push("one"));
  expect(upgrades).toEqual(verb === "upgrades" ? ["two"] : []);
  one.close();
  two.close();
  expect(expectInStep(path)).toEqual([]);
});

/** A copy of a server without records. */
async function emptyCopy(path: string): Promise<void> {
  const store = openSqliteStore(path, everything);
  await store.save([], await store.begin(false));
  await store.close();
}

test("a file of an older version is built again from its documents when it is opened, once", async () => {
  const { all } = await aCatalogOfAll();
  const path = join(aDirectory(), "old.sqlite");
  await emptyCopy(path);
  const sqlite = new Database(path, { strict: true });
  const put = putInto(sqlite);
  const event = { type: "opportunity_added", severity: "informational", changes: [] };
  for (const { id, updated_at: at, ...rest } of all.slice(0, 300))
    put({ id, at, text: JSON.stringify({ id, updated_at: at, ...rest }) }, [
      { id: `of-${id}`, at, text: JSON.stringify({ id: `of-${id}`, opportunity_id: id, detected_at: at, ...event }) },
    ]);
  sqlite.run("update mirror set since = '2026-03-01T12:00:00.000Z'");
  const before = expectInStep(path);
  sqlite.run("drop view opportunity; drop table contacts; pragma user_version = 0"); // As an older version may lack them.
  let upgrades = 0;
  for (let opening = 0; opening < 2; opening++) {
    const store = openSqliteStore(path, everything, () => upgrades++);
    expect(await store.begin(false)).toEqual({ since: "2026-03-01T12:00:00.000Z", newest: null, cursor: null });
    await store.close();
    expect(expectInStep(path)).toEqual(before);
  }
  expect([upgrades, before.length]).toEqual([1, 300]);
  expect(sqlite.query("select name from sqlite_master where name like 'old%'").all()).toEqual([]);
  expect(sqlite.query("select count(*) as events from event").get()).toEqual({ events: 300 });
  sqlite.run("pragma user_version = 99");
  sqlite.close();
  expect(() => openSqliteStore(path, everything)).toThrow(
    `Cannot keep a copy in ${path}: it was written by a newer version of this program`,
  );
});

test("what the owner of a file has added stays as it was when the file is built again", async () => {
  const { all } = await aCatalogOfAll();
  const path = join(aDirectory(), "own.sqlite");
  await emptyCopy(path);
  const sqlite = new Database(path, { strict: true });
  const put = putInto(sqlite);
  for (const each of all.slice(0, 20)) put({ id: each.id, at: each.updated_at, text: JSON.stringify(each) }, []);
  sqlite.run(`
    create table notes (opportunity_id text references opportunities (id), text text);
    create table "log ""of"" titles" (title text);
    create index notes_by_opportunity on notes (opportunity_id);
    create index opportunities_by_title on opportunities (title collate nocase);
    create view search_of_mine as select title, text from opportunity join notes on notes.opportunity_id = opportunity.id;
    create view "my ""deadlines""" as select title, closes_at from search_of_mine join opportunities using (title);
    create view broken as select * from gone;
    create trigger log_titles after update of title on opportunities begin insert into "log ""of"" titles" values (new.title); end;
    create trigger note instead of insert on opportunity begin insert into notes values (new.id, new.title); end;
    insert into notes select id, 'mine' from opportunities;
  `);
  const additions = () =>
    sqlite
      .query(
        "select type, name, tbl_name, sql from sqlite_master where name like '%note%' or name like '%title%' or name like '%my%' or name like '%mine' or name = 'broken' order by name",
      )
      .all();
  const rows = () => sqlite.query(`select * from "my ""deadlines""" order by title, closes_at`).all();
  const before = [additions(), rows()];
  expect(before.map((each) => each.length)).toEqual([9, expect.any(Number)]);
  sqlite.run("pragma user_version = 0");
  await emptyCopy(path);
  expect([additions(), rows()]).toEqual(before);
  sqlite.run("insert into opportunity (id, title) select id, 'noted by a trigger' from opportunity limit 1");
  expect(sqlite.query("select count(*) as count from notes where text = 'noted by a trigger'").get()).toEqual({ count: 1 });
  sqlite.close();
  expect(expectInStep(path)).toHaveLength(20);
});
