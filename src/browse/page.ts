/** The parts of a page, and the context for making it. */
import type { Child } from "hono/jsx";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";

export type BrowseSection = "find" | "changes" | "deadlines" | "sources" | "watches" | "following";

export type BrowsePage =
  | {
      title: string;
      description?: string;
      section?: BrowseSection;
      status?: number;
      /** Whether it has buttons that copy: they need a script, and the page does not. */
      hasCopyButtons?: true;
      body: Child;
    }
  | { location: string };

export type PageContext = {
  catalog: CatalogDb;
  index: SearchFile;
  now: EpochMs;
  member?: { id: string; watches: WatchDb } | undefined;
  query: URLSearchParams;
};
