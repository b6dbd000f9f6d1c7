/** What SQLite and PostgreSQL spell differently: all of it. */

export type Dialect = {
  name: "SQLite" | "PostgreSQL";
  /**
   * A table of the texts in a JSON array, its column `value`: `source in (select value from ${elements("?")})`, the value being
   * `JSON.stringify(list)`. Integers need `cast(value as bigint)`. Beside another table name its columns in full: SQLite's has more.
   */
  elements: (json: string) => string;
  /** A member of a JSON object, as text or integer: `cast(${member("counts", "read")} as bigint)`. */
  member: (json: string, name: string) => string;
  /** Where bytes contain the UTF-8 of the text that one `?` stands for. */
  contains: (bytes: string) => string;
};

export const sqliteDialect: Dialect = {
  name: "SQLite",
  elements: (json) => `json_each(${json})`,
  member: (json, name) => `${json} ->> '${name}'`,
  contains: (bytes) => `instr(${bytes}, cast(? as blob)) > 0`, // Both bytes: else it would decode the whole document.
};

export const postgresDialect: Dialect = {
  name: "PostgreSQL",
  // By way of text: what is json itself would be encoded once more by the client, into a JSON string.
  elements: (json) => `jsonb_array_elements_text(cast(cast(${json} as text) as jsonb)) as elements (value)`,
  member: (json, name) => `cast(cast(${json} as text) as jsonb) ->> '${name}'`,
  contains: (bytes) => `position(convert_to(cast(? as text), 'UTF8') in ${bytes}) > 0`,
};
