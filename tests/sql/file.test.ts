/** The tables of an SQLite file follow its documents, whatever is written, and are built again for another version. */
import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openSqliteStore } from "../../src/mirror/sqlite-store.ts";
import { prepareTables, putInto } from "../../src/sql/file.ts";
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

/** As `mirror` created a file before it had views. */
const OLD_TABLES = `
pragma application_id = ${0x66666d72};
create table opportunities (id text primary key, updated_at text not null, document text not null) strict;
create table events (
  id text primary key, opportunity_id text not null references opportunities, detected_at text not null, document text not null
) strict;
create index events_by_opportunity on events (opportunity_id, detected_at);
create table mirror (only integer primary key check (only = 1), scope text not null, since text, newest text, cursor text) strict;
insert into mirror values (1, '{"base_url":"http://localhost/v1","source":[],"events":true}', '2026-03-01T12:00:00.000Z', null, null);
`;

test("a file of an older version is built again from its documents when it is opened, once", async () => {
  const { all } = await aCatalogOfAll();
  const path = join(aDirectory(), "old.sqlite");
  const old = new Database(path, { strict: true });
  old.run(OLD_TABLES);
  const documents = all.slice(0, 300);
  for (const { id, updated_at, ...rest } of documents) {
    old.query("insert into opportunities values (?, ?, ?)").run(id, updated_at, JSON.stringify({ id, updated_at, ...rest }));
    const event = {
      id: `of-${id}`,
      opportunity_id: id,
      detected_at: updated_at,
      type: "opportunity_added",
      severity: "informational",
      changes: [],
    };
    old.query("insert into events values (?, ?, ?, ?)").run(event.id, id, updated_at, JSON.stringify(event));
  }
  old.close();
  let upgrades = 0;
  for (let opening = 0; opening < 2; opening++) {
    const store = openSqliteStore(path, everything, () => upgrades++);
    expect(await store.begin(false)).toEqual({ since: "2026-03-01T12:00:00.000Z", newest: null, cursor: null });
    await store.close();
    expect(expectInStep(path)).toEqual(documents.toSorted((left, right) => (left.id < right.id ? -1 : 1)));
  }
  expect(upgrades).toBe(1);
  const sqlite = new Database(path);
  expect(sqlite.query("select name from sqlite_master where name like 'old%'").all()).toEqual([]);
  expect(sqlite.query("select count(*) as events from event").get()).toEqual({ events: 300 });
  sqlite.run("pragma user_version = 99");
  sqlite.close();
  expect(() => openSqliteStore(path, everything)).toThrow(
    `Cannot keep a copy in ${path}: it was written by a newer version of this program`,
  );
});
