/** Runs every query of docs/sql.md on the demo's data, and compares the results with those in the page. UPDATE_DOCS=1 writes them there. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);

const PAGE = join(import.meta.dir, "../../docs/sql.md");
/** The day on which the page was written. */
const TODAY = "2026-10-05";

const page = readFileSync(PAGE, "utf8");
/** Each query, and the table below it. */
const queries = [...page.matchAll(/^```sql\n([\s\S]*?)^```\n(?:\n((?:\|.*\n)+))?/gm)].map(([whole, sql = "", shown = ""]) => ({
  whole,
  sql,
  shown,
}));

let sqlite: Database;

beforeAll(async () => {
  const path = join(aDirectory(), "opportunities.sqlite");
  await fundfeed(["export", "--format", "sqlite", path, "--data", await aDirectoryOfTheDemo()]);
  sqlite = new Database(path, { readonly: true });
  if (process.env.UPDATE_DOCS === "1")
    writeFileSync(
      PAGE,
      queries.reduce((text, { whole, sql }) => text.replace(whole, `\`\`\`sql\n${sql}\`\`\`\n\n${resultOf(sql)}`), page),
    );
});
afterAll(() => {
  sqlite.close();
  dropScratch();
});

/** The rows as a Markdown table. */
function resultOf(sql: string): string {
  const statement = sqlite.query(sql.replaceAll("date('now'", `date('${TODAY}'`));
  const rows = statement.values();
  const line = (cells: readonly unknown[]) => `| ${cells.map((cell) => (cell ?? "").toString().replaceAll("|", "\\|")).join(" | ")} |\n`;
  const columns = statement.columnNames;
  return [line(columns), `|${columns.map(() => "---|").join("")}\n`, ...rows.map(line)].join("");
}

describe("docs/sql.md", () => {
  test("has ten queries", () => expect(queries).toHaveLength(10));

  test.each(queries.map(({ sql, shown }) => [sql.split("\n")[0] ?? "", sql, shown] as const))("%s …", (_, sql, shown) => {
    const result = resultOf(sql);
    expect(result.split("\n").length).toBeGreaterThan(3);
    if (process.env.UPDATE_DOCS !== "1") expect(shown).toBe(result);
  });

  test("names the views and their columns", () => {
    const columnsOf = (view: string) =>
      sqlite
        .query<{ name: string }, [string]>("select name from pragma_table_info(?)")
        .all(view)
        .map(({ name }) => name);
    const rows = [...page.matchAll(/^\| `(\w+)` \| [^|]*\| (.*) \|$/gm)];
    expect(rows.map(([, view]) => view)).toEqual(["opportunity", "contact", "classification", "event", "change"]);
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
