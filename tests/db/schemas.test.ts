/** Each schema is written down twice, once for each engine: what one has, the other must have. */
import { expect, test } from "bun:test";
import { getTableName, is, type SQL, type Table } from "drizzle-orm";
import { getTableConfig as inPostgres, PgTable } from "drizzle-orm/pg-core";
import { getTableConfig as inSqlite, SQLiteTable } from "drizzle-orm/sqlite-core";
import * as postgresCatalog from "../../db/schema/postgres/catalog.ts";
import * as postgresState from "../../db/schema/postgres/state.ts";
import * as sqliteCatalog from "../../db/schema/sqlite/catalog.ts";
import * as sqliteState from "../../db/schema/sqlite/state.ts";

/** What both engines call alike of a table. */
type Config = {
  name: string;
  columns: readonly Column[];
  primaryKeys: readonly { columns: readonly Named[] }[];
  foreignKeys: readonly { reference: () => { columns: readonly Named[]; foreignTable: Table; foreignColumns: readonly Named[] } }[];
  indexes: readonly {
    config: { name?: string; unique?: boolean; method?: string; columns: readonly (Named | SQL)[]; where?: SQL | undefined };
  }[];
};
type Named = { name: string };
type Column = Named & { notNull: boolean; primary: boolean; isUnique: boolean; default: unknown; getSQLType: () => string };

const kinds: Record<string, string> = { 'text collate "C"': "text", bigint: "integer", bytea: "blob" };

const namesOf = (columns: readonly (Named | SQL)[]) => columns.map((column) => ("name" in column ? column.name : String(column)));

function described({ name, columns, primaryKeys, foreignKeys, indexes }: Config) {
  const number = columns.find((column) => column.primary && kindOf(column) === "integer")?.name;
  return {
    name,
    columns: columns.map((column) => ({
      name: column.name,
      kind: kindOf(column),
      notNull: column.notNull,
      primary: column.primary,
      unique: column.isUnique,
      default: column.default,
    })),
    primaryKeys: primaryKeys.map((key) => namesOf(key.columns)),
    foreignKeys: foreignKeys
      .map((key) => key.reference())
      .map((key) => [namesOf(key.columns), getTableName(key.foreignTable), namesOf(key.foreignColumns)]),
    indexes: indexes
      .filter(({ config }) => !ofLongTexts.includes(config.name ?? ""))
      .map(({ config }) => ({
        name: config.name,
        unique: config.unique,
        columns: namesOf(config.columns).filter((column) => column !== number), // SQLite's indexes end in it anyway.
        where: config.where?.queryChunks,
      })),
  };
}

/** Where SQLite indexes texts that may be longer than an entry of PostgreSQL's B-trees, and PostgreSQL their hashes. */
const ofLongTexts = ["facets_values", "facets_agency", "opportunities_link"];

function kindOf(column: Column): string {
  const type = column.getSQLType();
  return kinds[type] ?? type;
}

test.each([
  ["catalog", sqliteCatalog, postgresCatalog],
  ["state", sqliteState, postgresState],
])("the %s has the same tables, columns, keys and indexes on both engines", (_, sqlite, postgres) => {
  const onSqlite = Object.values(sqlite).filter((table) => is(table, SQLiteTable));
  const onPostgres = Object.values(postgres).filter((table) => is(table, PgTable));
  expect(onPostgres.map((table) => described(inPostgres(table) as Config))).toEqual(
    onSqlite.map((table) => described(inSqlite(table) as Config)),
  );
  expect(onSqlite.length).toBeGreaterThan(4);
});

test("PostgreSQL's B-trees, whose entries have at most 2,704 bytes, index only text that has a limit", () => {
  const tables = [...Object.values(postgresCatalog), ...Object.values(postgresState)].filter((table) => is(table, PgTable));
  const indexed = tables.flatMap((table) => {
    const { name, columns, indexes, primaryKeys } = inPostgres(table) as Config;
    const trees = indexes.filter(({ config }) => config.method === "btree").flatMap(({ config }) => namesOf(config.columns));
    const keys = primaryKeys.flatMap((key) => namesOf(key.columns));
    return columns
      .filter((column) => kindOf(column) === "text")
      .filter((column) => column.primary || column.isUnique || trees.includes(column.name) || keys.includes(column.name))
      .map((column) => `${name}.${column.name}`);
  });
  expect(indexed.sort()).toEqual([
    "accounts.name",
    "events.id",
    "events.severity",
    "events.type",
    "figures.kind",
    "figures.name",
    "figures.subject",
    "generations.name",
    "keys.id",
    "opportunities.id",
    "opportunities.lineage",
    "opportunities.source",
    "plans.name",
    "settings.name",
    "sources.code",
    "upstream_ids.source",
    "upstream_ids.upstream_id",
    "use.key_id",
    "versions.series",
    "versions.source",
    "versions.upstream_id",
  ]);
});
