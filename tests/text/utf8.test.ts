import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countBytes, createUtf8Decoder, hasStrayByte } from "../../src/text/utf8.ts";

/** The text of bytes that come in pieces of a size, in one buffer. */
function decode(bytes: Uint8Array, size: number): string {
  const decode = createUtf8Decoder();
  const buffer = Buffer.alloc(size);
  let text = "";
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    buffer.set(piece);
    text += decode(buffer.subarray(0, piece.length));
  }
  return text + decode();
}

describe("createUtf8Decoder()", () => {
  test("decodes as TextDecoder does, in pieces of any size", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 9 }), (text, size) => {
        const bytes = Buffer.from(text);
        expect(decode(bytes, size)).toBe(new TextDecoder().decode(bytes));
      }),
    );
  });

  test("finds the same characters in any bytes as TextDecoder, and replaces each other byte by half a pair", () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 9 }), (given, size) => {
        const text = decode(given, size);
        const around = new TextDecoder("utf-8", { ignoreBOM: true }).decode(given).replace(/^\ufeff/, "");
        expect(text.replaceAll(/[\udc80-\udcff]/gu, "")).toBe(around.replaceAll("\ufffd", ""));
        expect(text.isWellFormed()).toBe(!hasStrayByte(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each<[string, number[], string]>([
    ["a byte-order mark", [0xef, 0xbb, 0xbf, 0x61], "a"],
    ["a byte-order mark within", [0x61, 0xef, 0xbb, 0xbf], "a\ufeff"],
    ["a byte of Windows-1252", [0x61, 0x96, 0x62], "a\udc96b"],
    ["half a surrogate pair", [0xed, 0xa0, 0x80], "\udced\udca0\udc80"],
    ["too long a form", [0xc0, 0xaf], "\udcc0\udcaf"],
    ["a character beyond Unicode", [0xf4, 0x90, 0x80, 0x80], "\udcf4\udc90\udc80\udc80"],
    ["a character that the text ends within", [0x61, 0xe2, 0x82], "a\udce2\udc82"],
    ["a character that is cut off", [0xe2, 0x82, 0x61], "\udce2\udc82a"],
  ])("reads %s", (_, bytes, text) => {
    for (const size of [1, 2, 3, 10]) expect(decode(new Uint8Array(bytes), size)).toBe(text);
  });
});

test("hasStrayByte() does not mistake complete pairs or other halves for stray bytes", () => {
  expect(["\udc96", "😀", "\u{1f496}", "\ud83d", "a"].map(hasStrayByte)).toEqual([true, false, false, false, false]);
});

test("countBytes() counts the bytes in characters of several bytes, and stray bytes", () => {
  expect(countBytes(Buffer.concat([Buffer.from("aé–😀"), new Uint8Array([0x96, 0xe2, 0x82])]))).toEqual({ inCharacters: 9, stray: 3 });
});
