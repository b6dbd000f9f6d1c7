import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { explain } from "../../src/changes/explain.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { onPostgres } from "../support/database-locations.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, DAY, dropScratch, eventsOf, NOON, type TestCatalog } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const record = (fields: object = {}) => ({
  source: { code: "A", opportunity_id: "N1" },
  title: "One",
  dates: { closes_at: formatInstant(NOON + 15 * DAY) },
  ...fields,
});

/** A record that was added, changed in two ways at once, turned by date, given an imported event, changed again and removed. */
async function withHistory(): Promise<TestCatalog> {
  const catalog = await aCatalog();
  await catalog.take([record()]);
  catalog.clock.now += 1000;
  await catalog.take([record({ title: "ONE", eligibility: { requirements: "All" } })]);
  await turnStatuses(catalog.db, NOON + DAY);
  catalog.clock.now = NOON + 3 * DAY;
  await catalog.takeEvents([
    { source: { code: "A", opportunity_id: "N1" }, type: "merged", severity: "x", detected_at: formatInstant(NOON + 2 * DAY) },
  ]);
  await catalog.take([record({ title: "Two", eligibility: { requirements: "All" } })]);
  await catalog.take([{ source: { code: "A", opportunity_id: "N2" }, title: "Other" }], { snapshot: true, allowRemovals: true });
  return catalog;
}

async function explanations(db: CatalogDb, eventIds: readonly string[]) {
  const explained = await Promise.all(eventIds.map((id) => explain(db, id)));
  return explained.map((each) => {
    if (each === undefined) throw new Error("An event has no explanation");
    const state = (content: typeof each.after | null) =>
      content === null ? null : [content.title, content.status, content.eligibility.requirements];
    return [
      each.event.type,
      state(each.before),
      state(each.after),
      each.rules.map(({ field, severity }) => [field, severity]),
      each.import?.id ?? null,
      each.origin,
    ];
  });
}

describe.each(engines)("explain() on %s", (_, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  /** A copy of that history on the engine, and the ids of its events in order. */
  async function stored() {
    const { db: filled } = await withHistory();
    const db = await emptyCatalog();
    await copyCatalog(filled, db);
    const events = await eventsOf(filled, "N1");
    return { db, events, ids: events.map(({ id }) => String(id)), [Symbol.asyncDispose]: () => db.close() };
  }

  testIf("returns the record before and after, the rules and the import", async () => {
    await using place = await stored();
    expect(await explanations(place.db, place.ids)).toEqual([
      ["opportunity_added", null, ["One", "open", null], [[null, "informational"]], 1, "detected"],
      ["description_changed", ["One", "open", null], ["ONE", "open", "All"], [["title", "cosmetic"]], 2, "detected"],
      ["field_updated", ["One", "open", null], ["ONE", "open", "All"], [["eligibility.requirements", "material"]], 2, "detected"],
      ["status_changed", ["ONE", "open", "All"], ["ONE", "closing_soon", "All"], [["status", "informational"]], null, "detected"],
      ["unknown", ["ONE", "closing_soon", "All"], ["ONE", "closing_soon", "All"], [], 3, "imported"],
      ["description_changed", ["ONE", "closing_soon", "All"], ["Two", "closing_soon", "All"], [["title", "informational"]], 4, "detected"],
      ["opportunity_removed", ["Two", "closing_soon", "All"], ["Two", "archived", "All"], [[null, "critical"]], 5, "detected"],
    ]);
  });

  testIf("finds an event by its id in any letter case, and returns undefined for an unknown id", async () => {
    await using place = await stored();
    expect((await explain(place.db, place.ids[0]?.toUpperCase() ?? ""))?.event).toEqual(place.events[0] as never);
    expect(await explain(place.db, "00000000-0000-5000-8000-000000000000")).toBeUndefined();
  });

  testIf("throws for an event whose record is missing", async () => {
    await using place = await stored();
    await place.db.run(rawSql("delete from opportunities where source_opportunity_id = 'N1'"));
    await expect(explain(place.db, place.ids[0] ?? "")).rejects.toThrow("its record is missing");
  });
});

// The statement is SQLite's.
test.skipIf(onPostgres)("names no rule for an event that an older version classified in another way", async () => {
  const catalog = await aCatalog();
  await catalog.take([record({ dates: { closes_at: "2027-03-01T23:59:00-05:00" } })]);
  catalog.clock.now += 1000;
  await catalog.take([record({ dates: { closes_at: "2027-03-01T23:59:59-05:00" } })]);
  const id = String((await eventsOf(catalog.db, "N1")).at(-1)?.id);
  expect((await explain(catalog.db, id))?.rules).toMatchObject([{ severity: "cosmetic" }]);
  await catalog.db.run(rawSql("update events set document = cast(replace(cast(document as text), 'cosmetic', 'material') as blob)"));
  expect((await explain(catalog.db, id))?.rules).toEqual([]);
});
