/** Erases contacts from stored records and events, on each engine. */
import { describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored, rehearseRedaction } from "../../src/changes/redact.ts";
import { postgresLocation, sqliteLocation } from "../support/database-locations.ts";
import { DAY, NOON } from "../support/imports.ts";
import { hasPostgres, quietPostgresServer } from "../support/postgres.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";
import { waitFor } from "../support/wait-for.ts";

const ann = { name: "Ann", email: "ann@example.gov" };
const record = (code: string, id: string, fields: object = {}) => anOpportunity({ source: { code, opportunity_id: id }, ...fields });

const texts = async ({ all }: CatalogDb, table: "opportunities" | "events") =>
  (await all(rawSql<{ document: Uint8Array }>(`select document from ${table} order by seq`))).map(({ document }) =>
    Buffer.from(document).toString(),
  );
const countNaming = (documents: readonly string[]) => documents.filter((text) => text.includes("Ann")).length;

describe.each([
  ["SQLite", true, async () => sqliteLocation(":memory:")],
  ["PostgreSQL", hasPostgres, async () => postgresLocation(await quietPostgresServer())],
] as const)("redactStored() on %s", (_, isThere, location) => {
  test.if(isThere)("erases contacts from the records and events of some sources, or of all", async () => {
    const db = await (await location()).catalog(NOON);
    await storeRecords(db, [record("A", "1", { contacts: [ann] }), record("B", "1", { contacts: [ann] }), record("B", "2")], NOON);
    await storeRecords(db, [record("A", "1", { contacts: [{ ...ann, phone: "1" }] }), record("B", "1", { contacts: [] })], NOON + DAY);
    expect([countNaming(await texts(db, "opportunities")), countNaming(await texts(db, "events"))]).toEqual([1, 2]);

    const before = [await texts(db, "opportunities"), await texts(db, "events")];
    expect(await rehearseRedaction(db, ["C"])).toEqual({ records: 0, events: 0 });
    expect(await rehearseRedaction(db, ["B", "C"])).toEqual({ records: 0, events: 1 });
    expect(await rehearseRedaction(db, undefined)).toEqual({ records: 1, events: 2 });
    expect([await texts(db, "opportunities"), await texts(db, "events")]).toEqual(before);

    expect(await redactStored(db, ["C"], NOON + 2 * DAY)).toEqual({ records: 0, events: 0 });
    expect(await redactStored(db, ["B", "C"], NOON + 2 * DAY)).toEqual({ records: 0, events: 1 });
    expect([countNaming(await texts(db, "opportunities")), countNaming(await texts(db, "events"))]).toEqual([1, 1]);
    expect(await redactStored(db, undefined, NOON + 2 * DAY)).toEqual({ records: 1, events: 1 });
    expect([countNaming(await texts(db, "opportunities")), countNaming(await texts(db, "events"))]).toEqual([0, 0]);
    expect(await redactStored(db, undefined, NOON + 2 * DAY)).toEqual({ records: 0, events: 0 });
    expect(await db.get(rawSql("select count(*) as count, max(updated_at) as newest from opportunities"))).toEqual({
      count: 3,
      newest: NOON + 2 * DAY + 1, // The record with contacts in its history only was redacted before, at the instant before.
    });
    expect((await texts(db, "events")).some((text) => text.includes('"changes":[{"field":"contacts","previous":[],"current":[]}]'))).toBe(
      true,
    );
    await db.run(rawSql("update events set import_id = null")); // `storeRecords` stores them with an import that does not exist.
    expect(await checkCatalog(db)).toEqual([]);
    await waitFor("no reader sees old versions", () => db.vacuum());
    await db.close();
  });
});
