/** PostgreSQL has the tables of SQLite, with some indexes of its own. */
import { expect, test } from "bun:test";
import { is, type SQL } from "drizzle-orm";
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
  indexes: readonly { config: { name?: string; method?: string; columns: readonly (Named | SQL)[] } }[];
};
type Named = { name: string };
type Column = Named & { primary: boolean; isUnique: boolean; getSQLType: () => string };

const namesOf = (columns: readonly (Named | SQL)[]) => columns.map((column) => ("name" in column ? column.name : String(column)));

test.each([
  ["catalog", sqliteCatalog, postgresCatalog],
  ["state", sqliteState, postgresState],
])("the %s has the same tables and indexes on both engines", (_, sqlite, postgres) => {
  const onSqlite = Object.values(sqlite).filter((table) => is(table, SQLiteTable));
  const onPostgres = Object.values(postgres).filter((table) => is(table, PgTable));
  const indexesOf = ({ name, indexes }: Config) => [name, ...indexes.map(({ config }) => config.name)];
  // The values of a facet together may be longer than an entry of PostgreSQL's B-trees.
  const wanted = onSqlite.map((table) => indexesOf(inSqlite(table)).map((name) => name?.replace("facets_values", "facets_agency")));
  expect(onPostgres.map((table) => indexesOf(inPostgres(table) as Config))).toEqual(wanted);
  expect(onSqlite.length).toBeGreaterThan(4);
});

test("PostgreSQL's B-trees, whose entries have at most 2,704 bytes, index only text that has a limit", () => {
  const tables = [...Object.values(postgresCatalog), ...Object.values(postgresState)].filter((table) => is(table, PgTable));
  const indexed = tables.flatMap((table) => {
    const { name, columns, indexes, primaryKeys } = inPostgres(table) as Config;
    const trees = indexes.filter(({ config }) => config.method === "btree").flatMap(({ config }) => namesOf(config.columns));
    const keys = primaryKeys.flatMap((key) => namesOf(key.columns));
    return columns
      .filter((column) => column.getSQLType() === 'text collate "C"')
      .filter((column) => column.primary || column.isUnique || trees.includes(column.name) || keys.includes(column.name))
      .map((column) => `${name}.${column.name}`);
  });
  expect(indexed.sort()).toEqual([
    "accounts.name",
    "allowed.entry",
    "counts.kind",
    "counts.name",
    "counts.subject",
    "events.id",
    "events.severity",
    "events.type",
    "generations.name",
    "instants.day",
    "instants.name",
    "instants.source",
    "keys.id",
    "keys.member",
    "layout_sightings.layout",
    "link_keys.key",
    "link_keys.opportunity_id",
    "link_keys.role",
    "moved_link_keys.key",
    "opportunities.canonical_id",
    "opportunities.id",
    "opportunities.lineage",
    "opportunities.parent_id",
    "opportunities.source",
    "plans.name",
    "secrets.name",
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
