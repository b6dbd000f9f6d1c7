/** A search that is killed while it builds the index, again and again, in the end has the index of one that was not killed. */
import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { aDirectoryOfAll } from "../support/all-records.ts";
import { outputOf, run } from "../support/clocked-program.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

/** FUNDFEED_KILLS=50 for a thorough run. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 4);

setDefaultTimeout(600_000);
afterAll(dropScratch);

/** The number of rows of each table of the index, and a digest of them without row numbers. Also has FTS5 check itself. */
function contentsOf(directory: string): unknown {
  const sqlite = new Database(join(directory, "search.db"));
  expect(sqlite.query("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
  sqlite.run("insert into texts (texts) values ('integrity-check')");
  sqlite.run("create virtual table temp.counted using fts5vocab (main, texts, col)");
  const contents = [
    "select records.*, null as seq from records order by id",
    "select * from temp.counted order by term, col",
    "select * from words order by word",
    "select identity, stored_at, id, is_built, is_checked from progress",
  ].map((query) => {
    const rows = sqlite.query(query).values();
    return [query, rows.length, Bun.hash(JSON.stringify(rows))];
  });
  sqlite.close();
  return contents;
}

test("fundfeed find", async () => {
  const { data: directory, all } = await aDirectoryOfAll();
  const place = ["--limit", "1", "--all-sources", "--json", "--data"];

  const whole = join(aDirectory(), "whole");
  cpSync(directory, whole, { recursive: true });
  const startedAt = performance.now();
  expect(JSON.parse(await outputOf(["find", ...place, whole])).total).toBe(all.length);
  const tookMs = performance.now() - startedAt;

  let begun = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { code } = await run(["find", ...place, directory], { killAfterMs: Math.random() * tookMs });
    if (code === 0) rmSync(join(directory, "search.db"));
    else if (existsSync(join(directory, "search.db"))) begun++;
  }
  expect(JSON.parse(await outputOf(["find", ...place, directory])).total).toBe(all.length);
  expect(contentsOf(directory)).toEqual(contentsOf(whole));
  if (begun === 0) process.stderr.write("No kill came while the index was being built: run it again\n");
});
