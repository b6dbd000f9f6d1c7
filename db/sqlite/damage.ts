/** Looks for damage in the storage of a file. */
import type { Database } from "bun:sqlite";

/** SQLite looks up each row in each index. With its usual cache of 2 MB it would read a file of a million records about twenty times. */
const CACHE_KB = 64_000;

/** What SQLite's integrity check reports, in its own words; empty if the file is sound. Reads all of the file. */
export function damageIn(sqlite: Database): string[] {
  const before = sqlite.query<{ cache_size: number }, []>("pragma cache_size").get()?.cache_size;
  sqlite.run(`pragma cache_size = -${CACHE_KB}`);
  try {
    const reported = sqlite.query<{ integrity_check: string }, []>("pragma integrity_check").all();
    if (reported.length === 0) return ["the integrity check returned nothing"];
    return reported.map(({ integrity_check }) => integrity_check).filter((line) => line !== "ok");
  } finally {
    sqlite.run(`pragma cache_size = ${before}`);
    sqlite.run("pragma shrink_memory");
  }
}
