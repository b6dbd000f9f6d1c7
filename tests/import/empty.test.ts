/** An empty file is 0 records, whatever its format, and the import succeeds (D-35). */
import { afterAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { formats } from "../../src/import/formats/all.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, contentsOf, documentsOf, dropScratch, inScratch } from "../support/imports.ts";
import { anOpportunity } from "../support/records.ts";

afterAll(dropScratch);

const contents: [string, string][] = [
  ["nothing", ""],
  ["blanks and line breaks", " \r\n\n"],
  ["a byte-order mark", "\ufeff"],
];

describe.each([...formats.map(({ name }) => name), "events"])("import %s", (format) => {
  test.each(contents)("of a file with %s", async (_, content) => {
    const path = aFile(content);
    const { code, out, err } = await fundfeed(["import", format, path, "--json", "--data", aDirectory()]);
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ read: 0, added: 0, rejected: 0 });
  });
});

describe("an empty file", () => {
  test("may be gzipped", async () => {
    const path = inScratch("empty.gz");
    await Bun.write(path, gzipSync(""));
    expect((await fundfeed(["import", "sbir-gov", path, "--data", aDirectory()])).code).toBe(0);
  });

  test("may lie among others", async () => {
    const catalog = await aCatalog();
    expect(await catalog.takeFiles([aFile(""), aFile([anOpportunity()]), aFile("\n")])).toMatchObject({ read: 1, added: 1 });
    expect(await documentsOf(catalog.db)).toHaveLength(1);
  });

  test("has no source, so a snapshot of it removes nothing", async () => {
    const catalog = await aCatalog();
    await catalog.take([anOpportunity()]);
    const before = await contentsOf(catalog.db);
    expect(await catalog.take("", { snapshot: true, allowRemovals: true })).toMatchObject({ read: 0, removed: 0 });
    expect(await contentsOf(catalog.db)).toBe(before);
  });
});
