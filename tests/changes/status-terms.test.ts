/** D-37: a status that is stated until an instant, and an archive date. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { aCatalog, contentsOf, DAY, documentOf, dropScratch, eventsOf, exportOf, NOON, type TestCatalog } from "../support/imports.ts";

afterAll(dropScratch);

const at = (days: number) => formatInstant(NOON + days * DAY);
const record = (fields: object) => ({ source: { code: "A", opportunity_id: "N1" }, title: "N1", ...fields });
const forecast = record({ status: "forecast", status_display: "Planned", status_until: at(30), dates: { closes_at: at(40) } });
const archived = record({ status: "forecast", status_display: "Planned", archives_at: at(30) });

async function shown({ db }: TestCatalog) {
  const { status, status_display } = await documentOf(db, "N1");
  return [status, status_display];
}

/** The status on each day on which it turns. */
async function turnsOf(catalog: TestCatalog, days: readonly number[]) {
  const turns: unknown[] = [];
  for (const day of days) {
    catalog.clock.now = NOON + day * DAY;
    const { changed } = await turnStatuses(catalog.db, catalog.clock.now);
    if (changed > 0) turns.push([day, ...(await shown(catalog))]);
    expect(await checkCatalog(catalog.db)).toEqual([]);
  }
  return turns;
}

describe("a status with an end", () => {
  test("holds until then; afterwards the dates determine it, without the source's word", async () => {
    const catalog = await aCatalog();
    await catalog.take([forecast]);
    expect(await shown(catalog)).toEqual(["forecast", "Planned"]);
    expect(await turnsOf(catalog, [29, 30, 39, 40, 1000])).toEqual([
      [30, "closing_soon", null],
      [40, "closed", null],
    ]);
    expect(await catalog.take([forecast])).toMatchObject({ unchanged: 1, events: 0 });
  });

  test("turns to archived on its archive date, whatever it was", async () => {
    const catalog = await aCatalog();
    await catalog.take([archived]);
    expect(await turnsOf(catalog, [29, 30, 1000])).toEqual([[30, "archived", null]]);
    expect((await eventsOf(catalog.db, "N1")).map(({ type }) => type)).toEqual(["opportunity_added", "status_changed", "field_updated"]);
    expect(await catalog.take([archived])).toMatchObject({ unchanged: 1, events: 0 });
    expect(await catalog.take([record({ dates: { closes_at: at(2000) } })])).toMatchObject({ changed: 1 });
    expect(await shown(catalog)).toEqual(["open", null]);
  });

  test("whose end alone moves is unchanged for clients, and turns at the new one", async () => {
    const catalog = await aCatalog();
    await catalog.take([archived]);
    const before = await documentOf(catalog.db, "N1");
    expect(await catalog.take([{ ...archived, archives_at: at(50) }])).toMatchObject({ unchanged: 1, events: 0 });
    expect(await documentOf(catalog.db, "N1")).toEqual(before);
    expect(await turnsOf(catalog, [30, 49, 50])).toEqual([[50, "archived", null]]);
    expect(await catalog.take([{ ...archived, archives_at: at(2000) }])).toMatchObject({ changed: 1, events: 2 });
    expect(await shown(catalog)).toEqual(["forecast", "Planned"]);
  });

  test("keeps it when the record is redacted, exported and restored, and when the clock was ahead", async () => {
    const catalog = await aCatalog();
    await catalog.take([{ ...archived, contacts: [{ name: "Ada" }] }]);
    await redactStored(catalog.db, undefined, NOON + DAY);
    const restored = await aCatalog();
    restored.clock.now = NOON + DAY;
    await restored.take((await exportOf(catalog.db)).join("\n"));
    expect(await exportOf(restored.db)).toEqual(await exportOf(catalog.db));
    expect(await turnsOf(restored, [40, 2, 40])).toEqual([
      [40, "archived", null],
      [2, "forecast", "Planned"],
      [40, "archived", null],
    ]);
    const late = await aCatalog();
    late.clock.now = NOON + 60 * DAY;
    await late.take((await exportOf(restored.db)).join("\n"));
    expect(await exportOf(late.db)).toEqual(await exportOf(restored.db));
  });

  test("loses it when a snapshot lacks the record, and has it again when the record is back", async () => {
    const catalog = await aCatalog();
    await catalog.take([archived]);
    await catalog.take([{ ...record({}), source: { code: "A", opportunity_id: "N2" } }], { snapshot: true, allowRemovals: true });
    expect(await turnsOf(catalog, [30])).toEqual([]);
    expect(await catalog.take([{ ...archived, archives_at: at(50) }])).toMatchObject({ changed: 1 });
    expect(await turnsOf(catalog, [40, 50])).toEqual([[50, "archived", null]]);
  });

  test("of a restored record that should have turned turns at the next refresh", async () => {
    const catalog = await aCatalog();
    await catalog.take([archived]);
    const late = await aCatalog();
    late.clock.now = NOON + 60 * DAY;
    await late.take((await exportOf(catalog.db)).join("\n"));
    expect(await shown(late)).toEqual(["forecast", "Planned"]);
    expect(await turnsOf(late, [60])).toEqual([[60, "archived", null]]);
  });

  test("needs a status", async () => {
    const catalog = await aCatalog();
    const { rejected, reasons } = await catalog.take([record({ status_until: at(30) })], { rejects: undefined });
    expect([rejected, reasons?.map(({ reason }) => reason)]).toEqual([1, ["status is required where status_until is given"]]);
  });

  test("is no change if its instants are only spelt otherwise", async () => {
    const catalog = await aCatalog();
    await catalog.take([archived]);
    const before = await contentsOf(catalog.db);
    const eastern = `${new Date(NOON + 30 * DAY - 4 * 3_600_000).toISOString().slice(0, 19)}-04:00`;
    expect(await catalog.take([{ ...archived, archives_at: eastern }])).toMatchObject({ unchanged: 1 });
    expect(await contentsOf(catalog.db)).toBe(before);
  });
});
