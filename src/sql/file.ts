/** Writes documents into the tables of src/sql/tables.ts. */
import type { Database } from "bun:sqlite";
import { isObject, parseJson } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";
import { COMPLETION, DERIVED_TABLES, TABLES, VERSION } from "./tables.ts";

/** A document as the API returns it, as text. `at` is its `updated_at` or `detected_at`. */
export type Row = { id: string; at: string; text: string };

/** Adds an opportunity or replaces the one with this id, and adds or replaces these events of it. `value` is the text parsed, if the caller has it. */
export type Put = (opportunity: Row, history: readonly Row[], value?: unknown) => void;

/** Creates everything in an empty file. Builds a file of another version again from its documents. Throws if a newer program wrote it. */
export function prepareTables(sqlite: Database, onUpgrade: () => void = () => undefined): void {
  const { user_version = 0 } = sqlite.query<{ user_version: number }, []>("pragma user_version").get() ?? {};
  if (user_version > VERSION) throw new Error("it was written by a newer version of this program");
  if (user_version === VERSION) return;
  const isEmpty = sqlite.query("select 1 from sqlite_master where name = 'opportunities'").get() === null;
  if (!isEmpty) onUpgrade();
  sqlite
    .transaction(() => {
      if (isEmpty) createTables(sqlite);
      else upgrade(sqlite);
      completeTables(sqlite);
    })
    .immediate();
}

/** Creates the tables in an empty file, to be filled with the function of `putInto` before `completeTables`. */
export function createTables(sqlite: Database): void {
  sqlite.run(TABLES);
}

/** Builds everything that follows from the documents. `report` is called before each step, with how many are done of how many. */
export function completeTables(sqlite: Database, report: (step: string, done: number, total: number) => void = () => undefined): void {
  for (const [done, { step, sql }] of COMPLETION.entries()) {
    report(step, done, COMPLETION.length);
    sqlite.run(sql);
  }
  sqlite.run(`pragma user_version = ${VERSION}`);
}

/** A function that writes into the tables. Call it in transactions. */
export function putInto(sqlite: Database): Put {
  const putOpportunity = sqlite.query<{ rowid: number }, Record<string, string | null>>(
    `insert into opportunities (id, updated_at, summary, description, document) values ($id, $at, $summary, $description, $text)
    on conflict (id) do update set updated_at = $at, summary = $summary, description = $description, document = $text returning rowid`,
  );
  const putEvent = sqlite.query(
    `insert into events (id, opportunity_id, opportunity, detected_at, document) values ($id, $of, $row, $at, $text)
    on conflict (id) do update set opportunity_id = $of, opportunity = $row, detected_at = $at, document = $text`,
  );
  return ({ id, at, text }, history, value = parseJson(text)) => {
    const { rowid: row = 0 } = putOpportunity.get({ id, at, text, ...plainTextsOf(value) }) ?? {};
    for (const event of history) putEvent.run({ ...event, of: id, row });
  };
}

function plainTextsOf(value: unknown): { summary: string | null; description: string | null } {
  const { summary, description } = isObject(value) ? value : {};
  const plain = (text: unknown) => (typeof text === "string" ? plainText(text) : null);
  return { summary: plain(summary), description: plain(description) };
}

/** The documents are all that a file needs to be built again. */
function upgrade(sqlite: Database): void {
  keepOnlyDocuments(sqlite);
  createTables(sqlite);
  const put = putInto(sqlite);
  const histories = sqlite.query<Row, [string]>("select id, detected_at as at, document as text from old_events where opportunity_id = ?");
  sqlite.run("create index old_events_by_opportunity on old_events (opportunity_id)");
  const old = sqlite.query<Row, []>("select id, updated_at as at, document as text from old_opportunities order by rowid");
  for (const opportunity of old.iterate()) put(opportunity, histories.all(opportunity.id));
  sqlite.run("drop table old_events; drop table old_opportunities");
}

function keepOnlyDocuments(sqlite: Database): void {
  const names = (type: string) =>
    sqlite
      .query<{ name: string }, [string]>("select name from sqlite_master where type = ? and sql is not null and name not like 'search%'")
      .all(type)
      .map(({ name }) => name);
  for (const type of ["view", "trigger", "index"]) for (const name of names(type)) sqlite.run(`drop ${type} "${name}"`);
  for (const name of ["search", ...DERIVED_TABLES]) sqlite.run(`drop table if exists ${name}`);
  sqlite.run("alter table opportunities rename to old_opportunities; alter table events rename to old_events");
}
