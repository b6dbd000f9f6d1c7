import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvRows } from "../../src/import/readers/csv-rows.ts";
import { csvLine } from "../../src/text/csv.ts";

/** The cells of one line, as a reader of CSV sees them. */
async function readBack(...cells: string[]): Promise<string[]> {
  const names = cells.map((_, n) => `c${n}`);
  const bytes = (async function* () {
    yield Buffer.from(csvLine(names) + csvLine(cells));
  })();
  for await (const { raw } of csvRows(bytes, names)) return names.map((name) => raw[name] ?? "");
  return [];
}

describe("csvLine()", () => {
  test("ends with CRLF and quotes only what needs it", () => {
    expect(csvLine(["a", null, "", "b c", 'd"e', "f,g", "h\ni", "é"])).toBe('a,,,b c,"d""e","f,g","h\ni",é\r\n');
  });

  test("is read back as it was written", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", " ", "é", "😀", "1", "="), minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(cell, cell, cell), async (cells) => {
        const read = await readBack("first", ...cells);
        expect(read.slice(1).map((text) => text.replace(/^'(?=\s*=|\n)/, ""))).toEqual(cells);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "\n=1",
    "\r=1",
    "＝1",
    "＠x",
    "＋1",
    "－1",
    '=HYPERLINK("http://x","y")',
    "- a list",
  ])("puts an apostrophe before %j", async (text) => {
    const [, read] = await readBack("first", text);
    expect(read).toBe(`'${text.replace("\r", "\n")}`);
  });

  test.each(["-1.50", "-0", "1", "a=b", "a-b", "'=1", "https://example.gov/?a=1", ""])("leaves %j as it is", async (text) => {
    expect(await readBack("first", text)).toEqual(["first", text]);
  });

  test("escapes control characters", async () => {
    expect(await readBack("first", "a\0b\u001b[2Jc\r\nd\re")).toEqual(["first", "a\\u0000b\\u001b[2Jc\nd\ne"]);
  });
});
