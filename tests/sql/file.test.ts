/** The tables of an SQLite file follow its documents, whatever is written. */
import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createExportFile } from "../../src/export/sqlite-file.ts";
import { openSqliteStore } from "../../src/mirror/sqlite-store.ts";
import { withoutSidecar } from "../../src/opportunities/opportunity.ts";
import { type FileProgress, prepareTables, putInto } from "../../src/sql/file.ts";
import { everything } from "../mirror/mirrored.ts";
import { aCatalogOfAll } from "../support/all-records.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { randomNumbers } from "../support/random-numbers.ts";
import { expectInStep } from "../support/sql-file.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test("every record of the sources, written, replaced and deleted in any order, is in step with its columns, codes and texts", async () => {
  const all = (await aCatalogOfAll()).all.filter((_, n) => n % 9 === 0).map(withoutSidecar);
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

test("documents of an export have a view: those that are there with their day, those that are gone, and none of a copy without them", async () => {
  const sqlite = new Database(":memory:", { strict: true });
  prepareTables(sqlite);
  const put = putInto(sqlite);
  const call = { name: "Call", url: "https://sam.gov/1", kind: "Full Announcement", size: 5 };
  const [form, old] = [
    { name: null, url: "https://sam.gov/2" },
    { name: "Old", url: null },
  ];
  const change = (at: string, previous: unknown, current: unknown) => {
    const event = { id: at, opportunity_id: "a", type: "attachments_changed", severity: "material", summary: null };
    return { id: at, at, text: JSON.stringify({ ...event, changes: [{ field: "attachments", previous, current }] }) };
  };
  const history = [change("1", [old, form], [call, old]), change("2", [call, old], [form]), change("3", [form], [call, form])];
  const write = (sidecar: object | undefined, events: typeof history = []) =>
    put({ id: "a", at: "2026", text: JSON.stringify({ id: "a", title: "T" }) }, events, { id: "a", title: "T", sidecar });
  const shown = () => sqlite.query("select opportunity_id, name, kind, size, url, since, removed_at, title from document").all();
  const row = { opportunity_id: "a", kind: null, size: null, since: null, removed_at: null, title: "T" };
  write({ attachments: [call] });
  expect(shown()).toEqual([{ ...row, ...call }]);
  write({ attachments: [call, form] }, history);
  expect(shown()).toEqual([
    { ...row, ...call, since: "3" },
    { ...row, ...form, since: "2" },
    { ...row, ...old, removed_at: "2" },
  ]);
  write({ attachments: [] }, [change("4", [call, form], [])]);
  const gone = [
    { ...row, ...old, removed_at: "2" },
    { ...row, ...call, removed_at: "4" },
    { ...row, ...form, removed_at: "4" },
  ];
  expect(new Set(shown())).toEqual(new Set(gone));
  write(undefined);
  expect(shown()).toEqual([]);
  sqlite.close();
});

test("an export, completed at its end, has the same tables, indexes, triggers and views as a file that triggers keep", async () => {
  const [kept, exported] = [join(aDirectory(), "kept.sqlite"), join(aDirectory(), "exported.sqlite")];
  const sqlite = new Database(kept, { strict: true });
  prepareTables(sqlite);
  sqlite.close();
  const steps: FileProgress[] = [];
  await createExportFile(exported, { filter: "{}", made_at: "2026-08-03T00:00:00Z" }).finish(async (next) => void steps.push(next));
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

test("a program that creates a file does it once, although another one does it at the same moment", () => {
  const path = join(aDirectory(), "both.sqlite");
  const [one, two] = [new Database(path, { strict: true }), new Database(path, { strict: true })];
  const transaction = one.transaction.bind(one);
  one.transaction = ((work: () => void) => {
    prepareTables(two);
    return transaction(work);
  }) as typeof one.transaction;
  prepareTables(one);
  one.close();
  two.close();
  expect(expectInStep(path)).toEqual([]);
});

test.each([0, 99])("a file of another version, %d, is refused and left as it is", async (version) => {
  const path = join(aDirectory(), "other.sqlite");
  const store = openSqliteStore(path, everything);
  const sqlite = new Database(path, { strict: true });
  sqlite.run(`pragma user_version = ${version}`);
  expect(() => openSqliteStore(path, everything)).toThrow(
    `Cannot keep a copy in ${path}: another version of this program wrote it; start a new copy`,
  );
  expect(sqlite.query("pragma user_version").get()).toEqual({ user_version: version });
  sqlite.close();
  await store.close();
});
