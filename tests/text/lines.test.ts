import { describe, expect, test } from "bun:test";
import { lines } from "../../src/text/lines.ts";
import { pieces } from "../support/read-format.ts";

describe("lines()", () => {
  async function linesOf(content: string | Uint8Array, size: number) {
    return Array.fromAsync(lines(pieces(content, size)));
  }

  test.each([1, 2, 3, 1000])("splits at LF and CR LF in pieces of %d bytes, without the byte-order mark", async (size) => {
    expect(await linesOf("\ufeffone\r\n\ntwo é\nthree\rstill", size)).toEqual([
      { line: 1, text: "one" },
      { line: 2, text: "" },
      { line: 3, text: "two é" },
      { line: 4, text: "three\rstill" },
    ]);
    expect(await linesOf("one\n", size)).toEqual([{ line: 1, text: "one" }]);
  });

  test("a line that is not UTF-8 affects no other line", async () => {
    expect(await linesOf(new Uint8Array([97, 10, 98, 0xff, 10, 99]), 2)).toEqual([
      { line: 1, text: "a" },
      { line: 2, text: "b\ufffd", fault: "the line is not UTF-8" },
      { line: 3, text: "c" },
    ]);
  });

  test("a line that is too long affects no other line, and its beginning is shown", async () => {
    expect(await linesOf(`a\n${"b".repeat(17 * 1024 * 1024)}\nc`, 65_536)).toEqual([
      { line: 1, text: "a" },
      { line: 2, text: "b".repeat(1000), fault: "the line has more than 16777216 bytes" },
      { line: 3, text: "c" },
    ]);
  });
});
