import { describe, expect, test } from "bun:test";
import { createXmlReader } from "../../src/import/xml.ts";

/** What a document says, one piece after another: `<name`, `@name=value`, text and `>`. */
function read(document: string, size = document.length): string {
  const said: string[] = [];
  const xml = createXmlReader({
    open(name, attributes) {
      said.push(`<${name}`, ...Object.entries(attributes).map(([attribute, value]) => `@${attribute}=${value}`));
    },
    text: (text) => void said.push(text),
    close: () => void said.push(">"),
  });
  for (let at = 0; at < document.length; at += size) xml.write(document.slice(at, at + size));
  xml.end();
  return said.join("");
}

describe("createXmlReader()", () => {
  test.each([
    ["<a/>", "<a>"],
    ["<?xml version='1.0' encoding=\"utf-8\"?>\n<!-- c > -->\n<a>x</a>\n<!-- end -->", "<ax>"],
    [`<a x="1>2" y = '&lt;&#65;"'>t &amp; &#x41;<![CDATA[<b>&amp;]]>z<b /></a >`, '<a@x=1>2@y=<A"t & A<b>&amp;z<b>>'],
    ["<!DOCTYPE a SYSTEM 'http://example.com/a.dtd'><a>x</a>", "<ax>"],
    ["<g:a xmlns:g='u'>é😀</g:a>", "<g:a@xmlns:g=ué😀>"],
    ["<a>1\r\n2\r3</a>", "<a1\n2\n3>"],
    [
      "<a><b>1</b><b>2\r</b><b></b><b>&lt;</b><b>3</b ><b>4<c/></b><bb>5</bb><b>6<!-- -->7</b></a>",
      "<a<b1><b2\n><b><b<><b3><b4<c>><bb5><b67>>",
    ],
  ])("reads %p, in pieces of any size", (document, said) => {
    for (const size of [1, 2, 5, 1000]) expect(read(document, size)).toBe(said);
  });

  test.each([
    ["", "line 1: it ends without a whole root element"],
    ["<a>\n<b>", "line 2: it ends inside <b>"],
    ["<a><!-- </a>", "line 1: it ends inside <a>"],
    ["<a>\n<b>\n</a>", "line 3: </a> where <b> is open"],
    ["</a>", "line 1: </a> where nothing is open"],
    ["<a></a><b/>", "line 1: a second root element"],
    ["<a/>x", "line 1: it ends without a whole root element"],
    ["x<a/>", "line 1: text outside the root element"],
    ["<a>&nbsp;</a>", 'line 1: an "&" that begins no entity of XML'],
    ["<a>R & D</a>", 'line 1: an "&" that begins no entity of XML'],
    ["<a><b>1</b><b>2\n&</b></a>", 'line 2: an "&" that begins no entity of XML'],
    ["<a><b>1</b><b>2</bb></a>", "line 1: </bb> where <b> is open"],
    ["<a><b>1</b>\n<b>2<b></a>", "line 2: </a> where <b> is open"],
    ["<a>&#0;</a>", "line 1: &#0; is no character of XML"],
    ["<a>&#xD800;</a>", "line 1: &#xD800; is no character of XML"],
    ["<a>\0</a>", "line 1: a character that XML does not allow"],
    ["<a x=1/>", "line 1: <a x=1/> is no tag"],
    ["<1/>", "line 1: <1/> is no tag"],
    ["<a b='1' b='2'/>", "line 1: the attribute b is there twice"],
    ["<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "line 1: its encoding is ISO-8859-1, not UTF-8"],
    ["<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "line 1: declarations of a document type are refused: <!DOCTYPE a [<!ENTITY x 'y'>"],
    ["<a>".repeat(200), "line 1: elements are nested more than 100 deep"],
  ])("refuses %p: %s", (document, fault) => {
    expect(() => read(document, 65_536)).toThrow(fault);
  });

  test("holds no more than a megabyte", () => {
    for (const document of [`<a>${"x".repeat(1_100_000)}`, `<a ${"b='1' ".repeat(200_000)}`, `<a><!--${"x".repeat(1_100_000)}`]) {
      expect(() => read(document, 65_536)).toThrow("line 1: more than 1000000 characters without a tag");
    }
  });

  test.each([1, 2, 7, 40, 1000])("tells what stands between two tags to the letter, in pieces of %d characters", (size) => {
    const elements = ["<b>x &amp; <c d='>'>y</c>\r\n</b>", "<b/>", "<b>\u2026<!-- <b> --><![CDATA[</b>]]></b >"];
    const found: string[] = [];
    let depth = 0;
    const xml = createXmlReader({
      open: () => void (++depth === 2 && xml.mark()),
      text: () => undefined,
      close: () => void (depth-- === 2 && found.push(xml.sinceMark())),
    });
    const document = `<a>\n ${elements.join(" - ")}</a>`;
    for (let at = 0; at < document.length; at += size) xml.write(document.slice(at, at + size));
    xml.end();
    expect(found).toEqual(elements);
  });

  test("keeps no more than ten megabytes since a mark", () => {
    const xml = createXmlReader({ open: () => xml.mark(), text: () => undefined, close: () => undefined });
    xml.write("<a>");
    const write = () => {
      for (let written = 0; written < 11; written++) xml.write("x ".repeat(250_000).concat("<!---->").repeat(2));
    };
    expect(write).toThrow("line 1: an element of more than 10000000 characters");
  });
});
