/** Counts of a search index that are made again only after the index has changed. */
import type { Database } from "bun:sqlite";

type Keep<Result> = (sqlite: Database, make: () => Result, about?: unknown) => Result;

/**
 * Memoizes a function of an index. It runs again after the index has changed or was built again (which numbers the rows anew, and shows in the
 * version of the schema), or for another `about`, a value as JSON. A rejected promise is not kept.
 */
export function keptUntilChanged<Result>(): Keep<Result> {
  const kept = new WeakMap<Database, { state: string; result: Result }>();
  return (sqlite, make, about = null) => {
    const state = JSON.stringify([about, sqlite.query("select * from progress, pragma_schema_version").get()]);
    const known = kept.get(sqlite);
    if (known?.state === state) return known.result;
    const result = make();
    kept.set(sqlite, { state, result });
    if (result instanceof Promise) result.catch(() => kept.delete(sqlite));
    return result;
  };
}
