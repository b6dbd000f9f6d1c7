/** Real histories, imported in order as of the day of each version: what really happened comes out, counted. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { checkCatalog } from "../../src/changes/check.ts";
import type { Format } from "../../src/import/format.ts";
import { challengeGov } from "../../src/import/formats/challenge-gov.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { aCatalog, dropScratch, type TestCatalog } from "../support/imports.ts";
import { EXCERPTS } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

function versionsOf(directory: string, name: RegExp): string[] {
  return readdirSync(join(EXCERPTS, directory))
    .filter((file) => name.test(file))
    .sort()
    .map((file) => join(EXCERPTS, directory, file));
}

/** 20210106T154854Z or 20250821 in the file's name. */
function instantIn(path: string): number {
  const [, year, month, day, hour = "00", minute = "00", second = "00"] =
    /(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?/.exec(path.slice(EXCERPTS.length)) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

async function backfilled(format: Format, paths: readonly string[], { snapshot } = { snapshot: true }): Promise<TestCatalog> {
  const catalog = await aCatalog();
  for (const path of paths) {
    await catalog.takeFiles([path], { format, snapshot, allowRemovals: snapshot, asOf: instantIn(path) });
  }
  expect(await checkCatalog(catalog.db)).toEqual([]);
  return catalog;
}

async function eventCounts({ db }: TestCatalog): Promise<Record<string, number>> {
  const rows = await db.all(
    rawSql<{ kind: string; count: number }>("select type || ' ' || severity as kind, count(*) as count from events group by 1 order by 1"),
  );
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}

describe("the history that really happened", () => {
  test("66 versions of Challenge.gov's list: 59 additions, 54 removals, 12 deadlines and 3 names from one to the next", async () => {
    const catalog = await backfilled(challengeGov, versionsOf("challenge-gov", /^challenges-/));
    expect(await eventCounts(catalog)).toEqual({
      "opportunity_added informational": 31 + 59 - 1, // Those of the first version; one of the 59 had been there before.
      "opportunity_removed critical": 54,
      "date_changed critical": 4,
      "date_changed material": 8 + 1, // The one that came back had another deadline.
      "description_changed cosmetic": 1,
      "description_changed informational": 2,
      "status_changed critical": 1 + 1, // It came back; a deadline moved after it had passed.
      "status_changed informational": 60 + 53, // open → closing_soon → closed, by the clock between the versions (E-55).
      "status_changed material": 6, // Back to open by a later deadline.
    });
  });

  test("four extracts of Grants.gov, which are no whole snapshots: 72, 3 and 5 closing dates from one to the next", async () => {
    const catalog = await backfilled(grantsGov, versionsOf("grants-gov/derived", /^GrantsDBExtract/), { snapshot: false });
    expect(await eventCounts(catalog)).toEqual({
      "opportunity_added informational": 1011 + 132 + 14 + 29, // Two of the 2026 ones had been there in 2025, not in between.
      "date_changed critical": 2,
      "date_changed material": 70 + 4 + 4 + 57, // With one that came back; two forecasts' dates became real ones. 57 notes, which 2025's file did not have.
      "date_changed informational": 17, // Notes that name no date.
      "funding_changed material": 4,
      "field_updated cosmetic": 2 + 1, // Forecast → Posted; a forecast that was archived.
      "status_changed critical": 61, // Closed by their dates of 2025, open again by those of 2026.
      "status_changed informational": 321 + 379 + 3, // By the clock, three of them by their archive dates (E-55).
      "status_changed material": 1 + 2, // Open again by a later deadline; two forecasts were posted.
    });
  });
});
