import { describe, expect, test } from "bun:test";
import { SOURCE_MAX, xmlElements } from "../../../src/import/readers/xml-elements.ts";

/** Elements of a document that comes in pieces of some bytes: the exact text of each, with its fault. */
async function read(document: string, size = document.length): Promise<string[]> {
  const bytes = Buffer.from(document);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: string[] = [];
  for await (const each of xmlElements(pieces(), "r")) {
    const content = each.parse();
    if ("fault" in content) found.push(`${each.source} !${content.fault}`);
    else {
      if ("element" in content) expect(content.element.name).toBe(each.name);
      found.push(each.source);
    }
  }
  return found;
}

const malformed = "!the element is not well-formed: ";

describe("xmlElements()", () => {
  test.each<[string, string[]]>([
    ["<r/>", []],
    [
      "<?xml version='1.0' encoding=\"utf-8\"?>\n<!-- <a> > -->\n<r>\n <a>1</a><b/> <a>2</a></r >\n<!-- end -->",
      ["<a>1</a>", "<b/>", "<a>2</a>"],
    ],
    ["<!DOCTYPE r SYSTEM 'http://example.com/r.dtd'><r><a>x</a></r>", ["<a>x</a>"]],
    ["<g:r xmlns:g='u'><g:a>é😀</g:a></g:r>", ["<g:a>é😀</g:a>"]],
    [
      `<r><a x="1>2" y = '</a>'>t</a><a x='/'>u</a ></r>`.replace("</a>'>t", "&lt;/a>'>t"),
      [`<a x="1>2" y = '&lt;/a>'>t</a>`, "<a x='/'>u</a >"],
    ],
    ["<r><!-- <a>no</a> --><a>1</a><?p <a>no</a>?><!----></r>", ["<a>1</a>"]],
    [
      "<r><a>1<!-- </a> --></a><a><![CDATA[</a>]]></a><a><?p </a>?></a><aa>2</aa></r>",
      ["<a>1<!-- </a> --></a>", "<a><![CDATA[</a>]]></a>", "<a><?p </a>?></a>", "<aa>2</aa>"],
    ],
    ["<r><a><b>1\r\n</b><aa/></a></r>", ["<a><b>1\r\n</b><aa/></a>"]],
    ["<r><a>R & D</a><a>1</a></r>", [`<a>R & D</a> ${malformed}Expected an entity name after '&' but found space`, "<a>1</a>"]],
    ["<r><a><b></a><a>1</a></r>", [`<a><b></a> ${malformed}Expected closing tag </b> but found </a>`, "<a>1</a>"]],
    ["<r><a>&x;</a></r>", [`<a>&x;</a> ${malformed}Entity 'x' is not declared`]],
  ])("reads %p, in pieces of any size", async (document, elements) => {
    for (const size of [1, 2, 5, 1000]) expect(await read(document, size)).toEqual(elements);
  });

  test("a byte that is not UTF-8 is a fault of its element", async () => {
    const bytes = Buffer.from("<r><a>\xe9</a><a>1</a></r>", "latin1");
    const found = [];
    for await (const each of xmlElements(
      (async function* () {
        yield bytes;
      })(),
      "r",
    )) {
      const content = each.parse();
      found.push("fault" in content ? content.fault : each.source);
    }
    expect(found).toEqual(["the element is not well-formed: a byte that is not UTF-8", "<a>1</a>"]);
  });

  test.each([
    ["", "XML document must have a root element, after 0 elements"],
    ["<r>\n<a>1</a><b>", "it ends inside <b>, after 1 elements"],
    ["<r><a><!-- </a></r>", "it ends inside <a>, after 0 elements"],
    ["<r><a>1</a>", "Missing closing tag for element 'r', after 1 elements"],
    ["<r></r><b/>", "Only one root element is allowed"],
    ["<r/><r/>", "Only one root element is allowed"],
    ["<r/>x", "Unexpected 'x' after the root element"],
    ["x<r/>", "Expected the root element but found 'x'"],
    ["<r><a>1</a></a></r>", "Expected closing tag </r> but found </a>, after 1 elements"],
    ["<r><a>1<a>2</a></r>", "Missing closing tag for element 'a', after 0 elements"],
    ["<r><a><a>1</a></a></r>", "Missing closing tag for element 'a', after 0 elements"],
    ["<r>R & D<a>1</a></r>", "Expected an entity name after '&' but found space"],
    ["<s><a/></s>", "its root element is s, not r"],
    ["<?xml version='1.0' encoding='ISO-8859-1'?><r/>", "its encoding is ISO-8859-1, not UTF-8"],
    ["<!DOCTYPE r [<!ENTITY x 'y'>]><r><a>&x;</a></r>", "declarations of a document type are refused"],
  ])("refuses %p: %s", async (document, fault) => {
    for (const size of [1, 1000]) await expect(read(document, size)).rejects.toThrow(fault);
  });

  test("an element that is too long, or nested too deep, is a fault, and a comment that is too long refuses the document", async () => {
    const long = `<a>1</a><a><id>7</id>${"<b>x</b>".repeat(SOURCE_MAX / 8)}</a><a>2</a>`;
    const [first, second, third] = await read(`<r>${long}</r>`, 65_536);
    expect([first, third]).toEqual(["<a>1</a>", "<a>2</a>"]);
    expect(second).toStartWith("<a><id>7</id><b>x");
    expect(second).toEndWith(`!the element must have at most ${SOURCE_MAX} characters`);
    expect(await read(`<r><a>${"<b>".repeat(50_000)}</a></r>`, 65_536)).toEqual([
      expect.stringContaining("the element is not well-formed"),
    ]);
    for (const markup of [`<!--${"x".repeat(SOURCE_MAX)}-->`, `<a ${"b='1' ".repeat(SOURCE_MAX / 3)}>`])
      await expect(read(`<r>${markup}</r>`, 65_536)).rejects.toThrow(
        `a tag, comment, section or text of more than ${SOURCE_MAX} characters`,
      );
  });
});
