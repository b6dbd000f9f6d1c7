import { afterAll, expect, test } from "bun:test";
import { explain } from "../../src/changes/explain.ts";
import { refresh } from "../../src/changes/refresh.ts";
import { formatInstant } from "../../src/instant.ts";
import { aCatalog, DAY, dropScratch, eventsOf, NOON, type TestCatalog } from "../support/imports.ts";

afterAll(dropScratch);

const record = (fields: object = {}) => ({
  source: { code: "A", opportunity_id: "N1" },
  title: "One",
  dates: { closes_at: formatInstant(NOON + 15 * DAY) },
  ...fields,
});

/** Added, changed in two ways at once, moved by the clock, told of by another history, changed again, removed. */
async function withHistory(): Promise<TestCatalog> {
  const catalog = aCatalog();
  await catalog.take([record()]);
  catalog.clock.now += 1000;
  await catalog.take([record({ title: "ONE", eligibility: { requirements: "All" } })]);
  await refresh(catalog.db, NOON + DAY);
  await catalog.takeEvents([
    { source: { code: "A", opportunity_id: "N1" }, type: "merged", severity: "x", detected_at: formatInstant(NOON + 2 * DAY) },
  ]);
  catalog.clock.now = NOON + 3 * DAY;
  await catalog.take([record({ title: "Two", eligibility: { requirements: "All" } })]);
  await catalog.take([{ source: { code: "A", opportunity_id: "N2" }, title: "Other" }], { snapshot: true, allowRemovals: true });
  return catalog;
}

async function explanations({ db }: TestCatalog) {
  const explained = await Promise.all(eventsOf(db, "N1").map(({ id }) => explain(db, String(id))));
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

test("explain() gives the record before and after, the rules, and the import", async () => {
  expect(await explanations(await withHistory())).toEqual([
    ["opportunity_added", null, ["One", "open", null], [[null, "informational"]], 1, "detected"],
    ["description_changed", ["One", "open", null], ["ONE", "open", "All"], [["title", "cosmetic"]], 2, "detected"],
    ["field_updated", ["One", "open", null], ["ONE", "open", "All"], [["eligibility.requirements", "material"]], 2, "detected"],
    ["status_changed", ["ONE", "open", "All"], ["ONE", "closing_soon", "All"], [["status", "informational"]], null, "detected"],
    ["unknown", ["ONE", "closing_soon", "All"], ["ONE", "closing_soon", "All"], [], 3, "imported"],
    ["description_changed", ["ONE", "closing_soon", "All"], ["Two", "closing_soon", "All"], [["title", "informational"]], 4, "detected"],
    ["opportunity_removed", ["Two", "closing_soon", "All"], ["Two", "archived", "All"], [[null, "critical"]], 5, "detected"],
  ]);
});

test("explain() finds an event whatever the case of its id, and nothing where there is none", async () => {
  const { db } = await withHistory();
  const [event] = eventsOf(db, "N1");
  expect((await explain(db, String(event?.id).toUpperCase()))?.event).toEqual(event as never);
  expect(await explain(db, "00000000-0000-5000-8000-000000000000")).toBeUndefined();
});
