import { describe, expect, test } from "bun:test";
import { comparable, decodeEntities, plainText, summaryOf } from "../src/plain-text.ts";
import { processorMs } from "./support/processor-time.ts";

describe("decodeEntities()", () => {
  test.each([
    ["AI &amp; Digital", "AI & Digital"],
    ["&amp;amp;lt;b&amp;gt;", "<b>"],
    ["it&#8217;s &#x2019; &#x92;", "it’s ’ ’"],
    ["&nbsp;&yuml;&omega;&bull;&apos;", "\u00a0ÿω•'"],
    ["R&D; &unknown; &#0; &#xD800; &", "R&D; &unknown; &#0; &#xD800; &"],
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

  test.each(["<!--", "<a<", "<style", "<a ", "&amp;", "&#", "</", "\u00a0 ", "<!-- -- "])(
    "takes its time in proportion to a text of a million characters made of %p",
    async (piece) => {
      const text = piece.repeat(1_000_000 / piece.length);
      expect(await processorMs(() => comparable(text))).toBeLessThan(4000);
    },
  );
});

describe("comparable()", () => {
  test.each([
    ["<p>Research &amp; Development</p>", "RESEARCH & development"],
    ["up to $5 million.", "Up to  $5 million"],
    ["“Quoted” text — with dashes", '"quoted" text - with dashes'],
  ])("takes %p and %p for the same", (left, right) => {
    expect(comparable(left)).toBe(comparable(right));
  });

  test.each([
    ["> 5 years", "< 5 years"],
    ["café", "cafe"],
  ])("tells %p and %p apart", (left, right) => {
    expect(comparable(left)).not.toBe(comparable(right));
  });
});

describe("summaryOf()", () => {
  const words = "word ".repeat(200).trim();

  test("ends with a whole word after some 500 characters", () => {
    expect(summaryOf(words)).toBe(`${"word ".repeat(100).trim()}…`);
  });

  test.each([
    ["is the text itself when that is short", "<p>Short</p>", "Short"],
    ["is null for nothing but mark-up", "<p><br/></p>", null],
    ["is null for nothing", null, null],
  ])("%s", (_, text, summary) => {
    expect(summaryOf(text)).toBe(summary);
  });

  test("is the same whether a long text's head was enough or mark-up takes most of it", () => {
    expect(summaryOf(`${words} <i>more</i>`.repeat(50))).toBe(summaryOf(words));
    expect(summaryOf(words.replaceAll("word", '<span style="color: rgb(230, 0, 0)">word</span>'))).toBe(summaryOf(words));
  });
});
