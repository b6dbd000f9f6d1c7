/** A catalog with a real history: three extracts of Grants.gov, each imported as of its day. */
import type { CatalogDb } from "../../db/engine.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { aCatalog } from "./imports.ts";
import { sample } from "./sample.ts";

/** Imports the extracts of 2025-08-21, 2026-07-26 and 2026-08-03 that the demo has into an empty catalog. */
export async function takeGrantsGovDates(db: CatalogDb): Promise<void> {
  const { takeFiles, clock } = await aCatalog(db);
  clock.now = 0; // The history begins before the tests' day.
  for (const { format, file, asOf } of sample) {
    if (format !== "grants-gov") continue;
    await takeFiles([file], { format: grantsGov, asOf: Date.parse(asOf) });
  }
}
