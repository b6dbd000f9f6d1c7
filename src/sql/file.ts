/** Writes documents into the tables of src/sql/tables.ts. */
import type { Database } from "bun:sqlite";
import { headerNumber } from "../../db/own-file.ts";
import { type Column, valueIn } from "../facts/columns.ts";
import { formatInstant, parseStoredMs } from "../text/instant.ts";
import { type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";
import { COMPLETION, TABLES, VERSION, writtenColumns } from "./tables.ts";

/** A document as the API returns it, as text. `at` is its `updated_at` or `detected_at`. */
type DocumentRow = { id: string; at: string; text: string };

/** Adds or replaces. `value` is what the columns are read from, if it is more than the text. */
type Put = (opportunity: DocumentRow, history: readonly DocumentRow[], value?: unknown) => void;

/** Creates everything in an empty file. Throws if another version of the program wrote the file. */
export function prepareTables(sqlite: Database): void {
  if (headerNumber(sqlite, "user_version") === VERSION) return;
  sqlite
    .transaction(() => {
      if (headerNumber(sqlite, "user_version") === VERSION) return; // Another program has prepared the file since.
      const isEmpty = sqlite.query("select 1 from sqlite_master where name = 'opportunities'").get() === null;
      if (!isEmpty) throw new Error("another version of this program wrote it; start a new copy");
      createFileTables(sqlite);
      for (const _ of completeTables(sqlite));
    })
    .immediate();
}

/** Creates the tables in an empty file, to be filled with the function of `putInto` before `completeTables`. */
export function createFileTables(sqlite: Database): void {
  sqlite.run(TABLES);
}

export type FileProgress = { step: string; done: number; total: number };

/** Builds everything that follows from the documents. Yields before each step. */
export function* completeTables(sqlite: Database): Iterable<FileProgress> {
  for (const [done, { step, sql }] of COMPLETION.entries()) {
    yield { step, done, total: COMPLETION.length };
    sqlite.run(sql);
  }
  sqlite.run(`pragma user_version = ${VERSION}`);
}

const columns = ["updated_at", ...writtenColumns.map(([name]) => name), "document"];

/** A function that writes into the tables. Call it in transactions. */
export function putInto(sqlite: Database): Put {
  const putOpportunity = sqlite.query<{ rowid: number }, Record<string, string | number | null>>(
    `insert into opportunities (id, ${columns.join(", ")}) values ($id, ${columns.map((name) => `$${name}`).join(", ")})
    on conflict (id) do update set ${columns.map((name) => `${name} = $${name}`).join(", ")} returning rowid`,
  );
  const putEvent = sqlite.query(
    `insert into events (id, opportunity_id, opportunity, detected_at, document) values ($id, $of, $row, $at, $text)
    on conflict (id) do update set opportunity_id = $of, opportunity = $row, detected_at = $at, document = $text`,
  );
  return ({ id, at, text }, history, value = parseJson(text)) => {
    const opportunity = objectOf(value);
    const others = Object.fromEntries(writtenColumns.map(([name, column]) => [name, storedIn(opportunity, column)]));
    const { rowid: row = 0 } = putOpportunity.get({ id, updated_at: at, ...others, document: text }) ?? {};
    for (const event of history) putEvent.run({ ...event, of: id, row });
  };
}

/** A function that adds an event to a record that the tables have. Returns whether that changed anything. Call it in transactions. */
export function addEventTo(sqlite: Database): (event: DocumentRow & { of: string }) => boolean {
  const add = sqlite.query(
    `insert into events (id, opportunity_id, opportunity, detected_at, document) select $id, $of, rowid, $at, $text from opportunities where id = $of
    on conflict (id) do update set detected_at = $at, document = $text where document <> $text`,
  );
  return (event) => add.run(event).changes > 0;
}

function storedIn(opportunity: JsonObject, column: Column): string | number | null {
  const value = valueIn(opportunity, column);
  const { type } = column;
  if (type === "list") return Array.isArray(value) ? JSON.stringify(value) : null;
  if (type === "instant") return inUtc(value);
  if (typeof value !== "string") return null;
  if (type === "day") return value.slice(0, 10);
  return type === "decimal" ? Number(value) : type === "plain text" ? plainText(value) : value;
}

/** Instants with different offsets or fractions of seconds do not sort as texts. */
function inUtc(instant: unknown): string | null {
  if (typeof instant !== "string") return null;
  const ms = parseStoredMs(instant);
  return ms === undefined ? instant : formatInstant(ms);
}
