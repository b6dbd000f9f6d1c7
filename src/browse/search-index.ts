/** The search index of running pages: kept current, without making a page wait for a large import. */
import type { CatalogDb } from "../../db/engine.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { catchUp } from "../search/catch-up.ts";
import type { SearchFile } from "../search/search-file.ts";

/** How long a page waits for the newest changes. They are on the next one. */
const WAIT_MS = 50;

/** Returns a function that returns the index, brought up to date as far as that takes no longer than `WAIT_MS`. Failures go to `onFailure`. */
export function currentIndex(
  index: SearchFile,
  openCatalog: () => Promise<CatalogDb>,
  onFailure: (error: unknown) => void,
): () => Promise<SearchFile> {
  const update = singleFlight(async () => {
    const catalog = await openCatalog();
    try {
      await catchUp(catalog, index, () => Bun.sleep(0)); // Requests get their turn after each batch.
    } finally {
      await catalog.close();
    }
  });
  return async () => {
    await Promise.race([update().catch(onFailure), Bun.sleep(WAIT_MS)]);
    return index;
  };
}
