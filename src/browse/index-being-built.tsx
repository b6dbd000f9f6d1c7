/** @jsxImportSource hono/jsx */
/** The search index, and the pages while it is built for the first time. Only a job writes it: one thread cannot write a batch and respond. */
import { count } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { buildOf, openSearchFileToRead, type SearchFile } from "../search/search-file.ts";
import { withCommas } from "../text/in-words.ts";
import type { BrowsePage } from "./page.ts";

export type IndexProgress = { done: number; total: number };

export const RETRY_SECONDS = 10;
/** How long a page waits for a program that commits to the index, and how often it looks. */
const [COMMIT_WAIT_MS, LOOK_EVERY_MS] = [800, 20];

const records = query({}, () => select({ total: count() }).from(opportunities));

/** Returns a function that returns the index of a directory, which another program writes; while that builds it, how far it is. */
export function indexOfOthers(directory: string, openCatalog: () => Promise<CatalogDb>): () => Promise<SearchFile | IndexProgress> {
  let index: SearchFile | undefined;
  let [wasBuilt, done] = [false, 0];
  return async () => {
    if (index === undefined || !index.isInPlace()) {
      index = openSearchFileToRead(directory); // Pages that are still being made read the earlier one.
      [wasBuilt, done] = [false, 0];
    }
    if (index !== undefined) {
      const until = performance.now() + COMMIT_WAIT_MS;
      let state = buildOf(index);
      while (state === undefined && wasBuilt && performance.now() < until) {
        await Bun.sleep(LOOK_EVERY_MS);
        state = buildOf(index);
      }
      wasBuilt = state?.isBuilt ?? wasBuilt;
      if (wasBuilt) return index;
      done = state?.rows ?? done;
    }
    await using catalog = await openCatalog();
    const { total = 0 } = (await catalog.get(records)) ?? {};
    return { done: Math.min(done, total), total };
  };
}

/** Whether there is no index yet. */
export function isProgress(index: SearchFile | IndexProgress): index is IndexProgress {
  return "done" in index;
}

/** "40,000 of 100,000 records" in a sentence. */
export function progressInWords({ done, total }: IndexProgress): string {
  return `The search index is being built: it has ${withCommas(done)} of ${withCommas(total)} records`;
}

/** The page instead of one that consists of searches. The first page has status 200: people begin there, and it leads on. */
export function noIndexYet(status: 200 | 503 = 503): BrowsePage {
  const body = (
    <>
      <h1>Searches come soon</h1>
      <p>
        The <a href="/sources">sources</a> and <a href="/changes">what changed</a> can be read already. Load this page again in a minute.
      </p>
    </>
  );
  return { title: "Searches come soon", section: "find", status, body };
}
