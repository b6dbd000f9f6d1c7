/** The pages over the demo's sample and over hostile records. */
import { openCatalog } from "../../db/sqlite/open.ts";
import { serveBrowse } from "../../src/browse/serve.ts";
import type { Listener } from "../../src/http/listen.ts";
import type { Draft } from "../../src/import/format.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { keepOpen } from "../../src/search/kept-open.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { SAMPLE_NOW } from "./demo-data.ts";
import { anOpportunity, storeRecords } from "./records.ts";

export type BrowsedSite = { origin: string; data: string; failures: unknown[]; stop: () => Promise<void> };

/** Stores each record and then its second version, so that it has a history. Returns their ids. */
export async function storeVersions(data: string, versions: readonly (readonly [Partial<Draft>, Partial<Draft>])[]): Promise<string[]> {
  const db = openCatalog(data, SAMPLE_NOW);
  const [first, second] = [0, 1].map((n) => versions.map((pair) => anOpportunity(pair[n as 0 | 1])));
  const ids = await storeRecords(db, first ?? [], SAMPLE_NOW - 1000);
  await storeRecords(db, second ?? [], SAMPLE_NOW - 500);
  await db.close();
  return ids;
}

/** Serves the pages of a data directory on a free port, with the clock at `now`. */
export async function browsed(data: string, now = SAMPLE_NOW): Promise<BrowsedSite> {
  const failures: unknown[] = [];
  const index = keepOpen(() => openSearchFile(data));
  const openToRead = async () => openCatalog(data, now, { mode: "read" });
  const catalog = await openToRead();
  await catchUp(catalog, index.current(), undefined, now);
  await catalog.close();
  const onFailure = (error: unknown) => void failures.push(error);
  const served = { openCatalog: openToRead, openIndex: index.current, now: () => now, onFailure };
  const listener: Listener = await serveBrowse({ host: "127.0.0.1", port: 0, ...served });
  return {
    origin: `http://127.0.0.1:${listener.port}`,
    data,
    failures,
    stop: async () => {
      await listener.stop(true);
      index[Symbol.dispose]();
    },
  };
}
