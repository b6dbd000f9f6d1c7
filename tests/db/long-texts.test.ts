/** Files from before imports had limits hold texts of any length: they can be copied into PostgreSQL, and go on from there. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { atNextInstant, insertImportedEvent, insertRecord } from "../../src/changes/commit.ts";
import { prepareRecord } from "../../src/changes/content.ts";
import { decideImport } from "../../src/changes/decide.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { opportunityId, uuid5 } from "../../src/opportunities/identity.ts";
import { sqliteLocation } from "../support/database-locations.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, contentsOf, DAY, dropScratch, NOON } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000); // The first test of a file starts PostgreSQL.
afterAll(dropScratch);

const LENGTH = 8_000;
/** Texts that no compression shortens. */
const long = (seed: number) =>
  String.fromCodePoint(...Array.from({ length: LENGTH }, (_, n) => 0x4e00 + Number(Bun.hash(`${n}`, seed) % 20_000n)));

/** A record whose texts are all longer than imports let through. */
async function storeLongRecord(db: CatalogDb): Promise<void> {
  const judged = validateRecord({ source: { code: "GRANTS_GOV", opportunity_id: "1" }, title: "Long" }, new Map());
  const { content } = judged;
  const prepared = prepareRecord({
    ...judged,
    lineage: long(1),
    content: {
      ...content,
      organization: { ...content.organization, agency: long(2) },
      program: { ...content.program, type: long(3), solicitation_id: long(4) },
      dates: { ...content.dates, closes_at: new Date(NOON + DAY).toISOString() },
    },
  });
  await atNextInstant(db, NOON, async (writing) => {
    const { sql, instant } = writing;
    await insertRecord(writing, decideImport(undefined, prepared, instant), prepared, 0);
    const id = opportunityId("GRANTS_GOV", prepared.lineage);
    const { seq = 0 } = (await sql.get(rawSql<{ seq: number }>("select seq from opportunities where id = ?", id))) ?? {};
    const given = { type: long(5), severity: long(6), detected_at: NOON };
    const detected_at = new Date(NOON).toISOString();
    const event = {
      id: uuid5("e"),
      opportunity_id: id,
      type: "unknown",
      severity: "unknown",
      summary: null,
      changed_fields: [],
      changes: [],
      detected_at,
    };
    await insertImportedEvent(sql, seq, event, given, 0);
  });
  await db.run(rawSql("update events set import_id = null"));
}

describe.each(engines)("on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("a catalog with long texts is copied, checked and kept up to date", async () => {
    const [from, to] = [await sqliteLocation(":memory:").catalog(NOON), await emptyCatalog()];
    await storeLongRecord(from);
    await copyCatalog(from, to);
    expect(await contentsOf(to)).toBe(await contentsOf(from));
    expect(await checkCatalog(to)).toEqual([]);

    expect(await turnStatuses(to, NOON + 2 * DAY)).toMatchObject({ changed: 1 });
    const catalog = await aCatalog(to);
    const simpler = { source: { code: "SIMPLER_GRANTS_GOV", opportunity_id: "2" }, title: "T", program: { solicitation_id: "X" } };
    expect(await catalog.take([simpler, { source: { code: "GRANTS_GOV", opportunity_id: "3" }, title: "T" }])).toMatchObject({ added: 2 });
    expect(await catalog.take([simpler], { snapshot: true })).toMatchObject({ unchanged: 1, removed: 0 });
    expect(await checkCatalog(to)).toEqual([]);
  });
});
