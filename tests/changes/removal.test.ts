import { afterAll, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { explain } from "../../src/changes/explain.ts";
import { aCatalog, DAY, documentOf, dropScratch, eventsOf, NOON } from "../support/imports.ts";

afterAll(dropScratch);

const record = (id: string, fields: object) => ({ source: { code: "OWN", opportunity_id: id }, title: id, ...fields });
const forecast = record("forecast", { status: "forecast", status_display: "Forecasted" });
const wordless = record("wordless", { status: "open" });

test("a removal sets status_display to null, in the opportunity_removed event", async () => {
  const catalog = await aCatalog();
  await catalog.take([forecast, wordless]);
  const asOf = NOON + DAY;
  expect(await catalog.take([record("other", {})], { snapshot: true, allowRemovals: true, asOf })).toMatchObject({ removed: 2, events: 3 });

  expect(await documentOf(catalog.db, "forecast")).toMatchObject({ status: "archived", status_display: null });
  const events = await eventsOf(catalog.db, "forecast");
  expect(events.slice(1)).toMatchObject([
    {
      type: "opportunity_removed",
      severity: "critical",
      changed_fields: ["status", "status_display"],
      changes: [
        { field: "status", previous: "forecast", current: "archived" },
        { field: "status_display", previous: "Forecasted", current: null },
      ],
    },
  ]);
  expect((await explain(catalog.db, String(events[1]?.id)))?.before).toMatchObject({ status: "forecast", status_display: "Forecasted" });
  expect((await eventsOf(catalog.db, "wordless"))[1]?.changed_fields).toEqual(["status"]);
  expect(await checkCatalog(catalog.db)).toEqual([]);
});

test("a removed record that comes back has its status_display again", async () => {
  const catalog = await aCatalog();
  await catalog.take([forecast]);
  await catalog.take([wordless], { snapshot: true, allowRemovals: true, asOf: NOON + DAY });
  await catalog.take([forecast, wordless], { snapshot: true, asOf: NOON + 2 * DAY });
  expect(await documentOf(catalog.db, "forecast")).toMatchObject({ status: "forecast", status_display: "Forecasted" });
  expect((await eventsOf(catalog.db, "forecast")).map(({ type, severity }) => [type, severity])).toEqual([
    ["opportunity_added", "informational"],
    ["opportunity_removed", "critical"],
    ["status_changed", "material"],
    ["field_updated", "cosmetic"],
  ]);
  expect(await checkCatalog(catalog.db)).toEqual([]);
});
