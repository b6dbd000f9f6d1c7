import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DrizzleQueryError } from "drizzle-orm";
import { isUnreadable, Unavailable } from "../../db/unavailable.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

/** What `work` throws. */
function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail");
}

function closedDatabase(): unknown {
  const db = new Database(":memory:");
  const statement = db.query("select 1");
  db.close();
  return thrownBy(() => statement.get());
}

function damagedFile(): unknown {
  const path = join(aDirectory(), "catalog.db");
  writeFileSync(path, "not a database".repeat(100));
  return thrownBy(() => new Database(path).query("select * from sqlite_schema").get());
}

function lockedFile(): unknown {
  const path = join(aDirectory(), "catalog.db");
  using writer = new Database(path);
  writer.run("begin exclusive");
  using reader = new Database(path);
  return thrownBy(() => reader.query("select * from sqlite_schema").get());
}

const failing = (statement: string) => thrownBy(() => new Database(":memory:").run(statement));

describe("isUnreadable()", () => {
  test.each([
    ["a closed database", closedDatabase()],
    ["a damaged file", damagedFile()],
    ["a locked file", lockedFile()],
    ["a locked file, wrapped by Drizzle", new DrizzleQueryError("select 1", [], lockedFile() as Error)],
    ["Unavailable", new Unavailable("away")],
  ])("is true for %s", (_, error) => {
    expect(isUnreadable(error)).toBe(true);
  });

  test.each([
    ["a statement that is wrong", failing("select * from nowhere")],
    ["a constraint", failing("create table t (n integer check (n > 0)); insert into t values (0)")],
    ["another error", new Error("x")],
    ["what is not an error", null],
  ])("is false for %s", (_, error) => {
    expect(isUnreadable(error)).toBe(false);
  });
});
