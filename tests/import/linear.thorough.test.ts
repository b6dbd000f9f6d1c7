/** Texts of upstreams are read in time that grows with their length, also where they are made to be slow. */
import { afterAll, describe, test } from "bun:test";
import { darpa } from "../../src/import/formats/darpa.ts";
import { dsip } from "../../src/import/formats/dsip.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { draftOfGrant, emptyGrant, type Grant } from "../../src/import/formats/grants-gov/grant.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { programType } from "../../src/import/program-type.ts";
import { csvRows } from "../../src/import/readers/csv-rows.ts";
import { jsonElements } from "../../src/import/readers/json-elements.ts";
import { xmlElements } from "../../src/import/readers/xml-elements.ts";
import { recognize } from "../../src/import/recognize.ts";
import { closest } from "../../src/text/closest.ts";
import { easternInstant } from "../../src/text/eastern.ts";
import { parseInstant } from "../../src/text/instant.ts";
import { isSameWording, plainText, summaryOf } from "../../src/text/plain-text.ts";
import { aCatalog, dropScratch } from "../support/imports.ts";
import { expectLinear } from "../support/linear.ts";
import { pieces, readFormat, textInput } from "../support/read-format.ts";

afterAll(dropScratch);

/** So many characters of a pattern that repeats. */
const repeated = (pattern: string) => (size: number) => pattern.repeat(Math.ceil(size / pattern.length)).slice(0, size);

const context = { now: 0, warn: () => undefined, incomplete: () => undefined, neverHas: () => undefined };
const grant = (fields: Partial<Grant>) => draftOfGrant({ ...emptyGrant, source: "S", id: "1", status: "posted", ...fields }, context);
const contact = (text: string) => ({ name: "", email: "", phone: "", text });

const SIZE = 20_000;

describe("in time proportional to the text:", () => {
  test.each<[string, number, (size: number) => string, (text: string) => unknown]>([
    ["plain text of a letter with many marks", SIZE, (size) => `a${repeated("\u0301\u0316")(size)}`, plainText],
    ["plain text that opens tags", SIZE, repeated("<a "), plainText],
    ["plain text that opens comments", SIZE, repeated("<!--"), plainText],
    ["plain text that opens scripts", SIZE, repeated("<script></script "), plainText],
    ["plain text of ampersands", SIZE, repeated("&amp;"), plainText],
    ["a summary of marks", SIZE, repeated("\u0301\u0316"), summaryOf],
    ["two texts that differ at their end", SIZE, repeated("\u0301\u0316é-"), (text) => isSameWording(text, `${text}!`)],
    ["a contact without @", SIZE, repeated("a"), (text) => grant({ contact: contact(text) })],
    [
      "a contact with dots behind its @",
      SIZE,
      (size) => `${"a".repeat(size / 2)}@${"1.".repeat(size / 4)}`,
      (text) => grant({ contact: contact(text) }),
    ],
    ["a contact of many @", SIZE, repeated("a@"), (text) => grant({ contact: contact(text) })],
    [
      "a contact of many addresses",
      SIZE,
      repeated("a@b.gov 555-123-4567<br>"),
      (text) => grant({ contact: { ...contact(text), email: text } }),
    ],
    ["a contact of labels", SIZE, repeated("email: "), (text) => grant({ contact: contact(`${text}a@b.gov`) })],
    ["a contact of telephones", SIZE, repeated("phone::::"), (text) => grant({ contact: contact(text) })],
    ["a contact of digits", SIZE, repeated("123-"), (text) => grant({ contact: contact(text) })],
    ["an amount of digits", SIZE, repeated("9"), (text) => grant({ awardCeiling: text, totalFunding: text, expectedAwards: text })],
    ["an amount of zeros", SIZE, (size) => `${"0".repeat(size)}x`, (text) => grant({ awardCeiling: text })],
    ["a title of blanks", SIZE, (size) => `a${" ".repeat(size)}b`, (text) => grant({ title: text })],
    ["a title of other transactions", SIZE, repeated("OT "), (title) => programType({ title })],
    ["a title of prototypes", SIZE, repeated("prototyp "), (title) => programType({ title })],
    ["a title of a civil society", SIZE, repeated("CSO civil society "), (title) => programType({ title })],
    ["a name with many brackets", SIZE, (size) => `${"[".repeat(size)}\n`, (name) => closest(name, ["title"])],
    ["the head of a text that opens tags", SIZE, repeated("<"), summaryOf],
    ["a head of many columns", 16_000, repeated("opportunity_id,"), (head) => recognize(textInput(head))],
    ["a fraction of zeros", SIZE, (size) => `2026-01-01T00:00:00.${"0".repeat(size)}1Z`, parseInstant],
    ["an eastern time with a long fraction", SIZE, (size) => `00:00:00.${"0".repeat(size)}1`, (time) => easternInstant("2026-01-01", time)],
  ])("%s", async (_, size, textOf, read) => {
    await expectLinear(size, (length) => read(textOf(length)));
  });

  test.each<[string, string]>([
    ["digits", "9"],
    ["commas", ","],
    ["zeros", "0"],
  ])("an award at SAM.gov of %s", async (_, digit) => {
    await expectLinear(SIZE, (size) => {
      const notice = { noticeId: "1", title: "T", award: { amount: `${digit.repeat(size)}` } };
      return readFormat(samGov, [textInput(JSON.stringify({ opportunitiesData: [notice] }))]);
    });
  });

  test.each(["<a<", "<style", "&#", "</", "\u00a0 ", "<!-- -- "])("two texts of many %p that differ at their end", async (piece) => {
    await expectLinear(SIZE, (size) => isSameWording(repeated(piece)(size), `${repeated(piece)(size)}é`));
  });

  test.each(["keywords", "technologyAreas", "focusAreas"])("%s of the portal that are blank", async (field) => {
    await expectLinear(SIZE, (size) => {
      const topic = { topicId: "1", topicCode: "A", objective: "", [field]: `a${" ".repeat(size)}b` };
      return readFormat(dsip, [textInput(JSON.stringify([topic]))]);
    });
  });

  test.each(["&nbsp;", " ", "\u00a0"])("a text of DARPA with many of %p before its link", async (blank) => {
    await expectLinear(SIZE, (size) => {
      const text = `${repeated(blank)(size)}x | <a href="/research">See Program</a>`;
      const row = { nid: "1", title: "T", field_body_with_summary: text };
      return readFormat(darpa, [textInput(JSON.stringify([row]))]);
    });
  });

  test("a link of DARPA with many addresses", async () => {
    await expectLinear(3 * SIZE, (size) => {
      const row = { nid: "1", title: "T", field_body_with_summary: `Text | <a ${repeated('href="x" ')(size)}` };
      return readFormat(darpa, [textInput(JSON.stringify([row]))]);
    });
  });

  test("a contact of a forecast at Simpler.Grants.gov with many lines", async () => {
    await expectLinear(SIZE, (size) => {
      const summary = { is_forecast: true, agency_contact_description: `a${"\n".repeat(size)}b` };
      const opportunity = { opportunity_id: "1", legacy_opportunity_id: 1, opportunity_status: "forecasted", summary };
      return readFormat(grantsGov, [textInput(JSON.stringify({ data: opportunity }))]);
    });
  });

  test("an import of notices of one number with unlike titles", async () => {
    const letters = (n: number) => n.toString(26).replace(/\d/g, (digit) => "qrstuvwxyz"[Number(digit)] ?? "");
    await expectLinear(1000, async (count) => {
      const notices = Array.from({ length: count }, (_, n) => ({
        noticeId: `${n}`.padStart(32, "0"),
        title: `${letters(5000 + n)} ${letters(9000 + n)}`,
        solicitationNumber: "PLACEHOLDER",
        postedDate: "2026-01-02",
        type: "Solicitation",
      }));
      await (await aCatalog()).take(JSON.stringify({ opportunitiesData: notices }), { format: samGov });
    });
  });

  test("questions of one topic of the portal", async () => {
    await expectLinear(3000, (count) => {
      const topic = textInput(JSON.stringify({ total: 1, data: [{ topicId: "1", topicCode: "A254-1" }] }));
      const questions = textInput(JSON.stringify(Array.from({ length: count }, (_, questionId) => ({ questionId }))));
      return readFormat(dsip, [topic, textInput('{"topicId":"1"}'), questions]);
    });
  });

  test.each<[string, number, (size: number) => string]>([
    ["> in one attribute", 20_000, (size) => `<a b="${">".repeat(size)}"/>`],
    ["characters of a name that does not end", 20_000, (size) => `<a><${"b".repeat(size)}`],
    ["> in a tag that does not end", 20_000, (size) => `<a b="${">".repeat(size)}`],
    ["tags in attributes that do not end", 40_000, (size) => '<a "'.repeat(size / 4)],
    ["comments that do not end", 40_000, (size) => "<!--".repeat(size / 4)],
    ["elements", 80_000, (size) => "<a>x</a>".repeat(size / 8)],
    ["attributes", 50_000, (size) => `<a ${Array.from({ length: size / 8 }, (_, n) => `b${n}=">"`).join(" ")}/>`],
    ["blanks in a tag", 100_000, (size) => `<a ${" ".repeat(size)}!/>`],
    ["a comment", 240_000, (size) => `<a><!--${"-> ".repeat(size / 3)}--></a>`],
    ["a CDATA section", 240_000, (size) => `<a><![CDATA[${"]> ".repeat(size / 3)}]]></a>`],
    ["a text without tags", 240_000, (size) => `<a>${"x> ".repeat(size / 3)}</a>`],
    ["ampersands", 100_000, (size) => `<a>${"&".repeat(size)}</a>`],
    ["a source text that is kept", 400_000, (size) => `<a>${"<b>x</b>".repeat(size / 8)}</a>`],
    ["nested elements", 100_000, (size) => "<a>".repeat(size / 3)],
  ])("XML with many: %s", async (_, most, document) => {
    await expectLinear(most, async (size) => {
      try {
        for await (const _element of xmlElements(pieces(`<r>${document(size)}</r>`, 100), "r"));
      } catch {} // Where it stops being XML.
    });
  });

  test.each<[string, number, (size: number) => string]>([
    ["brackets around the array", 200_000, (size) => `{${'"x":{},'.repeat(size / 7)}}`],
    ["brackets in an element", 400_000, (size) => `{"data":[${"[".repeat(size)}${"]".repeat(size)}]}`],
    ["elements that are not JSON", 400_000, (size) => `{"data":[${"tru,".repeat(size / 4)}1]}`],
    ["backslashes", 400_000, (size) => `{"data":["${"\\".repeat(size)}"]}`],
  ])("JSON with many: %s", async (_, most, document) => {
    await expectLinear(most, async (size) => {
      try {
        for await (const _element of jsonElements(pieces(document(size), 8192), "data"));
      } catch {} // Where it has no such array.
    });
  });

  const rowsOf = (text: string, piece: number) => Array.fromAsync(csvRows(pieces(text, piece), []));

  test("a CSV header of many columns", async () => {
    await expectLinear(50_000, (size) => rowsOf(`${Array.from({ length: size / 5 }, (_, n) => n).join(",")}\n`, 100_000));
  });

  test.each<[string, number, (size: number) => string]>([
    ["quoted", 800_000, (size) => `"${"x,\n".repeat(size / 3)}"`],
    ["unquoted", 50_000, (size) => Array.from({ length: size / 6 }, (_, n) => n).join(",")],
  ])("a %s CSV row that comes in small pieces", async (_, most, row) => {
    await expectLinear(most, (size) => rowsOf(row(size), 500));
  });
});
