/** Everything that SQLite and PostgreSQL spell differently. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";

export type Dialect = {
  name: "SQLite" | "PostgreSQL";
  /** A JSON array as a table with one text column, `value`. In a join, name other columns in full: SQLite's `json_each` has more. */
  jsonElements: (json: SQLWrapper) => SQL;
  /** A member of a JSON object as text. Integers need a cast. */
  jsonMember: (json: SQLWrapper, name: string) => SQL<string>;
  containsText: (bytes: SQLWrapper, text: SQLWrapper) => SQL;
};

export const sqliteDialect: Dialect = {
  name: "SQLite",
  jsonElements: (json) => sql`json_each(${json})`,
  jsonMember: (json, name) => sql`${json} ->> ${sql.raw(`'${name}'`)}`,
  containsText: (bytes, text) => sql`instr(${bytes}, cast(${text} as blob)) > 0`, // Bytes on both sides, so that SQLite does not decode the document.
};

export const postgresDialect: Dialect = {
  name: "PostgreSQL",
  // Cast to text first: Bun's client would encode a json parameter again, into a JSON string.
  jsonElements: (json) => sql`jsonb_array_elements_text(cast(cast(${json} as text) as jsonb)) as elements (value)`,
  jsonMember: (json, name) => sql`cast(cast(${json} as text) as jsonb) ->> ${sql.raw(`'${name}'`)}`,
  containsText: (bytes, text) => sql`position(convert_to(cast(${text} as text), 'UTF8') in ${bytes}) > 0`,
};
