/** Named sources, and what is stored of each source. */
import { afterAll, describe, expect, test } from "bun:test";
import { sourceStatuses } from "../../src/opportunities/source-counts.ts";
import { addSource, listSources, newestPostedDates, removeSource, requireSources } from "../../src/sources/source.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, DAY, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const record = (code: string, n: number, fields: object = {}) => ({ source: { code, opportunity_id: `N${n}` }, title: "T", ...fields });

describe.each(engines)("sources on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  testIf("are added, updated and removed", async () => {
    const db = await emptyCatalog();
    const before = await listSources(db);
    expect(before.map(({ code }) => code)).toEqual(before.map(({ code }) => code).sort());
    await addSource(db, { code: " own_1 ", name: "Own", description: "Mine." });
    expect(await addSource(db, { code: "OWN_1", name: " Own ", description: " Mine alone. " })).toMatchObject({ code: "OWN_1" });
    expect((await listSources(db)).filter(({ code }) => code === "OWN_1")).toEqual([
      { code: "OWN_1", name: "Own", description: "Mine alone." },
    ]);
    expect([await removeSource(db, "own_1"), await removeSource(db, "own_1")]).toEqual([true, false]);
    expect(await listSources(db)).toEqual(before);
    await db.close();
  });

  testIf("have codes of ASCII characters", async () => {
    const db = await emptyCatalog();
    const before = await listSources(db);
    for (const code of ["ß", "OWN_É", "ı"])
      await expect(addSource(db, { code, name: "Own", description: "Mine." })).rejects.toThrow(`Cannot add source "${code}": a code has`);
    expect(await listSources(db)).toEqual(before);
    await db.close();
  });

  testIf("have a newest posted date, which is never in the future", async () => {
    const { db: filled, take } = await aCatalog();
    const posted = (code: string, n: number, posted_at: string | null) => record(code, n, { dates: { posted_at } });
    await take([
      posted("A", 1, "2025-12-31T23:00:00-05:00"),
      posted("A", 2, "2026-01-02T00:00:00Z"),
      posted("A", 3, "2026-01-03T00:00:00Z"),
      posted("A", 4, null),
      posted("B", 1, null),
      record("C", 1, { description: '{"posted_at":"2026-01-01T00:00:00Z"}', dates: { posted_at: "2020-02-02T00:00:00Z" } }),
    ]);
    const db = await emptyCatalog();
    await copyCatalog(filled, db);
    expect([...(await newestPostedDates(db, "2026-01-02"))].sort()).toEqual([
      ["A", "2026-01-02"],
      ["C", "2020-02-02"],
    ]);
    await db.close();
  });

  testIf("have counts of records, and a last import", async () => {
    const { db: filled, clock, take, takeEvents } = await aCatalog();
    await take([record("B", 1, { status: "closing_soon" }), record("a", 1), record("B", 2, { status: "archived" })]);
    clock.now += DAY;
    await take([record("B", 3, { status: "closed" })]);
    clock.now += DAY;
    await takeEvents([{ source: { code: "A", opportunity_id: "N1" }, type: "x", severity: "x", detected_at: "2026-01-01T00:00:00Z" }]);
    await filled.run(
      rawSql("insert into imports (format, files, sources, snapshot, started_at, counts) values ('x', '[]', '[\"A\"]', 0, 0, '{}')"),
    );
    const db = await emptyCatalog();
    await copyCatalog(filled, db);

    expect(await sourceStatuses(db)).toEqual([
      { source: "A", records: 1, open: 1, live: 1, last_import_at: NOON },
      { source: "B", records: 3, open: 1, live: 2, last_import_at: NOON + DAY },
    ]);
    await requireSources(db, ["A", "B", "SAM_GOV"], "export");
    await expect(requireSources(db, ["SAM_GOB"], "export")).rejects.toThrow("Cannot export source SAM_GOB: no source has this code");
    await db.close();
  });
});
