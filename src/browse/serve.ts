/** Serves the pages of `fundfeed browse`, and keeps their search index current without making a page wait for a large import. */
import { type Listener, listen } from "../http/listen.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { catchUp } from "../search/catch-up.ts";
import type { SearchFile } from "../search/search-file.ts";
import { type BrowseOptions, createBrowseApp } from "./app.tsx";

type BrowseServerOptions = Omit<BrowseOptions, "searchIndex" | "up"> & {
  port: number;
  /** Returns the open search index, opened again if its file was deleted. Called for each page. */
  openIndex: () => SearchFile;
};

/** How long a page waits for the newest changes. Later ones appear on the next page. */
const WAIT_MS = 50;

/** Listens, and serves the pages until the listener is stopped. Throws if the port is taken. */
export async function serveBrowse({ port, openIndex, ...options }: BrowseServerOptions): Promise<Listener> {
  const { host, openCatalog, now, onFailure } = options;
  let index = openIndex();
  const update = singleFlight(async () => {
    index = openIndex();
    await using catalog = await openCatalog();
    await catchUp(catalog, index, () => Bun.sleep(0), now()); // Other requests run after each batch.
  });
  const searchIndex = async () => {
    await Promise.race([update().catch(onFailure), Bun.sleep(WAIT_MS)]);
    return index;
  };
  return listen(createBrowseApp({ ...options, searchIndex }), { hostname: host, port });
}
