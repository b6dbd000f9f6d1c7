/** What a command says that fails after it has stored something: how much that is, and that the same command does the rest. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const record = (n: number, fields: object = {}) => ({
  source: { code: "OWN", opportunity_id: `${n}` },
  title: `Title ${n}`,
  status: "open",
  ...fields,
});
const records = (count: number, fields: object = {}) => aFile(Array.from({ length: count }, (_, n) => record(n, fields)));

/** An empty catalog, or one with these records. */
async function aCatalogOf(file = aFile([])) {
  const data = join(aDirectory(), "data");
  const run = (...args: string[]) => fundfeed([...args, "--data", data]);
  expect((await run("import", "records", file)).code).toBe(0);
  const alter = (sql: string) => {
    const db = new Database(join(data, "catalog.db"));
    db.run(sql);
    db.close();
  };
  /** Makes a write fail from now on, or no longer. */
  const fail = (on: string) => alter(`create trigger broken before ${on} begin select raise(abort, 'the disk is broken'); end`);
  const mend = () => alter("drop trigger broken");
  return { data, run, fail, mend };
}

test("import", async () => {
  const { run, fail, mend } = await aCatalogOf();
  const file = records(4500);
  fail("insert on opportunities when new.source_opportunity_id = '4400'");
  expect(await run("import", "records", file)).toEqual({
    code: 1,
    out: "",
    err: "Cannot finish import: the disk is broken; it was stopped after 4,000 of 4,500 records; the same command stores the rest\n",
  });
  mend();
  expect((await run("import", "records", file)).out).toStartWith("4,500 read: 500 added, 0 changed, 4,000 unchanged, ");
});

test("import, before anything is stored", async () => {
  const { run, fail } = await aCatalogOf();
  fail("insert on opportunities when new.source_opportunity_id = '4'");
  expect((await run("import", "records", records(10))).err).toBe("Cannot finish import: the disk is broken\n");
});

test("import, after all records are stored", async () => {
  const { run, fail } = await aCatalogOf();
  fail("update on imports when new.finished_at is not null");
  expect((await run("import", "records", records(10))).err).toBe(
    "Cannot finish import: the disk is broken; it was stopped after 10 of 10 records; the same command stores the rest\n",
  );
});

test("import events", async () => {
  const { run, fail } = await aCatalogOf(records(1));
  const event = (n: number) => ({
    source: { code: "OWN", opportunity_id: "0" },
    type: "opportunity_updated",
    severity: "material",
    summary: `Event ${n}`,
    changed_fields: [],
    changes: [],
    detected_at: new Date(1_700_000_000_000 + n * 1000).toISOString(),
  });
  fail("insert on events when new.document like '%\"Event 2100\"%'");
  expect((await run("import", "events", aFile(Array.from({ length: 2500 }, (_, n) => event(n))))).err).toBe(
    "Cannot finish import: the disk is broken; it was stopped after 2,000 of 2,500 records; the same command stores the rest\n",
  );
});

test("refresh", async () => {
  const { data, fail } = await aCatalogOf(records(1150, { dates: { closes_at: "2199-01-01T00:00:00Z" }, status: null }));
  fail("update on opportunities when old.seq > 1120");
  const err: string[] = [];
  const machine = machineOf({}, { printLine: () => undefined, printError: (text) => void err.push(text) });
  const later = () => Date.parse("2199-01-02T00:00:00Z");
  expect(await runCommandLine(["refresh", "--data", data], { ...machine, now: later })).toBe(1);
  expect(err).toEqual(["Cannot finish refresh: the disk is broken; it had changed 1,100, and the same command changes the rest"]);
});

test("redact", async () => {
  const { run, fail, mend } = await aCatalogOf(records(1500, { contacts: [{ name: "Ann", email: "ann@example.gov" }] }));
  fail("update on opportunities when old.seq > 1200");
  const { code, err } = await run("redact");
  expect([code, err]).toEqual([
    1,
    "Cannot finish redact: the disk is broken; contacts of 1000 records and 0 events are erased; the same command erases the rest\n",
  ]);
  mend();
  expect((await run("redact")).out).toStartWith("Contacts erased from 500 records");
});
