/** Serves the pages. */
import type { CatalogDb } from "../../db/engine.ts";
import { type Listener, listen } from "../http/listen.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { createBrowseApp } from "./app.tsx";
import { currentIndex } from "./search-index.ts";

type BrowseServerOptions = {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Opens the catalog for reading. Called for each page. */
  openCatalog: () => Promise<CatalogDb>;
  /** Returns the open search index, opened again if its file was deleted. Called for each page. */
  openIndex: () => SearchFile;
  now: () => EpochMs;
  onFailure: (error: unknown) => void;
};

/** Listens, and serves the pages until the listener is stopped. Throws if the port is taken. */
export async function serveBrowse({ host, port, openCatalog, openIndex, now, onFailure }: BrowseServerOptions): Promise<Listener> {
  const searchIndex = currentIndex(openIndex, openCatalog, onFailure, now);
  return listen(createBrowseApp({ openCatalog, searchIndex, now, host, onFailure }), { hostname: host, port });
}
