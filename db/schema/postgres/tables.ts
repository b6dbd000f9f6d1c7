/** Makes the tables of PostgreSQL from those of SQLite: with the same columns, keys and indexes, and with text, 64-bit integers and bytes. */
import { getTableColumns, type SQL } from "drizzle-orm";
import {
  bigint,
  customType,
  foreignKey,
  type IndexBuilder,
  index,
  type PgColumn,
  type PgColumnBuilderBase,
  type PgSchema,
  type PgTable,
  primaryKey,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { getTableConfig, type Index, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";

type Columns<Name extends string = string> = Readonly<Record<Name, PgColumn>>;

/** A key that PostgreSQL numbers, unless an insert gives a number, as a copy does; and other indexes. */
type Differences<Name extends string> = { numbered?: Name; indexes?: (columns: Columns<Name>) => IndexBuilder[] };

/** Compared by its UTF-8 bytes, as in SQLite. With a language's collation, lists would differ between the engines. */
const text = customType<{ data: string }>({ dataType: () => `text collate "C"` });
const integer = (name: string) => bigint(name, { mode: "number" });
const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** Returns a function that makes tables of the schema. A table comes after those that it refers to. */
export function tablesIn(schema: PgSchema) {
  const made = new Map<SQLiteTable, PgTable>();
  return <Table extends SQLiteTable>(
    table: Table,
    { numbered, indexes }: Differences<keyof Table["_"]["columns"] & string> = {},
  ): PgTable => {
    const { name, columns, primaryKeys, foreignKeys, indexes: others } = getTableConfig(table);
    const builders = columns.map((column) => [column.name, columnOf(column, column.name === numbered)]);
    const result = schema.table(name, Object.fromEntries(builders), (own: Columns) => [
      ...primaryKeys.map((key) => primaryKey({ columns: named(own, key.columns) })),
      ...foreignKeys
        .map((key) => key.reference())
        .map((to) => {
          const theirs = getTableColumns(made.get(to.foreignTable) as PgTable);
          return foreignKey({ columns: named(own, to.columns), foreignColumns: named(theirs, to.foreignColumns) });
        }),
      ...(indexes?.(own) ?? others.map((each) => indexOf(each, own))),
    ]);
    made.set(table, result);
    return result;
  };
}

function named(columns: Columns, some: readonly { name?: string }[]): [PgColumn, ...PgColumn[]] {
  return some.map(({ name = "" }) => columns[name]) as [PgColumn, ...PgColumn[]];
}

function columnOf(column: SQLiteColumn, isNumbered: boolean): PgColumnBuilderBase {
  const { name, notNull, primary, isUnique, hasDefault } = column;
  if (isNumbered) return integer(name).primaryKey().generatedByDefaultAsIdentity();
  const type = { integer, text, blob: bytes }[column.getSQLType() as "integer" | "text" | "blob"];
  const made = type(name) as ReturnType<typeof integer>;
  if (primary) made.primaryKey();
  if (notNull) made.notNull();
  if (isUnique) made.unique();
  if (hasDefault) made.default(column.default as number);
  return made;
}

function indexOf({ config: { name, unique, columns, where } }: Index, own: Columns): IndexBuilder {
  return (unique ? uniqueIndex : index)(name)
    .on(...named(own, columns as SQLiteColumn[]))
    .where(where as SQL);
}
