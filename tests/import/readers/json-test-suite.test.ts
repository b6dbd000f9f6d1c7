/** The documents of JSONTestSuite, which says of each whether a reader must take it (y_), must refuse it (n_), or may do either (i_). */
import { expect, test } from "bun:test";
import { jsonElements } from "../../../src/import/readers/json-elements.ts";
import { pieces } from "../../support/read-format.ts";
import { realJson } from "../../support/real-data.ts";

/** By name, with one character for each byte. */
const documents: Readonly<Record<string, string>> = realJson("json-test-suite/test_parsing.json");

/** Documents of free choice that are refused. The other ones have numbers beyond a double, or text that is not Unicode: no record keeps it. */
const REFUSED: Readonly<Record<string, string>> = {
  "i_string_UTF-16LE_with_BOM.json": "only UTF-8 is read",
  "i_string_utf16BE_no_BOM.json": "only UTF-8 is read",
  "i_string_utf16LE_no_BOM.json": "only UTF-8 is read",
  "i_structure_500_nested_arrays.json": "brackets may be nested 100 deep",
  "i_structure_UTF-8_BOM_empty_object.json": "the byte-order mark is inside the array that this test puts around an object",
};

/** Whether the document is read without a fault. Only arrays are read, so another document is read as the one element of an array. */
async function isTaken(text: string): Promise<boolean> {
  const document = /^\s*($|[[\]])/.test(text) ? text : `[${text}]`;
  try {
    const elements = await Array.fromAsync(jsonElements(pieces(Buffer.from(document, "latin1"), 7)));
    return elements.every((element) => "value" in element);
  } catch {
    return false;
  }
}

/** The names of the documents of a verdict that are taken, or not. */
async function named(verdict: string, { taken }: { taken: boolean }): Promise<string[]> {
  const names = Object.keys(documents).filter((name) => name.startsWith(verdict));
  const isWanted = await Promise.all(names.map(async (name) => (await isTaken(documents[name] ?? "")) === taken));
  return names.filter((_, index) => isWanted[index]);
}

test("every valid document of JSONTestSuite is read", async () => {
  expect(Object.keys(documents)).toHaveLength(316);
  expect(await named("y_", { taken: false })).toEqual([]);
});

test("every invalid document of JSONTestSuite is refused", async () => {
  expect(await named("n_", { taken: true })).toEqual([]);
});

test("of the documents that a reader may take or refuse, those with a reason are refused", async () => {
  expect(await named("i_", { taken: false })).toEqual(Object.keys(REFUSED));
});
