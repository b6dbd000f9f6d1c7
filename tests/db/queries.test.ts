/** Every statement of the program, prepared against migrated databases of both engines. */
import { afterAll, expect, test } from "bun:test";
import { getTableColumns, getTableName } from "drizzle-orm";
import { is } from "drizzle-orm/entity";
import { SQLiteTable } from "drizzle-orm/sqlite-core";
import { postgresDialect, sqliteDialect } from "../../db/dialect.ts";
import { connect, numbered } from "../../db/postgres/client.ts";
import { schemas } from "../../db/postgres/migrate.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import { queries } from "../../db/query.ts";
import * as catalogTables from "../../db/schema/sqlite/catalog.ts";
import * as stateTables from "../../db/schema/sqlite/state.ts";
import * as watchTables from "../../db/schema/sqlite/watch.ts";
import { openCatalog, openState, openWatchFile } from "../../db/sqlite/open.ts";
import { onPostgres, postgresUrl } from "../support/database-locations.ts";
import { dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

for (const path of new Bun.Glob("src/**/*.ts").scanSync()) {
  if (!/client\.js|main\.ts$|\.d\.ts$/.test(path)) await import(`../../${path}`);
}

const tablesOf = (schema: object) => Object.values(schema).filter((table) => is(table, SQLiteTable)) as SQLiteTable[];
const stateNames = tablesOf(stateTables).map(getTableName);
const watchNames = tablesOf(watchTables).map(getTableName);
const tables = new Map(
  [...tablesOf(catalogTables), ...tablesOf(stateTables), ...tablesOf(watchTables)].map((table) => [
    getTableName(table),
    Object.values(getTableColumns(table)).map(({ name }) => name),
  ]),
);

/** Which database a statement is for: the one that has the first table it names. */
const isOfState = (text: string) => stateNames.some((name) => text.includes(`"${name}"`) && !text.includes('"opportunities"'));

/** Statements on watch.db, which is always a file. */
const isOfWatches = (text: string) => text.includes("sqlite_sequence") || watchNames.some((name) => text.includes(`"${name}"`));

test("SQLite prepares every statement", async () => {
  expect(queries.length).toBeGreaterThan(60);
  const [catalog, state, watch] = [openCatalog(":memory:", NOON), openState(":memory:", NOON), openWatchFile(":memory:", NOON)];
  for (const query of queries) {
    const { text } = query.render(sqliteDialect);
    if (text.includes("information_schema") || text.includes("setval")) continue; // PostgreSQL's own.
    (isOfWatches(text) ? watch : isOfState(text) ? state : catalog).sqlite.prepare(text).finalize();
  }
  await Promise.all([catalog.close(), state.close(), watch.close()]);
});

// SQLite takes a quoted name that is no column for a text, so preparing would not notice one.
test("no statement quotes a name that is neither a table, a column nor an alias of its own", () => {
  const columns = new Set([...tables.values()].flat());
  for (const query of queries) {
    const { text } = query.render(sqliteDialect);
    const aliases = new Set([...text.matchAll(/(?: as|\)|from "\w+"|join "\w+") "(\w+)"/g)].map(([, alias = ""]) => alias));
    const unknown = [...text.matchAll(/"(\w+)"/g)].map(([, name = ""]) => name);
    expect({ text, unknown: unknown.filter((name) => !tables.has(name) && !columns.has(name) && !aliases.has(name)) }).toEqual({
      text,
      unknown: [],
    });
  }
});

test("every column that a statement names with its table is one of that table", () => {
  for (const query of queries) {
    for (const [, table = "", column = ""] of query.render(sqliteDialect).text.matchAll(/"(\w+)"\."(\w+)"/g)) {
      if (tables.has(table)) expect(tables.get(table)).toContain(column);
    }
  }
});

test.if(onPostgres)("PostgreSQL prepares every statement", async () => {
  const url = await postgresUrl();
  await (await openPostgres("catalog", url, NOON)).close();
  await (await openPostgres("state", url, NOON)).close();
  const clients = {
    catalog: connect(url, { schema: schemas.catalog, connections: 1 }),
    state: connect(url, { schema: schemas.state, connections: 1 }),
  };
  for (const [index, query] of queries.entries()) {
    if (isOfWatches(query.render(sqliteDialect).text)) continue;
    const { text } = query.render(postgresDialect);
    const client = isOfState(text) ? clients.state : clients.catalog;
    await client.rows(`prepare statement_${index} as ${numbered(text)}`, []).catch((error: Error) => {
      throw new Error(`${error.message}: ${text}`);
    });
  }
  await Promise.all([clients.catalog.close(), clients.state.close()]);
});
