/** The search index of running pages: kept current, without making a page wait for a large import. */
import type { CatalogDb } from "../../db/engine.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { catchUp } from "../search/catch-up.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";

/** How long a page waits for the newest changes. Later ones appear on the next page. */
const WAIT_MS = 50;

/**
 * Returns a function that returns the index, updated for at most `WAIT_MS`. `openIndex` is called for each page, because the file can be
 * deleted at any time. Failures go to `onFailure`; the page then gets the last index that could be opened.
 */
export function currentIndex(
  openIndex: () => SearchFile,
  openCatalog: () => Promise<CatalogDb>,
  onFailure: (error: unknown) => void,
  now: () => EpochMs,
): () => Promise<SearchFile> {
  let index = openIndex();
  const update = singleFlight(async () => {
    index = openIndex();
    const catalog = await openCatalog();
    try {
      await catchUp(catalog, index, () => Bun.sleep(0), now()); // Other requests run after each batch.
    } finally {
      await catalog.close();
    }
  });
  return async () => {
    await Promise.race([update().catch(onFailure), Bun.sleep(WAIT_MS)]);
    return index;
  };
}
