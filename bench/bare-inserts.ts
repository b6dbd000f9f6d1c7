/**
 * Inserts the rows of a catalog into an empty one, in as many transactions as an import, and prints the time that SQLite takes. The rows are
 * read into memory first, so this is the most that a first import could reach: `bun bench/bare-inserts.ts <catalog> <empty directory>`.
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
  ["facets", "1"], // All facets belong to the first chunk.
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

const usage = { records, seconds: 0, cpuSeconds: 0 };
for (let first = 0; first < records; first += CHUNK) {
  const chunk = statements.map(({ rowsOf, insert }) => ({ rows: rowsOf.values(first, first + CHUNK) as SQLQueryBindings[][], insert }));
  const [started, before] = [performance.now(), process.cpuUsage()];
  target.sqlite.run("begin immediate");
  for (const { rows, insert } of chunk) for (const row of rows) insert.run(...row);
  target.sqlite.run("commit");
  const { user, system } = process.cpuUsage(before);
  usage.seconds += (performance.now() - started) / 1000;
  usage.cpuSeconds += (user + system) / 1e6;
}
process.stdout.write(JSON.stringify(usage));
