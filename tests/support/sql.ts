/** Statements as text: for tests that look into a database, damage it, or recognize what is asked of it. */
import type { Sql } from "../../db/engine.ts";
import type { Query } from "../../db/query.ts";
import type { Value } from "../../db/value.ts";

/** `text` has `?` for each value. */
export function rawSql<Row = unknown>(text: string, ...values: Value[]): Query<object, Row> {
  return { render: () => ({ text, bind: () => values }) };
}

/** The statement that a database runs for a query. */
export function textOf({ dialect }: Pick<Sql<"catalog">, "dialect">, query: Query<never, unknown>): string {
  return query.render(dialect).text;
}
