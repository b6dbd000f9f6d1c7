/** What the tools read: the catalog and the search index. Whoever serves them decides how these are opened. */
import type { CatalogDb } from "../../db/engine.ts";
import type { SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";

export type ToolRequest = { now: EpochMs; signal: AbortSignal; progress: (done: number, total: number, message: string) => void };

/** The databases. Each function throws an Error with one sentence about what failed and what to do. */
export type ToolData = {
  place: string;
  /** Opens the catalog for one call, so that a restored or replaced one is noticed. */
  withCatalog: <T>(work: (catalog: CatalogDb) => Promise<T>) => Promise<T>;
  withIndex: <T>(catalog: CatalogDb, request: ToolRequest, work: (index: SearchFile) => T | Promise<T>) => Promise<T>;
};

/** A request with what it reads. A later page of a list reads the index as of the first one. */
export type ToolCall = ToolRequest & {
  catalog: CatalogDb;
  withIndex: <T>(now: EpochMs, work: (index: SearchFile) => T | Promise<T>) => Promise<T>;
};
