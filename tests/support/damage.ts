/** Damage to SQLite files. No connection may have the file open. */
import { Database } from "bun:sqlite";
import { readFileSync, writeFileSync } from "node:fs";

/** Overwrites the beginning of the first page of a table or index. */
export function overwriteRootPage(path: string, name: string): void {
  changeRootPages(path, [name], ([root]) => root?.fill(0xff, 0, 200));
}

/** Calls `change` with the first pages of tables and indexes, in the order of `names`, and writes the changed pages back to the file. */
export function changeRootPages(path: string, names: readonly string[], change: (roots: Buffer[]) => void): void {
  const sqlite = new Database(path, { readonly: true });
  const { page_size } = sqlite.query<{ page_size: number }, []>("pragma page_size").get() ?? { page_size: 0 };
  const rootPage = sqlite.query<{ rootpage: number }, [string]>("select rootpage from sqlite_master where name = ?");
  const pages = names.map((name) => rootPage.get(name)?.rootpage ?? 0);
  sqlite.close();
  const bytes = readFileSync(path);
  change(pages.map((page) => bytes.subarray((page - 1) * page_size, page * page_size)));
  writeFileSync(path, bytes);
}
