import { expect, test } from "bun:test";
import { wholeRows } from "../../release/beginning.ts";

test.each([
  ["a row that is cut off", '"Id","Text"\n"1","x"\n"2","y', '"Id","Text"\n"1","x"\n'],
  ["a line break after a quote at the end of a field", '"Id","Text"\n"1","said ""x""\n","y"', '"Id","Text"\n'],
  ["a line that begins with a doubled quote", '"Id","Text"\r\n"1","x ""\r\n""y"" z', '"Id","Text"\r\n'],
])("wholeRows() leaves out %s", (_, csv, whole) => {
  expect(wholeRows(csv)).toBe(whole);
});
