/** A database of an older version comes up to date, and a migration that is killed leaves the old state. */
import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Migration } from "../../db/migration.ts";
import { migrate, migrations } from "../../db/sqlite/migrate.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createAccess } from "../../src/accounts/access.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { locations } from "../support/engines.ts";
import { aCatalog, aDirectory, contentsOf, dropScratch, NOON } from "../support/imports.ts";
import { nextVersion } from "../support/next-version.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

describe.each(locations)("databases of the version before on %s", (_, isThere, newLocation) => {
  test.if(isThere)("come up to date with all that is in them, and are refused by that version from then on", async () => {
    const location = await newLocation();
    const old = [await location.catalog(NOON), await location.state(NOON)] as const;
    await (await aCatalog(old[0])).take([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]);
    await old[1].run(rawSql("insert into accounts (name, plan, subscription, created_at) values ('Acme', 'starter', 'active', 0)"));
    const before = await contentsOf(old[0]);
    await Promise.all(old.map((db) => db.close()));
    {
      using _next = nextVersion();
      const [catalog, state] = [await location.catalog(NOON + 1), await location.state(NOON + 1)];
      expect([...(await catalog.storageFaults()), ...(await state.storageFaults()), ...(await checkCatalog(catalog))]).toEqual([]);
      expect(await contentsOf(catalog)).toBe(before);
      expect(await catalog.get(rawSql("select tag from migrations order by n desc"))).toEqual({ tag: "9999_next" });
      expect(await catalog.all(rawSql("select distinct color from sources"))).toEqual([{ color: null }]);
      expect(await state.all(rawSql("select name, color from plans where name = 'paid'"))).toEqual([{ name: "paid", color: null }]);
      expect((await createAccess(state)).keys.size).toBe(0);
      expect(await state.all(rawSql("select name from accounts"))).toEqual([{ name: "Acme" }]);
      await Promise.all([catalog.close(), state.close()]);
    }
    for (const open of [location.catalog, location.state]) await expect(open(NOON)).rejects.toThrow("a newer version of fundfeed made it");
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
