/** Statements that Drizzle builds at their first use. PostgreSQL reads SQLite's text, but for what `dialect.ts` spells differently. */
import {
  and,
  type Column,
  eq,
  type GetColumnData,
  getTableColumns,
  inArray,
  is,
  Param,
  type Placeholder,
  SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import { type SelectedFields, SQLiteColumn, SQLiteSyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import type { Dialect } from "./dialect.ts";
import { requireStorable, type Value } from "./value.ts";

export type Query<Values, Row> = {
  render(dialect: Dialect): Rendered<Values>;
  key?: string | undefined;
  readonly row?: Row;
};

type Rendered<Values> = { text: string; bind: (values: Values) => Value[] };

/** Nothing where a statement has no parameters. */
export type StatementValues<Values> = keyof Values extends never ? [] : [values: NoInfer<Values>];

type Parameter = Column | ListParameter<Column> | ValueParameter<unknown> | JsonParameter<unknown>;
type Parameters = Readonly<Record<string, Parameter>>;
type ListParameter<Of extends Column> = { kind: "list"; of: Of };
type ValueParameter<Of> = { kind: "value"; readonly type?: Of };
type JsonParameter<Of> = { kind: "json"; readonly type?: Of };

/** Any number of values of a column, for `inArray`. */
export const listOf = <Of extends Column>(of: Of): ListParameter<Of> => ({ kind: "list", of });
/** A value that belongs to no column, such as a limit. */
export const parameter = <Of extends Value>(): ValueParameter<Of> => ({ kind: "value" });
/** A list of objects, sent as one JSON text. */
export const jsonOf = <Of>(): JsonParameter<readonly Of[]> => ({ kind: "json" });

type ValueFor<Given extends Parameter> = Given extends Column
  ? GetColumnData<Given>
  : Given extends ListParameter<infer Of>
    ? readonly GetColumnData<Of>[]
    : Given extends ValueParameter<infer Of> | JsonParameter<infer Of>
      ? Of
      : never;
type ValuesFor<Given extends Parameters> = { readonly [Name in keyof Given]: ValueFor<Given[Name]> };

type PlaceholderFor<Given extends Parameter> = Given extends { kind: "value" | "json" } ? Placeholder : SQL<ValueFor<Given>>;
type PlaceholdersFor<Given extends Parameters> = { readonly [Name in keyof Given]: PlaceholderFor<Given[Name]> };

type RowOf<Built> = Built extends { _: { result: (infer Row)[] } } ? Row : Built extends SQL<infer Row> ? Row : never;

/** Declares a statement. `make` runs once for each engine and returns a Drizzle builder or a `sql` fragment. */
export function query<const Given extends Parameters, Built extends SQLWrapper>(
  parameters: Given,
  make: (placeholders: PlaceholdersFor<Given>, dialect: Dialect) => Built,
): Query<ValuesFor<Given>, RowOf<Built>> {
  const rendered = new Map<Dialect, Rendered<ValuesFor<Given>>>();
  const declared: Query<ValuesFor<Given>, RowOf<Built>> = {
    render: (dialect) =>
      rendered.getOrInsertComputed(dialect, () => render(parameters, make(placeholdersFor(parameters, dialect), dialect))),
  };
  queries.push(declared as Query<never, unknown>);
  return declared;
}

/** For the test that prepares them all. */
export const queries: Query<never, unknown>[] = [];

const sqlite = new SQLiteSyncDialect();

function render<Values>(parameters: Parameters, built: SQLWrapper): Rendered<Values> {
  // Constants are written into the text. A bound one may decide the plan, and SQLite then prepares the statement again for each execution.
  const { sql: text, params } = sqlite.sqlToQuery(built.getSQL().inlineParams());
  const readers = params.map((param) => {
    const { name } = (is(param, Param) ? param.value : param) as Placeholder;
    const parameter = parameters[name];
    const isJson = parameter !== undefined && "kind" in parameter && parameter.kind !== "value";
    return (values: Readonly<Record<string, unknown>>) =>
      isJson ? jsonOfList(values[name] as readonly unknown[]) : (values[name] as Value);
  });
  return { text, bind: (values) => readers.map((read) => read(values as Readonly<Record<string, unknown>>)) };
}

/** JSON writes half of a surrogate pair as an escape, which the engine's own check does not see. */
function jsonOfList(list: readonly unknown[]): string {
  requireStorable(list.filter((item) => typeof item === "string"));
  return JSON.stringify(list);
}

function placeholdersFor<Given extends Parameters>(parameters: Given, dialect: Dialect): PlaceholdersFor<Given> {
  const entries = Object.entries(parameters).map(([name, parameter]) => {
    const placeholder = sql.placeholder(name);
    if (!("kind" in parameter)) return [name, sql`${placeholder}`];
    if (parameter.kind !== "list") return [name, placeholder];
    const element = sql.raw(parameter.of.dataType === "number" ? "cast(value as bigint)" : "value");
    return [name, sql`(select ${element} from ${dialect.jsonElements(placeholder)})`];
  });
  return Object.fromEntries(entries) as PlaceholdersFor<Given>;
}

const builder = drizzle(() => Promise.reject(new Error("Statements are run by an engine")));

export const update = <Table extends SQLiteTable>(table: Table) => builder.update(table);

export const deleteFrom = <Table extends SQLiteTable>(table: Table) => builder.delete(table);

/** Drizzle's `select` with each field under this name, as engines return rows. It drops table names in fragments that are not nested. */
export function select<Fields extends SelectedFields>(fields: Fields) {
  const named = Object.entries(fields).map(([name, field]) => {
    if (is(field, SQLiteColumn)) return [name, field.name === name ? field : sql`${field}`.as(name)];
    return [name, is(field, SQL) ? sql`${field}`.as(name) : field];
  });
  return builder.select(Object.fromEntries(named) as Fields);
}

export const selectAll = <Table extends SQLiteTable>(table: Table) => select(getTableColumns(table)).from(table);

type Columns<Table extends SQLiteTable> = Table["_"]["columns"];
type NameIn<Table extends SQLiteTable> = keyof Columns<Table> & string;

/** Some columns of a table, as parameters or as the fields of a `select`. */
export function pick<Table extends SQLiteTable, Name extends NameIn<Table>>(
  table: Table,
  ...names: readonly Name[]
): Pick<Columns<Table>, Name> {
  const columns = getTableColumns(table);
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Pick<Columns<Table>, Name>;
}

function areEqual<Name extends string>(columns: Readonly<Record<Name, unknown>>, values: Readonly<Record<Name, unknown>>) {
  const names = Object.keys(columns) as Name[];
  return and(...names.map((name) => eq(columns[name] as Column, values[name])));
}

/** Some columns of the rows of one table. */
export function selectFrom<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...names: readonly Name[]) {
  return select(pick(table, ...names)).from(table);
}

/** All columns of a table's rows, by the values of some of them. */
export function selectBy<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...by: readonly Name[]) {
  return selectSome(table, Object.keys(getTableColumns(table)) as NameIn<Table>[], ...by);
}

/** Some columns of a table's rows, by the values of others. */
export function selectSome<Table extends SQLiteTable, Field extends NameIn<Table>, Name extends NameIn<Table>>(
  table: Table,
  fields: readonly Field[],
  ...by: readonly Name[]
) {
  const columns = pick(table, ...by);
  return query(columns, (values) => selectFrom(table, ...fields).where(areEqual(columns, values)));
}

/** Some columns of the rows of a table in which one column has any of the values given. */
export function selectAmong<Table extends SQLiteTable, Field extends NameIn<Table>, Name extends NameIn<Table>>(
  table: Table,
  fields: readonly Field[],
  by: Name,
) {
  const column = pick(table, by)[by] as Columns<Table>[Name] & Column;
  return query({ [by]: listOf(column) } as { readonly [Key in Name]: ListParameter<Columns<Table>[Name]> }, (values) =>
    selectFrom(table, ...fields).where(inArray(column, values[by])),
  );
}

/** Sets some columns of a table's rows, by the values of others. */
export function updateBy<Table extends SQLiteTable, Field extends NameIn<Table>, Name extends NameIn<Table>>(
  table: Table,
  fields: readonly Field[],
  ...by: readonly Name[]
) {
  const columns = pick(table, ...by);
  return query({ ...pick(table, ...fields), ...columns }, (values: Readonly<Record<Field | Name, SQL>>) =>
    update(table)
      .set(Object.fromEntries(fields.map((name) => [name, values[name]])) as never)
      .where(areEqual(columns, values)),
  );
}

/** Deletes the rows of a table with these values. */
export function deleteBy<Table extends SQLiteTable, Name extends NameIn<Table>>(table: Table, ...by: readonly Name[]) {
  const columns = pick(table, ...by);
  return query(columns, (values) => deleteFrom(table).where(areEqual(columns, values)));
}

export type RowsOf<Of> = Of extends Query<never, infer Row> ? Row : never;

export type SelectedRow<Fields extends Readonly<Record<string, Column>>> = { [Name in keyof Fields]: GetColumnData<Fields[Name]> };

/** Inserts all columns but `key`, an identity: Drizzle's own insert would give it a `null`, which PostgreSQL refuses. */
export function insertInto<Table extends SQLiteTable, Key extends NameIn<Table> = never>(
  table: Table,
  { key, onConflict = sql`` }: { key?: Key; onConflict?: SQL } = {},
): Query<ValuesFor<Omit<Columns<Table>, Key>>, never> {
  const { [key as Key]: _, ...columns } = getTableColumns(table);
  const declared = query(columns as Readonly<Record<string, Column>>, (values) => {
    const names = Object.values<Column>(columns).map(({ name }) => sql.identifier(name));
    return sql<never>`insert into ${table} (${sql.join(names, sql`, `)}) values (${sql.join(Object.values(values), sql`, `)})${onConflict}`;
  });
  return Object.assign(declared, { key }) as unknown as Query<ValuesFor<Omit<Columns<Table>, Key>>, never>;
}

export const orIgnore = sql` on conflict do nothing`;

/** For `insertInto`: updates the row with the same `target`. Drizzle writes it with its table, which PostgreSQL refuses. */
export const orUpdate = (target: Column | readonly Column[], ...columns: readonly Column[]) =>
  sql` on conflict (${sql.join(
    [target].flat().map(({ name }) => sql.identifier(name)),
    sql`, `,
  )}) do update set ${sql.join(
    columns.map(({ name }) => sql`${sql.identifier(name)} = excluded.${sql.identifier(name)}`),
    sql`, `,
  )}`;

export const exists = { one: sql<number>`1` };

/** A statement and its values as an engine runs them. */
export function boundTo<Values>(
  dialect: Dialect,
  { render }: Query<Values, unknown>,
  [values]: StatementValues<Values>,
): [string, Value[]] {
  const { text, bind } = render(dialect);
  const bound = bind((values ?? {}) as Values);
  requireStorable(bound);
  return [text, bound];
}
