/** What a page consists of, and what it is made from. */
import type { Child } from "hono/jsx";
import type { CatalogDb } from "../../db/engine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";

export type BrowseSection = "find" | "changes" | "deadlines" | "sources";

/**
 * `location`: the same page under a tidier address. `note` stands above the body, `asOf` goes into the links of the frame, and after
 * `reloadSeconds` a browser asks again.
 */
export type BrowsePage =
  | {
      title: string;
      section?: BrowseSection;
      status?: number;
      body: Child;
      note?: Child;
      asOf?: string | undefined;
      reloadSeconds?: number;
    }
  | { location: string };

/** What only a page of the past has: the instant as its address says it, and the present catalog, which has the events. */
type PagePast = { asOf: string; present: CatalogDb };

export type PageContext = {
  catalog: CatalogDb;
  index: SearchFile;
  /** The present; on a page of the past, the instant that it shows. */
  now: EpochMs;
  past?: PagePast | undefined;
  query: URLSearchParams;
};
