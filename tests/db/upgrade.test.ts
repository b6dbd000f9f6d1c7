/** Databases of earlier versions come up to date, and a migration that is killed leaves the old state. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Migration } from "../../db/migration.ts";
import { migrate, migrations } from "../../db/sqlite/migrate.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { createAccess } from "../../src/accounts/access.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { sourceStatuses } from "../../src/sources/source.ts";
import { aDirectory, documentsOf, dropScratch, eventsOf, NOON } from "../support/imports.ts";

afterAll(dropScratch);

/**
 * `schema-N` holds both files, gzipped, as the first version with that schema left them: record OWN 1 imported with `--as-of 2026-01-01T00:00:00Z`
 * as "First title" and a day later as "Second title", and a key of account Acme on plan starter. A released schema that changes adds one.
 */
const kept = join(import.meta.dir, "../data");

/** A data directory with the files that were kept. */
function unpacked(version: string): string {
  const directory = aDirectory();
  for (const name of ["catalog.db", "state.db"]) {
    writeFileSync(join(directory, name), gunzipSync(readFileSync(join(kept, version, `${name}.gz`))));
  }
  return directory;
}

describe("a data directory", () => {
  test.each(readdirSync(kept).filter((name) => name.startsWith("schema-")))(
    "of %s comes up to date with all that is in it",
    async (version) => {
      const directory = unpacked(version);
      const [catalog, state] = [openCatalog(directory, NOON), openState(directory, NOON)];
      expect([...(await catalog.storageFaults()), ...(await state.storageFaults()), ...(await checkCatalog(catalog))]).toEqual([]);
      expect((await documentsOf(catalog)).map(({ title }) => title)).toEqual(["Second title"]);
      expect((await eventsOf(catalog, "1")).map(({ type }) => type)).toContain("description_changed");
      expect(await sourceStatuses(catalog)).toMatchObject([{ source: "OWN", records: 1, last_import_at: expect.any(Number) }]);
      const { keys } = await createAccess(state);
      expect([...keys.values()]).toMatchObject([{ account: "Acme", daily: 10_000, revoked: false }]);
      await catalog.close();
      await state.close();
    },
  );

  test.each(["catalog", "state"] as const)("whose %s.db has had any number of migrations is migrated", async (kind) => {
    for (let step = 1; step <= migrations[kind].length; step++) {
      const directory = aDirectory();
      const old = new Database(join(directory, `${kind}.db`), { create: true });
      old.run(`pragma application_id = ${kind === "catalog" ? 0x66666374 : 0x66667374}`);
      migrate(old, migrations[kind].slice(0, step), NOON);
      old.close();
      const db = (kind === "catalog" ? openCatalog : openState)(directory, NOON);
      expect(db.sqlite.query("select count(*) as count from migrations").get()).toEqual({ count: migrations[kind].length });
      await db.close();
    }
  });
});

describe("a migration", () => {
  const slow: Migration = {
    tag: "9999_slow",
    sql: [
      "alter table sources add column color text",
      "create table numbers (n integer primary key, text text not null)",
      "insert into numbers with recursive n(n) as (select 1 union all select n + 1 from n where n < 20000000) select n, hex(randomblob(50)) from n",
    ].join("--> statement-breakpoint\n"),
  };

  test("that is killed leaves the old state, and the next one completes it", async () => {
    const directory = aDirectory();
    await openCatalog(directory, NOON).close();
    const path = join(directory, "catalog.db");
    const script = join(directory, "migrate.ts");
    const source = join(import.meta.dir, "../../db/sqlite/migrate.ts");
    writeFileSync(
      script,
      `import { Database } from "bun:sqlite";
       import { migrate, migrations } from ${JSON.stringify(source)};
       const sqlite = new Database(${JSON.stringify(path)});
       sqlite.run("pragma cache_size = 10"); // So that it writes to the disk long before its end.
       migrate(sqlite, [...migrations.catalog, ${JSON.stringify(slow)}], 0);`,
    );
    const before = schemaOf(path);
    const child = Bun.spawn([process.execPath, script], { stderr: "inherit" });
    const written = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    while (child.exitCode === null && written() < 1_000_000) await Bun.sleep(5);
    child.kill("SIGKILL");
    await child.exited;
    expect([child.signalCode, written() > 0]).toEqual(["SIGKILL", true]);
    const db = openCatalog(directory, NOON);
    expect(schemaOf(path)).toEqual(before);
    const quick = { ...slow, sql: slow.sql.replace("20000000", "20") };
    migrate(db.sqlite, [...migrations.catalog, quick], NOON);
    expect(db.sqlite.query("select count(*) as count from numbers").get()).toEqual({ count: 20 });
    await db.close();
    expect(() => openCatalog(directory, NOON)).toThrow("a newer version of fundfeed made it");
  });

  function schemaOf(path: string): unknown {
    const sqlite = new Database(path);
    const rows = sqlite.query("select sql from sqlite_master union all select tag from migrations order by 1").all();
    sqlite.close();
    return rows;
  }
});
