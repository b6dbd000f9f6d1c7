/** SQL as text, for tests that inspect a database, damage it, or recognize its statements. */
import type { Sql } from "../../db/engine.ts";
import type { Query } from "../../db/query.ts";
import type { Value } from "../../db/value.ts";

/** Returns a query. `text` has a `?` for each value. */
export function rawSql<Row = unknown>(text: string, ...values: Value[]): Query<object, Row> {
  return { render: () => ({ text, bind: () => values }) };
}

export function textOf({ dialect }: Pick<Sql<"catalog">, "dialect">, query: Query<never, unknown>): string {
  return query.render(dialect).text;
}
