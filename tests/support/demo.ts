/** The service over real records. */

import type { StaticFile } from "../../src/http/call.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { importFiles } from "../../src/import/run.ts";
import { type TestApi, testApi } from "./api.ts";
import { sample } from "./sample.ts";

/** Returns a service with the Grants.gov part of the demo's sample: three publications, so the records have a history. */
export async function demoApi({ files }: { files?: ReadonlyMap<string, StaticFile> } = {}): Promise<TestApi> {
  const api = await testApi({ now: Date.UTC(2026, 7, 3, 14), ...(files && { files }) });
  const context = { db: api.model.db, directory: ":memory:", now: () => api.clock.now, notify: () => undefined, progress: () => undefined };
  for (const { format, file, asOf } of sample) {
    if (format !== grantsGov.name) continue;
    const options = { files: [file], snapshot: false, allowRemovals: false, asOf: Date.parse(asOf), dryRun: false, rejects: undefined };
    await importFiles(context, grantsGov, options);
  }
  return api;
}
