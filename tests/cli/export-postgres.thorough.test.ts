/** `export` and `find` give the same on PostgreSQL as on files. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { expectInStep } from "../support/sql-file.ts";

setDefaultTimeout(300_000); // A PostgreSQL that starts on a busy machine takes its time.
afterAll(dropScratch);

describe.if(hasPostgres)("on PostgreSQL", () => {
  let files: string[];
  let postgres: string[];

  beforeAll(async () => {
    const data = await aDirectoryOfTheDemo();
    const url = await (await postgresServer()).freshDatabase({ empty: true });
    expect((await fundfeed(["copy", url, "--data", data])).code).toBe(0);
    [files, postgres] = [
      ["--data", data],
      ["--database", url],
    ];
  });

  const printed = async (args: readonly string[]) => {
    const { code, out } = await fundfeed(args);
    expect(code).toBe(0);
    return out;
  };

  test.each(["ndjson", "csv"])("export --format %s prints the same bytes, with and without filters", async (format) => {
    for (const filter of [[], ["--source", "GRANTS_GOV", "--status", "open"]]) {
      const out = await printed(["export", "--format", format, ...filter, ...postgres]);
      expect(out.length).toBeGreaterThan(1000);
      expect(out).toBe(await printed(["export", "--format", format, ...filter, ...files]));
    }
  });

  test("export --format sqlite writes the same documents", async () => {
    const contentOf = async (location: string[]) => {
      const path = join(aDirectory(), "all.sqlite");
      await printed(["export", "--format", "sqlite", path, ...location]);
      const opportunities = expectInStep(path);
      const sqlite = new Database(path, { readonly: true });
      const events = sqlite.query("select id, opportunity_id, detected_at, document from events order by id").all();
      sqlite.close();
      return { opportunities, events };
    };
    const content = await contentOf(postgres);
    expect(content.events.length).toBeGreaterThan(100);
    expect(content).toEqual(await contentOf(files));
  });

  test("find prints the same", async () => {
    const searchData = aDirectory();
    for (const args of [["quantum"], ["--status", "open", "--sort", "closes"], ["research", "--source", "GRANTS_GOV"]]) {
      const find = ["find", ...args, "--format", "ndjson"];
      const out = await printed([...find, ...postgres, "--search-data", searchData]);
      expect(out).not.toBe("");
      expect(out).toBe(await printed([...find, ...files]));
    }
  });
});
