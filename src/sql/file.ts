/** Writes documents into the tables of src/sql/tables.ts. */
import type { Database } from "bun:sqlite";
import { headerNumber } from "../../db/own-file.ts";
import { formatInstant, parseStoredMs } from "../text/instant.ts";
import { type JsonObject, objectOf, parseJson } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";
import { COMPLETION, FURTHER_TABLES, isOurs, TABLES, VERSION } from "./tables.ts";

/** A document as the API returns it, as text. `at` is its `updated_at` or `detected_at`. */
export type DocumentRow = { id: string; at: string; text: string };

/** Adds an opportunity or replaces the one with this id, and adds or replaces these events of it. `value` is the text parsed, if the caller has it. */
export type Put = (opportunity: DocumentRow, history: readonly DocumentRow[], value?: unknown) => void;

/** Creates everything in an empty file. Builds a file of another version again from its documents. Throws if a newer program wrote it. */
export function prepareTables(sqlite: Database, onUpgrade: () => void = () => undefined): void {
  if (fileVersionOf(sqlite) === VERSION) return;
  sqlite
    .transaction(() => {
      const version = fileVersionOf(sqlite); // Another program may have prepared the file since.
      if (version > VERSION) throw new Error("it was written by a newer version of this program");
      if (version === VERSION) return;
      const isEmpty = sqlite.query("select 1 from sqlite_master where name = 'opportunities'").get() === null;
      if (isEmpty) {
        createTables(sqlite);
        for (const _ of completeTables(sqlite));
      } else {
        onUpgrade();
        upgrade(sqlite);
      }
    })
    .immediate();
}

/** The version of the tables in a file. */
export function fileVersionOf(sqlite: Database): number {
  return headerNumber(sqlite, "user_version");
}

/** Creates the tables in an empty file, to be filled with the function of `putInto` before `completeTables`. */
export function createTables(sqlite: Database): void {
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

/** Instants with different offsets or fractions of seconds do not sort as texts. */
function inUtc(instant: unknown): string | null {
  if (typeof instant !== "string") return null;
  const ms = parseStoredMs(instant);
  return ms === undefined ? instant : formatInstant(ms);
}

/** Builds everything again from the documents. What the owner of the file has added stays. */
function upgrade(sqlite: Database): void {
  const kept = removeAllButDocuments(sqlite);
  createTables(sqlite);
  const put = putInto(sqlite);
  const histories = sqlite.query<DocumentRow, [string]>(
    "select id, detected_at as at, document as text from old_events where opportunity_id = ?",
  );
  sqlite.run("create index old_events_by_opportunity on old_events (opportunity_id)");
  const old = sqlite.query<DocumentRow, []>("select id, updated_at as at, document as text from old_opportunities order by rowid");
  for (const opportunity of old.iterate()) put(opportunity, histories.all(opportunity.id));
  sqlite.run("drop table old_events; drop table old_opportunities");
  for (const _ of completeTables(sqlite));
  for (const { sql } of kept) sqlite.run(sql);
}

type Addition = { type: string; name: string; tbl_name: string; sql: string };

/** Renames the tables of documents. Returns the owner's indexes and triggers on tables and views that are created again. */
function removeAllButDocuments(sqlite: Database): Addition[] {
  const { ours = [], others = [] } = Object.groupBy(
    sqlite.query<Addition, []>("select type, name, tbl_name, sql from sqlite_master where type <> 'table' and sql is not null").all(),
    ({ name }) => (isOurs(name) ? "ours" : "others"),
  );
  const replaced = new Set(["opportunities", "events", ...FURTHER_TABLES, ...ours.map(({ name }) => name)]);
  const kept = others.filter(({ type, tbl_name }) => type !== "view" && replaced.has(tbl_name));
  // `if exists`, because dropping a view drops its triggers, too.
  for (const { type, name } of [...ours, ...kept]) sqlite.run(`drop ${type} if exists "${name.replaceAll('"', '""')}"`);
  for (const name of FURTHER_TABLES) sqlite.run(`drop table if exists ${name}`);
  sqlite.run("pragma legacy_alter_table = on"); // Otherwise the owner's views and foreign keys would follow the old tables.
  sqlite.run("alter table opportunities rename to old_opportunities; alter table events rename to old_events");
  sqlite.run("pragma legacy_alter_table = off");
  return kept;
}
