/** The next version of this program: it has one migration more than this one, for each database on both engines. */
import type { Migration } from "../../db/migration.ts";
import { postgresMigrations } from "../../db/postgres/migrate.ts";
import { migrations } from "../../db/sqlite/migrate.ts";

const TAG = "9999_next";

/** Makes this program the next version until the result is disposed of. What it opened before is then of an older version. */
export function nextVersion(sql: Partial<Record<"catalog" | "state", string>> = {}): Disposable {
  const catalog: Migration = { tag: TAG, sql: sql.catalog ?? "alter table sources add column color text" };
  const state: Migration = { tag: TAG, sql: sql.state ?? "alter table plans add column color text" };
  const all = [migrations, postgresMigrations];
  for (const each of all) {
    each.catalog.push(catalog);
    each.state.push(state);
  }
  return {
    [Symbol.dispose]() {
      for (const each of all) {
        each.catalog.pop();
        each.state.pop();
      }
    },
  };
}
