import { describe, expect, test } from "bun:test";
import { XmlReader } from "../../../src/import/readers/xml.ts";

/** The calls of the handlers for a document: `<name`, `@name=value`, text, `>` and `!fault!`. */
function read(document: string, size = document.length): string {
  const calls: string[] = [];
  const xml = new XmlReader({
    open(name, attributes) {
      calls.push(`<${name}`, ...Object.entries(attributes).map(([attribute, value]) => `@${attribute}=${value}`));
    },
    text: (text) => void calls.push(text),
    close: () => void calls.push(">"),
    fault: (reason) => void calls.push(`!${reason}!`),
  });
  for (let at = 0; at < document.length; at += size) xml.write(document.slice(at, at + size));
  xml.end();
  return calls.join("");
}

describe("XmlReader", () => {
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
  ])("reads %p, in pieces of any size", (document, calls) => {
    for (const size of [1, 2, 5, 1000]) expect(read(document, size)).toBe(calls);
  });

  test.each([
    ["", "line 1: it ends without a whole root element"],
    ["<a>\n<b>", "line 2: it ends inside <b>"],
    ["<a><!-- </a>", "line 1: it ends inside <a>"],
    ["<a>\n<b>\n</a>", "line 3: </a> where <b> is open"],
    ["</a>", "line 1: </a> where nothing is open"],
    ["<a></a><b/>", "line 1: a second root element"],
    ["<a/>x", "line 1: text outside the root element"],
    ["x<a/>", "line 1: text outside the root element"],
    ["<a><b>1</b><b>2</bb></a>", "line 1: </bb> where <b> is open"],
    ["<a><b>1</b>\n<b>2<b></a>", "line 2: </a> where <b> is open"],
    ["<a x=1/>", "line 1: <a x=1/> is no tag"],
    ["<1/>", "line 1: <1/> is no tag"],
    ["<a b='1' b='2'/>", "line 1: the attribute b is there twice"],
    ["<a/>\u00a0", "line 1: text outside the root element"],
    ["<a/>&#32;<!---->", "line 1: text outside the root element"],
    ["<a/><![CDATA[]]>", "line 1: text outside the root element"],
    ["<?xml encoding='UTF-8'?><a/>", "line 1: <?xml encoding='UTF-8'?> is no XML declaration"],
    ["<!DOCTYPE><a/>", "line 1: it is no document type: <!DOCTYPE>"],
    ["<a/>\n<!DOCTYPE a>", "line 2: a declaration where none may be: <!DOCTYPE a>"],
    ["<a><!ELEMENT a ANY></a>", "line 1: a declaration where none may be: <!ELEMENT a ANY>"],
    ["<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "line 1: its encoding is ISO-8859-1, not UTF-8"],
    ["<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "line 1: declarations of a document type are refused: <!DOCTYPE a [<!ENTITY x 'y'>"],
  ])("refuses %p: %s", (document, fault) => {
    expect(() => read(document, 65_536)).toThrow(fault);
  });

  test("refuses more than a million open elements", () => {
    expect(() => read("<a>".repeat(1_000_001), 65_536)).toThrow("line 1: elements are nested more than 1000000 deep");
  });

  const entity = 'an "&" that begins no entity of XML';
  const character = "a character that XML does not allow";

  test.each([
    ["<a>&nbsp;</a>", `<a!${entity}!&nbsp;>`],
    ["<a>R & D</a>", `<a!${entity}!R & D>`],
    ["<a>&#0;</a>", "<a!&#0;, which is no character of XML!&#0;>"],
    ["<a>&#xD800;</a>", "<a!&#xD800;, which is no character of XML!&#xD800;>"],
    ["<a>\0</a>", `<a!${character}!\0>`],
    ["<a><![CDATA[\x07]]></a>", `<a!${character}!\x07>`],
    ["<a b='&x;'/>", `<a@b=&x;!${entity}!>`],
    ["<a b='\x07'>c</a>", `<a@b=\x07!${character}!c>`],
    ["<a><b>\0</b><b>c</b></a>", `<a<b!${character}!\0><bc>>`],
    ["<a>\ud83d</a>", `<a!${character}!\ud83d>`],
    ["<a>\udcff</a>", "<a!a byte that is not UTF-8!\udcff>"],
    ["<a>b]]>c</a>", '<a!"]]>" outside of a CDATA section!b]]>c>'],
    ["<a><![CDATA[b]]]]><![CDATA[>]]></a>", "<ab]]>>"],
    ["<a>b<!-- c -- d -->e</a>", '<ab!a comment with "--"!e>'],
    ["<a>b<!--\f-->e</a>", `<ab!${character}!e>`],
    ["<a>b<? c?>d</a>", "<ab!a processing instruction without a name!d>"],
    ["\n<?xml version='1.0'?><a/>", '!a processing instruction named "xml"!<a>'],
  ])("reports the faults of %p, and goes on", (document, calls) => {
    for (const size of [1, 2, 5, 1000]) expect(read(document, size)).toBe(calls);
  });

  test("passes a long text on in pieces, without splitting references and line breaks", () => {
    const long = "x&amp;\r\n".repeat(50_000);
    expect(read(`<a>${long}</a>`, 1000)).toBe(`<a${"x&\n".repeat(50_000)}>`);
  });

  test.each([
    ["\r\n", "\n"],
    ["😀", "😀"],
    ["&#0000000000065;", "A"],
    ["]]>", '!"]]>" outside of a CDATA section!]]>'],
  ])("does not split %p, wherever it is in a long text", (whole, call) => {
    for (let blanks = 69_915; blanks < 69_945; blanks++) {
      const calls = read(`<a>${" ".repeat(blanks)}${whole}${" ".repeat(100)}</a>`, 70_000);
      expect(calls.replaceAll(" ", "")).toBe(`<a${call.replaceAll(" ", "")}>`);
    }
  });

  test("refuses more than ten megabytes of markup", () => {
    for (const document of [`<a ${"b='1' ".repeat(2_000_000)}`, `<a><!--${"x".repeat(11_000_000)}`]) {
      expect(() => read(document, 65_536)).toThrow("line 1: a tag, comment or section of more than 10000000 characters");
    }
  });

  test("reads a tag with a hundred thousand attributes", () => {
    const attributes = Array.from({ length: 100_000 }, (_, n) => ` a${n}='>'`).join("");
    expect(read(`<a${attributes}/>`, 8192).length).toBe(attributes.length - 2 * 100_000 + 3);
  });

  test.each([1, 2, 7, 40, 1000])("passes on the exact source of the elements at a depth, in pieces of %d characters", (size) => {
    const elements = ["<b>x &amp; <c d='>'>y</c>\r\n</b>", "<b/>", "<b>\u2026<!-- <b> --><![CDATA[</b>]]></b >"];
    const found: string[] = [];
    const close = (_name: string, source: string | undefined) => void (source !== undefined && found.push(source));
    const xml = new XmlReader({ open: () => undefined, text: () => undefined, close, fault: () => undefined }, 2);
    const document = `<a>\n ${elements.join(" - ")}</a>`;
    for (let at = 0; at < document.length; at += size) xml.write(document.slice(at, at + size));
    xml.end();
    expect(found).toEqual(elements);
  });

  test("drops the source of an element of more than ten megabytes", () => {
    const sources: (string | undefined)[] = [];
    const close = (name: string, source: string | undefined) => void (name === "b" && sources.push(source));
    const xml = new XmlReader({ open: () => undefined, text: () => undefined, close, fault: () => undefined }, 2);
    xml.write("<a><b>");
    for (let written = 0; written < 11; written++) xml.write("x ".repeat(250_000).concat("<!---->").repeat(2));
    xml.write("</b><b/></a>");
    xml.end();
    expect(sources).toEqual([undefined, "<b/>"]);
  });
});
