/** Runs every query of docs/reference/sql.md on the demo's data, in SQLite and DuckDB, and compares the results with the page. UPDATE_DOCS=1 writes them there. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { prepareTables, putInto } from "../../src/sql/file.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);

const PAGE = join(import.meta.dir, "../../docs/reference/sql.md");
/** The day on which the page was written. */
const TODAY = "2026-10-05";

const page = readFileSync(PAGE, "utf8");
/** Each query, and the table below it. The one of full-text search is for SQLite alone. */
const blocks = [...page.matchAll(/^```sql\n([\s\S]*?)^```\n(?:\n((?:\|.*\n)+))?/gm)].map(([whole, sql = "", shown = ""]) => ({
  whole,
  sql,
  shown,
}));
const views = blocks.find(({ sql }) => sql.includes("create view"));
const queries = blocks.filter((block) => block !== views);
const questions = queries.filter(({ sql }) => !sql.includes("search match"));

let sqlite: Database;
let duckdb: DuckDBConnection;

beforeAll(async () => {
  const path = join(aDirectory(), "opportunities.sqlite");
  const data = await aDirectoryOfTheDemo();
  await fundfeed(["export", "--format", "sqlite", path, "--data", data], {}, () => Date.parse(TODAY));
  sqlite = new Database(path, { readonly: true });
  const files = aDirectory();
  await fundfeed(["export", "--format", "parquet", files, "--data", data], {}, () => Date.parse(TODAY));
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run((views?.sql ?? "").replaceAll("from '", `from '${files}/`));
  if (process.env.UPDATE_DOCS === "1")
    writeFileSync(
      PAGE,
      queries.reduce((text, { whole, sql }) => text.replace(whole, `\`\`\`sql\n${sql}\`\`\`\n\n${resultOf(sql)}`), page),
    );
});
afterAll(() => {
  sqlite.close();
  duckdb.closeSync();
  dropScratch();
});

/** The rows as a Markdown table. */
function resultOf(sql: string): string {
  const statement = sqlite.query(onDay(TODAY, sql));
  return tableOf(statement.values(), statement.columnNames);
}

async function resultOfDuckDb(sql: string): Promise<string> {
  const result = await duckdb.runAndReadAll(onDay(TODAY, sql));
  return tableOf(result.getRowsJson(), result.columnNames());
}

function tableOf(rows: readonly (readonly unknown[])[], columns: readonly string[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.map((cell) => (cell ?? "").toString().replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [line(columns), `|${columns.map(() => "---|").join("")}\n`, ...rows.map(line)].join("");
}

function onDay(now: string, sql: string): string {
  return sql.replaceAll("current_date", `'${now}'`);
}

/** The column of this name in the result of the query that has it, on a file with these opportunities. */
function columnOf(name: string, now: string, opportunities: readonly object[], changes: readonly object[] = []): unknown[] {
  const file = new Database(":memory:", { strict: true });
  prepareTables(file);
  const put = putInto(file);
  const event = { id: "e", at: "2026-03-01T00:00:00.000Z", text: JSON.stringify({ type: "date_changed", changes }) };
  for (const [n, each] of opportunities.entries()) put({ id: `${n}`, at: now, text: JSON.stringify(each) }, n === 0 ? [event] : []);
  const { sql = "" } = queries.find((query) => query.sql.includes(` as ${name}`)) ?? {};
  const rows = file.query<Record<string, unknown>, []>(onDay(now, sql)).all();
  file.close();
  return rows.map((row) => row[name]);
}

describe("the queries of docs/reference/sql.md, when daylight saving time begins and ends", () => {
  const closing = (closes_at: string) => ({ status: "open", dates: { closes_at }, classifications: { tech_taxonomy: ["ALN:1.1"] } });
  const midnights = ["2026-03-07T00:00:00-05:00", "2026-03-08T23:59:59-04:00", "2026-03-10T00:00:00-04:00", "2026-03-10T23:59:59-04:00"];

  test("show deadlines at midnight on the day on which they are", () => {
    const days = midnights.map((each) => each.slice(0, 10));
    expect(columnOf("closes", "2026-03-07", midnights.map(closing))).toEqual(days);
  });

  test("find what closes today and in the next five days", () => {
    const closesFrom = (day: string) => columnOf("closes", day, midnights.map(closing));
    expect(closesFrom("2026-03-05")).toEqual(["2026-03-07", "2026-03-08", "2026-03-10", "2026-03-10"]);
    expect(closesFrom("2026-03-04")).toEqual(["2026-03-07", "2026-03-08"]);
    expect(closesFrom("2026-03-08")).toHaveLength(3);
  });

  test("count calendar days", () => {
    const moved = (previous: string, current: string) =>
      columnOf("days", "2026-03-01", [{ title: "t" }], [{ field: "dates.closes_at", previous, current }]);
    expect(moved("2026-03-06T23:59:59-05:00", "2026-03-09T23:59:59-04:00")).toEqual([3]);
    expect(moved("2026-03-09T23:59:59-04:00", "2026-03-06T23:59:59-05:00")).toEqual([-3]);
    expect(moved("2026-10-30T23:59:59-04:00", "2026-11-02T00:00:00-05:00")).toEqual([3]);
  });
});

describe("docs/reference/sql.md", () => {
  test("has six queries besides that of the full-text search", () => expect(questions).toHaveLength(6));

  test.each(queries.map(({ sql, shown }) => [sql.split("\n")[0] ?? "", sql, shown] as const))("%s …", (_, sql, shown) => {
    const result = resultOf(sql);
    expect(result.split("\n").length).toBeGreaterThan(3);
    if (process.env.UPDATE_DOCS !== "1") expect(shown).toBe(result);
  });

  test.each(questions.map(({ sql, shown }) => [sql.split("\n")[0] ?? "", sql, shown] as const))(
    "DuckDB over Parquet: %s …",
    async (_, sql, shown) => {
      expect(await resultOfDuckDb(sql)).toBe(shown);
    },
  );

  test("names the views and their columns", () => {
    const columnsOf = (view: string) =>
      sqlite
        .query<{ name: string }, [string]>("select name from pragma_table_info(?)")
        .all(view)
        .map(({ name }) => name);
    const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]*\| (.*) \|$/gm)];
    expect(rows.map(([, view]) => view)).toEqual(["opportunity", "contact", "classification", "document", "event", "change"]);
    for (const [, view = "", text = ""] of rows.slice(1)) {
      const documented = text.replace(/\(`naics`.*?\)/, "").matchAll(/`(\w+)`/g);
      expect(columnsOf(view)).toEqual(
        expect.arrayContaining([...documented].map(([, name]) => name ?? "").concat("opportunity_id", "closes_at")),
      );
    }
  });

  test("has settings for Datasette that fit the file", () => {
    const [, json = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    const { tables } = JSON.parse(json).databases.opportunities;
    for (const [view, { sort_desc, facets = [], fts_table, fts_pk }] of Object.entries<Record<string, string>>(tables)) {
      const names = [sort_desc, fts_pk, ...facets].filter((name) => name !== undefined);
      expect(() => sqlite.query(`select ${names} from ${view} limit 1`).all()).not.toThrow();
      if (fts_table !== undefined) expect(sqlite.query(`select rowid from ${fts_table} limit 1`).all()).toHaveLength(1);
    }
  });
});
