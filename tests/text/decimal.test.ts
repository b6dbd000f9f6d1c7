import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareDecimals, decimalKey, isDecimal } from "../../src/text/decimal.ts";

const digits = fc.stringMatching(/^[0-9]{1,30}$/);
const decimal = fc
  .tuple(fc.boolean(), digits, fc.option(digits, { nil: undefined }))
  .map(([negative, whole, fraction]) => `${negative ? "-" : ""}${whole}${fraction === undefined ? "" : `.${fraction}`}`);

test.each([
  ["1.50", "1.5", 0],
  ["-0", "0.00", 0],
  ["007", "7", 0],
  ["9007199254740993", "9007199254740992", 1],
  ["0.1", "0.09", 1],
  ["-1.5", "-1", -1],
  ["-10", "-9", -1],
  ["-1", "0", -1],
  ["99", "100", -1],
])("compareDecimals(%s, %s) is %i, and the keys agree", (left, right, expected) => {
  expect(compareDecimals(left, right)).toBe(expected);
  expect(Math.sign(Buffer.compare(Buffer.from(decimalKey(left)), Buffer.from(decimalKey(right))))).toBe(expected);
});

test("keys sort as the decimals do", () => {
  fc.assert(
    fc.property(decimal, decimal, (left, right) => {
      const byKey = Buffer.compare(Buffer.from(decimalKey(left)), Buffer.from(decimalKey(right)));
      expect(Math.sign(byKey)).toBe(compareDecimals(left, right));
    }),
    { numRuns: 2000 },
  );
});

test("a float, a blank and a text of 101 characters are no decimals", () => {
  expect(["1", "-1.50", "9".repeat(100)].map(isDecimal)).toEqual([true, true, true]);
  expect(["", " ", "1e3", "1.", ".5", "+1", "0x1", "9".repeat(101)].map(isDecimal)).toEqual(Array(8).fill(false));
});
