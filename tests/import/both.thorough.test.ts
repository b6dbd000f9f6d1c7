/** The same imports leave the same rows, whatever the engine: row numbers, ids and bytes. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { redactStored } from "../../src/changes/redact.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { formats } from "../../src/import/formats/all.ts";
import { postgresLocation, sqliteLocation } from "../support/database-locations.ts";
import { fewOf } from "../support/few-grants.ts";
import { aCatalog, aFile, DAY, dropScratch, exportOf, NOON, type TestCatalog } from "../support/imports.ts";
import { hasPostgres } from "../support/postgres.ts";
import { sample } from "../support/sample.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const AFTER = Date.UTC(2027, 0, 1);

/** What the sources published in the sample (of Grants.gov, a third), a history kept elsewhere, turns of the clock, and contacts erased. */
async function fill(catalog: TestCatalog): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (const { file, asOf, format: name } of sample) {
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Error(`There is no format ${name}`);
    const path = name === "grants-gov" ? aFile(fewOf(gunzipSync(readFileSync(file)).toString(), 3)) : file;
    outcomes.push(await catalog.takeFiles([path], { format, asOf: Date.parse(asOf) }));
  }
  const [line] = await exportOf(catalog.db);
  const { source } = JSON.parse(line ?? "");
  const { code, opportunity_id } = source;
  const event = { source: { code, opportunity_id }, type: "x", severity: "y", detected_at: "2020-01-01T00:00:00Z" };
  outcomes.push(await catalog.takeEvents([event, { ...event, summary: "Else" }]));
  outcomes.push(
    await catalog.take([{ source: { code: "OWN", opportunity_id: "1" }, title: "Mine", earlier_ids: ["b", "a"] }], { dryRun: true }),
  );
  outcomes.push(await turnStatuses(catalog.db, AFTER), await redactStored(catalog.db, ["SAM_GOV"], AFTER + DAY));
  return outcomes;
}

async function rowsOf({ all }: CatalogDb): Promise<unknown> {
  const orders = {
    facets: "id",
    opportunities: "seq",
    events: "seq",
    upstream_ids: "upstream_id, source, opportunity_seq",
    imports: "id",
  };
  const tables: Record<string, unknown[]> = {};
  for (const [table, order] of Object.entries(orders)) {
    const rows = await all(rawSql<Record<string, unknown>>(`select * from ${table} order by ${order}`));
    tables[table] = rows.map(({ files: _, ...row }) =>
      Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? value.toHex() : value]),
    );
  }
  return tables;
}

const emptyLocations = [async () => sqliteLocation(":memory:"), postgresLocation];

test.if(hasPostgres)("imports leave the same on both engines, and exports of it are restored", async () => {
  const found: unknown[] = [];
  for (const emptyLocation of emptyLocations) {
    const emptyCatalog = async () => (await emptyLocation()).catalog(NOON);
    const here = await aCatalog(await emptyCatalog());
    const outcomes = await fill(here);
    expect(await checkCatalog(here.db)).toEqual([]);
    found.push({ outcomes, rows: await rowsOf(here.db) });

    const copy = await aCatalog(await emptyCatalog());
    copy.clock.now = AFTER + DAY; // The catalog was changed until then.
    const exported = await exportOf(here.db);
    expect(await copy.take(exported)).toMatchObject({ added: exported.length });
    expect(await exportOf(copy.db)).toEqual(exported);
    await Promise.all([here.db.close(), copy.db.close()]);
  }
  expect(found[1]).toEqual(found[0]);
});
