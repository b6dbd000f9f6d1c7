import { afterAll, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { aCatalog, documentOf, dropScratch, eventsOf } from "../support/imports.ts";
import { realPath } from "../support/real-data.ts";

afterAll(dropScratch);

const details = realPath("grants-gov/opportunity-details-358302.json");

test("revisions in Grants.gov's history become events at their own instants, once", async () => {
  const catalog = await aCatalog();
  expect(await catalog.takeFiles([details], { format: grantsGov, dryRun: true })).toMatchObject({ added: 1, events: 2 });
  expect(await catalog.takeFiles([details], { format: grantsGov })).toMatchObject({ added: 1, events: 2 });

  const [, event] = await eventsOf(catalog.db, "358302");
  // As in its `synopsisModifiedFields`: the eligibility text was changed on Feb 03, 2025 09:44:28 AM EST.
  expect(event).toMatchObject({
    type: "field_updated",
    severity: "material",
    changed_fields: ["eligibility.requirements"],
    detected_at: "2025-02-03T14:44:28.000Z",
  });
  expect(event?.changes).toHaveLength(1);

  expect(await catalog.takeFiles([details], { format: grantsGov })).toMatchObject({ unchanged: 1, events: 0 });
  expect(await checkCatalog(catalog.db)).toEqual([]);
});

test("revisions that appeared after the first import add no events, because imports detected them", async () => {
  const catalog = await aCatalog();
  await catalog.takeFiles([details], { format: grantsGov, asOf: Date.parse("2025-01-20T00:00:00Z") });
  expect((await eventsOf(catalog.db, "358302")).map(({ type }) => type)).toEqual(["opportunity_added"]);
  expect((await documentOf(catalog.db, "358302")).created_at).toBe("2025-01-20T00:00:00.000Z");
});
