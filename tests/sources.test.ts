/** The source catalogue, and what is told of each source that has records. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { addSource, listSources, removeSource, requireSources, sourceStatuses } from "../src/sources.ts";
import { copyCatalog, engines } from "./support/engines.ts";
import { aCatalog, DAY, dropScratch, NOON } from "./support/imports.ts";
import { rawSql } from "./support/sql.ts";

setDefaultTimeout(300_000); // A PostgreSQL that starts on a busy machine takes its time.

afterAll(dropScratch);

const record = (code: string, n: number, fields: object = {}) => ({ source: { code, opportunity_id: `N${n}` }, title: "T", ...fields });

describe.each(engines)("sources on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  testIf("are named, renamed and taken out", async () => {
    const db = await emptyCatalog();
    const before = await listSources(db);
    expect(before.map(({ code }) => code)).toEqual(before.map(({ code }) => code).sort());
    await addSource(db, { code: " own_1 ", name: "Own", description: "Mine." });
    expect(await addSource(db, { code: "OWN_1", name: "Own", description: "Mine alone." })).toMatchObject({ code: "OWN_1" });
    expect((await listSources(db)).filter(({ code }) => code === "OWN_1")).toEqual([
      { code: "OWN_1", name: "Own", description: "Mine alone." },
    ]);
    expect([await removeSource(db, "own_1"), await removeSource(db, "own_1")]).toEqual([true, false]);
    expect(await listSources(db)).toEqual(before);
    await db.close();
  });

  testIf("have records, live ones, and an import that finished last", async () => {
    const { db: filled, clock, take, takeEvents } = await aCatalog();
    await take([record("B", 1), record("a", 1), record("B", 2, { status: "archived" })]);
    clock.now += DAY;
    await take([record("B", 3)]);
    clock.now += DAY;
    await takeEvents([{ source: { code: "A", opportunity_id: "N1" }, type: "x", severity: "x", detected_at: "2026-01-01T00:00:00Z" }]);
    await filled.run(
      rawSql("insert into imports (format, files, sources, snapshot, started_at, counts) values ('x', '[]', '[\"A\"]', 0, 0, '{}')"),
    );
    const db = await emptyCatalog();
    await copyCatalog(filled, db);

    expect(await sourceStatuses(db)).toEqual([
      { source: "A", records: 1, live: 1, last_import_at: NOON },
      { source: "B", records: 3, live: 2, last_import_at: NOON + DAY },
    ]);
    await requireSources(db, ["A", "B", "SAM_GOV"], "export");
    await expect(requireSources(db, ["SAM_GOB"], "export")).rejects.toThrow("Cannot export source SAM_GOB: there is none of that code");
    await db.close();
  });
});
