import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { type DatabaseFile, openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { changeRootPages, overwriteRootPage } from "../support/damage.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, aDirectory, DAY, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

let sound: string;

/** The file of an undamaged catalog with additions, changes, a removal, status turns and an imported event. */
beforeAll(async () => {
  const directory = aDirectory();
  const catalog = await aCatalog(openCatalog(directory, NOON));
  const record = (n: number, fields: object = {}) => ({ source: { code: "A", opportunity_id: `N${n}` }, title: `Title ${n}`, ...fields });
  const dated = {
    dates: { posted_at: formatInstant(NOON - DAY), closes_at: formatInstant(NOON + 20 * DAY) },
    attachments: [{ name: "a", url: null }],
  };
  await catalog.take([record(1, dated), record(2, { status: "open" }), ...Array.from({ length: 8 }, (_, n) => record(n + 3))]);
  catalog.clock.now += DAY;
  await catalog.take([record(1, { ...dated, title: "New" }), record(2, { status: "closed", title: "Newer" })]);
  await turnStatuses(catalog.db, NOON + 10 * DAY);
  await catalog.take([record(1, { ...dated, title: "Newest" }), ...Array.from({ length: 8 }, (_, n) => record(n + 2))], { snapshot: true });
  await catalog.takeEvents([
    { source: { code: "A", opportunity_id: "N1" }, type: "merged", severity: "x", detected_at: "2020-01-01T00:00:00Z" },
  ]);
  await catalog.take([{ source: { code: "DSIP", opportunity_id: "T1" }, title: "Topic" }]);
  await catalog.db.close();
  sound = join(directory, "catalog.db");
});

function copied(): string {
  const directory = aDirectory();
  copyFileSync(sound, join(directory, "catalog.db"));
  return directory;
}

/** A damaged copy of the sound catalog. */
function damaged(damage: (db: DatabaseFile<"catalog">) => void): CatalogDb {
  const db = openCatalog(copied(), NOON);
  damage(db);
  return db;
}

/** The storage faults of a data directory's catalog; the error, if the file is too damaged to be opened. */
async function storageFaultsOf(directory: string): Promise<string[]> {
  try {
    await using opened = new AsyncDisposableStack();
    const db = opened.adopt(openCatalog(directory, NOON), (each) => each.close());
    return await db.storageFaults();
  } catch (error) {
    return [String(error)];
  }
}

const N1 = "(select seq from opportunities where source_opportunity_id = 'N1')";
const statements =
  (...given: string[]) =>
  ({ sqlite }: DatabaseFile<"catalog">) => {
    for (const statement of given) if (sqlite.run(statement).changes === 0) throw new Error(`Nothing was damaged by ${statement}`);
  };
const replaced = (table: string, column: string, from: string, to: string) =>
  `update ${table} set ${column} = cast(replace(cast(${column} as text), '${from}', '${to}') as blob) where instr(cast(${column} as text), '${from}') > 0`;
const newestOf = (row: string) =>
  `(select seq from events where opportunity_seq = ${row} and origin = 'detected' order by detected_at desc, seq desc limit 1)`;
const changedN1 = (change: string) => `update opportunities set ${change} where seq = ${N1}`;
const changedFirst = (change: string) => `update opportunities set ${change} where seq = 1`;
const changedEvent = (change: string) => `update events set ${change} where seq = ${newestOf(N1)}`;

const OTHER_HASH = "its hash does not match its content";
const OTHER_COLUMNS = "its document does not match its columns";
const OTHER_HISTORY = "its history does not lead to its content";
const OTHER_ID = "its id does not derive from source and lineage";
const OTHER_FACET = "its facet does not match its document";

describe.each(engines)("check on %s", (kind, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);
  let other: CatalogDb;
  beforeAll(async () => {
    if (isThere) other = await emptyCatalog();
  });
  afterAll(() => other?.close());

  async function faultsAfter(damage: (db: DatabaseFile<"catalog">) => void, atMost?: number): Promise<string[]> {
    const db = damaged(damage);
    if (kind !== "SQLite") await copyCatalog(db, other);
    const faults = await checkCatalog(kind === "SQLite" ? db : other, atMost);
    await db.close();
    return faults.map(({ what }) => what);
  }

  testIf("finds nothing wrong with a sound catalog", async () => {
    expect(await faultsAfter(() => undefined)).toEqual([]);
  });

  testIf("stops after the given number of faults", async () => {
    const everywhere = statements("update opportunities set lineage = 'x' || seq", "delete from settings");
    expect(await faultsAfter(everywhere)).toHaveLength(12);
    expect(await faultsAfter(everywhere, 5)).toHaveLength(11);
  });

  testIf.each<[what: string, statement: string, fault: string]>([
    ["a letter of a document", replaced("opportunities", "document", "Newest", "Newert"), OTHER_HASH],
    ["a document that is not JSON", changedFirst("document = cast('{' as blob)"), "cannot be read"],
    ["a document with other white space", replaced("opportunities", "document", '"title":', '"title": '), OTHER_COLUMNS],
    ["updated_at", changedN1("updated_at = updated_at + 1"), OTHER_COLUMNS],
    ["created_at", changedN1("created_at = updated_at + 1"), "it was updated before it was created"],
    ["the hash", changedFirst("hash = zeroblob(32)"), OTHER_HASH],
    ["the sidecar", replaced("opportunities", "sidecar", '"a"', '"b"'), OTHER_HASH],
    ["the id", changedFirst("id = '00000000-0000-5000-8000-000000000000'"), OTHER_ID],
    ["the lineage", changedFirst("lineage = 'x'"), OTHER_ID],
    ["the source", changedFirst("source = 'B'"), "its source differs from its document's"],
    ["the upstream id", changedFirst("source_opportunity_id = 'x'"), "its upstream id differs from its document's"],
    ["a facet", "update facets set agency = 'x' where id = (select facet_id from opportunities where seq = 1)", OTHER_FACET],
    ["the facet of a record", changedFirst("facet_id = 99"), OTHER_FACET],
    ["a status turn that is lost", changedN1("turns_at = null"), "would never turn"],
    ["a status turn at the wrong instant", changedN1("turns_at = turns_at - 1"), "its turn is due at an instant that changes nothing"],
    [
      "a status turn of a stated status",
      "update opportunities set turns_at = 1 where status_basis = 'stated'",
      "its status is stated and would still turn",
    ],
    ["the status basis", changedN1("status_basis = 'stated'"), OTHER_HASH],
    ["an upstream id that is lost", `delete from upstream_ids where opportunity_seq = ${N1}`, "it cannot be found by its upstream id"],
    [
      "a version of a record without its id",
      `insert into versions values ('A', 'x', ${N1}, 'k', 's', 't', null, null)`,
      "1 versions belong to a record without their id",
    ],
    ["an upstream id without a record", "insert into upstream_ids values ('x', 'A', 999, 0)", "1 upstream ids belong to no record"],
    [
      "an earlier sidecar without a record",
      "insert into earlier_sidecars values (999, 0, 'dates', '{}')",
      "1 earlier sidecars belong to no record",
    ],
    ["the link keys", "update link_keys set key = 'X'", "its link keys do not match its content"],
    ["a link key without a record", "insert into link_keys values ('x', 'holds', 0, 'y')", "1 link keys belong to no record"],
    ["a record that is lost", `delete from opportunities where seq = ${N1}`, "events belong to no record"],
    ["the newest event lost", `delete from events where seq = ${newestOf(N1)}`, OTHER_HISTORY],
    [
      "the addition lost",
      "delete from events where type = 'opportunity_added' and opportunity_seq = 3",
      "its history does not begin with its addition",
    ],
    ["every event lost", `delete from events where opportunity_seq = ${N1}`, "its history does not begin with its addition"],
    ["a value in the history", replaced("events", "document", '"current":"New"', '"current":"Now"'), OTHER_HISTORY],
    [
      "the name of a field in the history",
      replaced("events", "document", '"changed_fields":["title"]', '"changed_fields":["summary"]'),
      "differ from its changes",
    ],
    ["an event's instant", changedEvent("detected_at = detected_at + 1"), "does not match its columns"],
    [
      "an event's type",
      "update events set type = 'funding_changed' where type = 'date_changed' or type = 'description_changed'",
      "has another type or severity in its document",
    ],
    [
      "an event's severity",
      "update events set severity = 'noise' where type = 'opportunity_removed'",
      "has another type or severity in its document",
    ],
    ["an event's record", changedEvent("opportunity_seq = 3"), "does not match its columns"],
    ["an event's document", changedEvent("document = cast('[]' as blob)"), "cannot be read"],
    ["an event's import", "update events set import_id = 99 where seq = 1", "1 events refer to a missing import"],
    ["an imported event's id", "update events set id = 'x' where origin = 'imported'", "event x does not match its columns"],
    ["a count of records", "update facets set records = records + 1 where id = 1", "facet 1 counts "],
    [
      "a count of records posted on a day",
      "update counts set number = 5 where kind = 'posted'",
      "A counts 5 records posted on 2026-02-28, but has 1",
    ],
    ["a missing count", "delete from counts where kind = 'posted'", "A counts no records posted on 2026-02-28, but has 1"],
    ["the cursor secret lost", "delete from settings", "the cursor secret is missing"],
    ["the cursor secret cut", "update settings set value = x'00'", "the cursor secret is missing or not 32 bytes long"],
  ])("notices %s", async (_, statement, fault) => {
    const faults = await faultsAfter(statements(statement));
    expect(faults.filter((found) => found.includes(fault))).not.toEqual([]);
  });
});

describe("storageFaults()", () => {
  test("finds nothing wrong with a sound file", async () => {
    expect(await storageFaultsOf(copied())).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ["a page of a table", (path) => overwriteRootPage(path, "opportunities")],
    ["a page of an index", (path) => overwriteRootPage(path, "opportunities_order")],
    ["a truncated file", (path) => truncateSync(path, readFileSync(path).length - 3 * 8192)],
  ])("notices damage to %s", async (_, damage) => {
    const directory = copied();
    damage(join(directory, "catalog.db"));
    expect(await storageFaultsOf(directory)).not.toEqual([]);
  });

  test("notices an index with another index's entries", async () => {
    const directory = copied();
    changeRootPages(join(directory, "catalog.db"), ["opportunities_turning", "facets_values"], ([turning, facets]) =>
      facets?.copy(turning as Buffer),
    );
    expect(await storageFaultsOf(directory)).not.toEqual([]);
  });
});
