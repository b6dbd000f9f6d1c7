import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { csvRows, type Encoding, encodingOf } from "../../../src/import/readers/csv-rows.ts";

/** The text in pieces of this many bytes. */
async function* pieces(text: string | Uint8Array, size = 1 << 20): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function rowsOf(text: string | Uint8Array, columns: string[] = [], size?: number, encoding?: Encoding) {
  const rows = [];
  for await (const { line, raw: row } of csvRows(pieces(text, size), columns, encoding)) rows.push({ line, cells: Object.values(row) });
  return rows;
}

describe("csvRows()", () => {
  test("reads rows with any quoting, in pieces of any size", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", " ", "é", "–", "😀"), maxLength: 6 });
    const file = fc.tuple(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 }),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
    );
    await fc.assert(
      fc.asyncProperty(file, async ([table, end, quoteAll, size]) => {
        const written = (text: string) => (quoteAll || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
        const text = [["a", "b", "c"], ...table].map((row) => row.map(written).join(",") + end).join("");
        const read = await rowsOf(text, ["c", "a"], size);
        expect(read.map(({ cells }) => cells)).toEqual(table);
      }),
      { numRuns: 500 },
    );
  });

  test("counts lines as an editor does, and skips blank ones", async () => {
    expect(await rowsOf('a,b\r\n"x\ny",1\r\n\r\nz,2')).toEqual([
      { line: 2, cells: ["x\ny", "1"] },
      { line: 5, cells: ["z", "2"] },
    ]);
  });

  test("accepts any column name", async () => {
    expect(await rowsOf("__proto__,constructor\n1,2")).toEqual([{ line: 2, cells: ["1", "2"] }]);
  });

  test.each([
    ["semicolons", "a;b\n1;2", "separated by semicolons: save it with commas", ["a", "b"]],
    ["semicolons between quotes", '"a";"b"\n"1";"2"', "separated by semicolons: save it with commas"],
    ["tabs", "a\tb\n1\t2", "separated by tabs: save it with commas", ["a", "b"]],
    ["UTF-16", Buffer.from('\ufeff"a","b"\n1,2', "utf16le"), "the file is in UTF-16: save it as UTF-8"],
    ["lines that end with CR", "a,b\r1,2\r", "the lines of the file end with CR alone: save it with LF or CRLF"],
    ["lines that end with CR, quoted", '"a","b"\r"1","2"\r', "the lines of the file end with CR alone: save it with LF or CRLF"],
    ["no header", "", 'the header has no column "a"'],
    ["a missing column", "b\n1", 'the header has no column "a"'],
    ["a column twice", "a,a\n1,1", 'the header has the column "a" twice'],
    ["an unclosed quote", 'a,b\n1,"2\n', "the file ends inside the quoted field of the row on line 2"],
    ["text behind a quote", 'a,b\n"1"x,2', "field 1 of the row on line 2 continues after its closing quote"],
    ["a quote inside", 'a,b\n1"1,2', "the row on line 2 has a quote inside an unquoted field"],
    ["a row too wide", "a,b\n1,2\n1,2,3", "the row on line 3 has 3 fields where the header has 2"],
    ["a row too narrow", "a,b\n1", "the row on line 2 has 1 fields where the header has 2"],
  ] as [string, string | Buffer, string, string[]?][])("refuses %s", async (_, text, message, columns = ["a"]) => {
    await expect(rowsOf(text, columns)).rejects.toThrow(message);
    await expect(rowsOf(text, columns, 1)).rejects.toThrow(message);
  });

  test("replaces a byte that is not UTF-8 by half a surrogate pair, which no record may hold", async () => {
    expect((await rowsOf(Buffer.from("a\n\xe9\nb", "latin1"))).map(({ cells }) => cells)).toEqual([["\udce9"], ["b"]]);
    const mixed = await rowsOf(Buffer.concat([Buffer.from("a\né"), Buffer.from([0x96])]), ["a"], 1, "mixed");
    expect(mixed.map(({ cells }) => cells)).toEqual([["é–"]]);
  });
});

describe("encodingOf()", () => {
  test.each([
    ["ASCII", Buffer.from("a,b"), "utf-8"],
    ["a character cut by the end of a piece", Buffer.from("é–😀"), "utf-8"],
    ["a character cut by the end of the file", Buffer.from("é").subarray(0, 1), "windows-1252"],
    ["a stray byte among characters of UTF-8", Buffer.concat([Buffer.from("é–😀"), Buffer.from("a \x96 b", "latin1")]), "mixed"],
    [
      "a dash of Windows-1252 after the byte-order mark of UTF-8",
      Buffer.concat([Buffer.from("\ufeffa"), Buffer.from("\x96\x96\x96\x96", "latin1")]),
      "mixed",
    ],
    ["a dash of Windows-1252", Buffer.from("a \x96 b", "latin1"), "windows-1252"],
  ] as const)("tells %s", async (_, bytes, encoding) => {
    expect(await encodingOf(pieces(bytes, 1))).toBe(encoding);
  });
});
