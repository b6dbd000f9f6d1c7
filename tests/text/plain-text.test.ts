import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeEntities, isSameWording, plainParagraphs, plainText, summaryOf } from "../../src/text/plain-text.ts";

describe("decodeEntities()", () => {
  test.each([
    ["AI &amp; Digital", "AI & Digital"],
    ["&amp;amp;lt;b&amp;gt;", "<b>"],
    ["it&#8217;s &#x2019; &#x92;", "it’s ’ ’"],
    ["&nbsp;&yuml;&omega;&bull;&apos;", "\u00a0ÿω•'"],
    ["R&D; &unknown; &#0; &#xD800; &", "R&D; &unknown; \ufffd \ufffd &"],
  ])("reads %p as %p", (text, decoded) => {
    expect(decodeEntities(text)).toBe(decoded);
  });
});

describe("plainText()", () => {
  test.each([
    ["<p>One</p><p>two</p>", "One two"],
    ["<b>w</b>ord, H<sub>2</sub>O", "word, H2O"],
    ["&lt;p class=&quot;x&quot;&gt;escaped&lt;/p&gt;", "escaped"],
    ["a<!-- hidden -->b<style>p { color: red }</style>c", "a b c"],
    ["2 < 3, write to <jane@agency.gov>", "2 < 3, write to <jane@agency.gov>"],
    [" soft\u00adhyphen\u200b and \u00a0 blanks\r\n", "softhyphen and blanks"],
    ["e\u0301", "é"],
  ])("reads %p as %p", (text, plain) => {
    expect(plainText(text)).toBe(plain);
  });
});

describe("isSameWording()", () => {
  test("equals a comparison of the folded texts, for any two texts", () => {
    const folded = (text: string) =>
      plainText(text)
        .toUpperCase()
        .toLowerCase()
        .replace(/[\p{P}\s]+/gu, "");
    const pieces = [
      "a",
      "A",
      "b",
      "e",
      "\u0301",
      "é",
      "ß",
      "ss",
      "ﬁ",
      "fi",
      "Σ",
      "σ",
      "ς",
      "İ",
      "i",
      " ",
      "-",
      "—",
      "$",
      "&amp;",
      "<b>",
      "😀",
      "\ud800",
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((some) => some.join(""));
    let [alike, unlike] = [0, 0];
    fc.assert(
      fc.property(text, text, text, (head, one, other) => {
        const [a, b] = [head + one, head + other];
        const expected = folded(a) === folded(b);
        expected ? alike++ : unlike++;
        expect([a, b, isSameWording(a, b)]).toEqual([a, b, expected]);
      }),
      { numRuns: 20_000, seed: 20260301 },
    );
    expect(Math.min(alike, unlike)).toBeGreaterThan(500);
  });

  test.each([
    ["<p>Research &amp; Development</p>", "RESEARCH & development"],
    ["up to $5 million.", "Up to  $5 million"],
    ["“Quoted” text — with dashes", '"quoted" text - with dashes'],
  ])("is true for %p and %p", (left, right) => {
    expect(isSameWording(left, right)).toBe(true);
  });

  test.each([
    ["> 5 years", "< 5 years"],
    ["café", "cafe"],
  ])("is false for %p and %p", (left, right) => {
    expect(isSameWording(left, right)).toBe(false);
  });
});

describe("summaryOf()", () => {
  const words = "word ".repeat(200).trim();

  test("cuts after a whole word at about 500 characters", () => {
    expect(summaryOf(words)).toBe(`${"word ".repeat(100).trim()}…`);
  });

  test.each([
    ["returns a short text whole", "<p>Short</p>", "Short"],
    ["returns null for a text of markup only", "<p><br/></p>", null],
    ["returns null for null", null, null],
  ])("%s", (_, text, summary) => {
    expect(summaryOf(text)).toBe(summary);
  });

  test("is the same whether the head of a long text suffices or markup takes most of it", () => {
    expect(summaryOf(`${words} <i>more</i>`.repeat(50))).toBe(summaryOf(words));
    expect(summaryOf(words.replaceAll("word", '<span style="color: rgb(230, 0, 0)">word</span>'))).toBe(summaryOf(words));
  });
});

describe("plainParagraphs()", () => {
  test.each([
    ["• Phase I: 12 months\n• Phase II: 36 months", ["• Phase I: 12 months", "• Phase II: 36 months"]],
    ["Topics: • sensors • optics", ["Topics:", "• sensors", "• optics"]],
    ["Topics:\n  - sensors\n  - optics\nand more", ["Topics:", "- sensors", "- optics and more"]],
    ["1. Write\n2) Send\n(a) later", ["1. Write", "2) Send", "(a) later"]],
    ["<ul><li>one<li>two</ul>after", ["• one", "• two after"]],
    ["<ul><li>one</li>\n<li class='x'>• two</li></ul>", ["• one", "• two"]],
    ["co-fund - and 5 * 3\nremain one", ["co-fund - and 5 * 3 remain one"]],
    ["<p>•</p><p>two\n\nthree</p>", ["two", "three"]],
  ])("reads %j as %j", (text, paragraphs) => {
    expect(plainParagraphs(text)).toEqual(paragraphs);
  });
});
