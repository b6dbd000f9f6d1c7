/** Writes documents into the tables of src/sql/tables.ts. */
import type { Database } from "bun:sqlite";
import { headerNumber } from "../../db/own-file.ts";
import { formatInstant, parseStoredMs } from "../text/instant.ts";
import { type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";
import { COMPLETION, TABLES, VERSION } from "./tables.ts";

/** A document as the API returns it, as text. `at` is its `updated_at` or `detected_at`. */
type DocumentRow = { id: string; at: string; text: string };

/** Adds an opportunity or replaces the one with this id, and adds or replaces these events of it. `value` is the text parsed, if the caller has it. */
export type Put = (opportunity: DocumentRow, history: readonly DocumentRow[], value?: unknown) => void;

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

/** The next step of `completeTables`, how many are done, and how many there are. */
export type FileProgress = { step: string; done: number; total: number };

/** Builds everything that follows from the documents. Yields before each step. */
export function* completeTables(sqlite: Database): Iterable<FileProgress> {
  for (const [done, { step, sql }] of COMPLETION.entries()) {
    yield { step, done, total: COMPLETION.length };
    sqlite.run(sql);
  }
  sqlite.run(`pragma user_version = ${VERSION}`);
}

/** The columns that SQLite cannot compute from the document (`WRITTEN` in tables.ts). */
const written: Readonly<Record<string, (opportunity: JsonObject) => string | null>> = {
  posted_at: ({ dates }) => inUtc(objectOf(dates).posted_at),
  opens_at: ({ dates }) => inUtc(objectOf(dates).opens_at),
  closes_at: ({ dates }) => inUtc(objectOf(dates).closes_at),
  response_at: ({ dates }) => inUtc(objectOf(dates).response_at),
  summary: ({ summary }) => (typeof summary === "string" ? plainText(summary) : null),
  // Of the sidecar, which an export has and the API does not serve.
  attachments: ({ sidecar }) => jsonOfList(objectOf(sidecar).attachments),
  description: ({ description }) => (typeof description === "string" ? plainText(description) : null),
};
const columns = ["updated_at", ...Object.keys(written), "document"];

/** A function that writes into the tables. Call it in transactions. */
export function putInto(sqlite: Database): Put {
  const putOpportunity = sqlite.query<{ rowid: number }, Record<string, string | null>>(
    `insert into opportunities (id, ${columns.join(", ")}) values ($id, ${columns.map((name) => `$${name}`).join(", ")})
    on conflict (id) do update set ${columns.map((name) => `${name} = $${name}`).join(", ")} returning rowid`,
  );
  const putEvent = sqlite.query(
    `insert into events (id, opportunity_id, opportunity, detected_at, document) values ($id, $of, $row, $at, $text)
    on conflict (id) do update set opportunity_id = $of, opportunity = $row, detected_at = $at, document = $text`,
  );
  return ({ id, at, text }, history, value = parseJson(text)) => {
    const opportunity = objectOf(value);
    const others = Object.fromEntries(Object.entries(written).map(([name, of]) => [name, of(opportunity)]));
    const { rowid: row = 0 } = putOpportunity.get({ id, updated_at: at, ...others, document: text }) ?? {};
    for (const event of history) putEvent.run({ ...event, of: id, row });
  };
}

function jsonOfList(list: unknown): string | null {
  return Array.isArray(list) ? JSON.stringify(list) : null;
}

/** Instants with different offsets or fractions of seconds do not sort as texts. */
function inUtc(instant: unknown): string | null {
  if (typeof instant !== "string") return null;
  const ms = parseStoredMs(instant);
  return ms === undefined ? instant : formatInstant(ms);
}
