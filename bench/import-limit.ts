/**
 * What a first import could reach at most: the rows of a catalog, ready in memory, written by SQLite alone into the same tables and indexes
 * of an empty one, by as many transactions. Prints what that took. `bun bench/import-limit.ts <catalog> <empty directory>`
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { join } from "node:path";
import { openCatalog } from "../db/sqlite/open.ts";
import { CHUNK } from "../src/import/run.ts";

const [from = "", to = ""] = process.argv.slice(2);
const source = new Database(join(from, "catalog.db"), { readonly: true });
const target = openCatalog(to, Date.now());
await target.makeRoomForWrites();

const tables = [
  ["facets", "1"], // All of them with the first chunk.
  ["opportunities", "seq"],
  ["upstream_ids", "opportunity_seq"],
  ["readings", "opportunity_seq"],
  ["events", "opportunity_seq"],
] as const;
const statements = tables.map(([table, chunkBy]) => {
  const columns = source.query<{ name: string }, []>(`select name from pragma_table_info('${table}')`).all();
  const rowsOf = source.query<SQLQueryBindings[], [number, number]>(`select * from ${table} where ${chunkBy} > ? and ${chunkBy} <= ?`);
  return { rowsOf, insert: target.sqlite.prepare(`insert into ${table} values (${columns.map(() => "?").join()})`) };
});
const records = source.query<{ count: number }, []>("select max(seq) as count from opportunities").get()?.count ?? 0;

const used = { records, seconds: 0, cpuSeconds: 0 };
for (let first = 0; first < records; first += CHUNK) {
  const chunk = statements.map(({ rowsOf, insert }) => ({ rows: rowsOf.values(first, first + CHUNK) as SQLQueryBindings[][], insert }));
  const [started, before] = [performance.now(), process.cpuUsage()];
  target.sqlite.run("begin immediate");
  for (const { rows, insert } of chunk) for (const row of rows) insert.run(...row);
  target.sqlite.run("commit");
  const { user, system } = process.cpuUsage(before);
  used.seconds += (performance.now() - started) / 1000;
  used.cpuSeconds += (user + system) / 1e6;
}
process.stdout.write(JSON.stringify(used));
