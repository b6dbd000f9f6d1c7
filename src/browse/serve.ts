/** Serves the pages. */
import type { CatalogDb } from "../../db/engine.ts";
import { type Listener, listen } from "../http/listen.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { createBrowseApp } from "./app.tsx";
import { currentIndex } from "./search-index.ts";

export type BrowseServerOptions = {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Opens the catalog for reading. Called for each page. */
  openCatalog: () => Promise<CatalogDb>;
  index: SearchFile;
  now: () => EpochMs;
  onFailure: (error: unknown) => void;
};

/** Listens, and serves the pages until the listener is stopped. Throws if the port is taken. */
export async function serveBrowse({ host, port, openCatalog, index, now, onFailure }: BrowseServerOptions): Promise<Listener> {
  const app = createBrowseApp({ openCatalog, searchIndex: currentIndex(index, openCatalog, onFailure), now, host, onFailure });
  return listen(app, { hostname: host, port });
}
