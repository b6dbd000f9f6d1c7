/**
 * Every regular expression of the rooms that read foreign text takes time in proportion to the text. One without an unbounded part does so
 * by itself; any other is listed here with the reason, and an analysis of the expression looks for parts that overlap.
 */
import { describe, expect, test } from "bun:test";
import { analyse } from "scslre";
import ts from "typescript-5";
import { projectFiles, readText } from "../support/project-files.ts";

/** Why an expression is linear on text of any length. */
const reasons = {
  last: "its only unbounded part is its last part, or all that may follow it never fails, so what it looked at, it takes",
  start: "it begins at the start of the text alone, and of its unbounded parts each ends where the next one cannot begin",
  fixed: "it begins with a fixed word or mark that its unbounded parts cannot have, so each character is looked at for one beginning",
  run: "it begins where no character of its run precedes, so each run is looked at once",
} as const;

/** An expression, or the declaration that makes one, and why it is linear; or the limit of the text that it is given. */
type Row = readonly [expression: string, why: keyof typeof reasons | { limit: string }];

const table: Readonly<Record<string, readonly Row[]>> = {
  "src/import/formats/challenge-gov.ts": [
    ["/^(.+?) [-–—]+ (.+)$/s", "start"], // With the flag s, nothing fails after the dash.
    [String.raw`/^((?:U\.?S\.? )?Department of [^,]+), (.+)$/`, "start"],
  ],
  "src/import/formats/darpa.ts": [
    [String.raw`/^(.+-\d+)-\d+$/`, "start"], // Each dash bounds the digits before and after it.
    [String.raw`/^\|\s*<a\s([^<>]*)>([^<>]*)<\/a>(.*)$/s`, "start"],
    [String.raw`/\bhref="([^"]*)"/`, "fixed"],
    [String.raw`/(?<!\s|&nbsp;)(?:\s|&nbsp;)+$/`, "run"],
  ],
  "src/import/formats/items.ts": [[String.raw`/\s+/g`, "last"]],
  "src/import/formats/dsip.ts": [[String.raw`/"(data|topics)"\s*:\s*\[/`, "fixed"]],
  "src/import/formats/grants-gov/api.ts": [
    [String.raw`/^.*?"oppHits"\s*:\s*\[/s`, "start"],
    [String.raw`/"data"\s*:\s*\{/`, "fixed"],
  ],
  "src/import/formats/grants-gov/codes.ts": [
    ["/[^a-z0-9]+/g", "last"],
    [String.raw`/[\s,;]+/`, "last"],
    ["/^[0.]*$/", "start"],
  ],
  "src/import/formats/grants-gov/contacts.ts": [
    [
      String.raw`/(?:\b|tele)phone(?: number)?[:\s]*([+(]?\d[\d().\s\u2010-\u2015-]{5,18}\d(?:\s*(?:x|ext\.?)\s*\d{1,6})?)/i`,
      "fixed", // Blanks after the digits are looked at up to 14 times.
    ],
    [
      String.raw`/((?:\+?1[-. ])?\(?\b\d{3}\)?[-. \u2010-\u2015]{0,2}\d{3}[-. \u2010-\u2015]?\d{4}\b(?:\s*(?:x|ext\.?)\s*\d{1,6})?)/i`,
      "fixed",
    ],
    [String.raw`/^(?:(?:tele)?phone(?: number)?[:\s]*)?[+(]?\d[\d().\s\u2010-\u2015-]{5,18}(?:(?:x|ext\.?)\s*\d{1,6})?$/i`, "start"],
    ["new RegExp in LABEL", { limit: "40 characters (LABEL_LENGTH_MAX)" }],
    [String.raw`/<br\s*\/?>|<\/(?:p|div|li|tr)\s*>|\r?\n/i`, "fixed"],
    [String.raw`/^[\s.,;:)]+/`, "start"],
  ],
  "src/import/formats/grants-gov/extract.ts": [
    [String.raw`/^<[^<>"']*>\s*<(?:\w+:)?OpportunityID>\s*(\d+)\s*</`, "start"],
    [String.raw`/<([^\s<>/]+)>([^<&]*)<\/\1>/g`, "fixed"],
  ],
  "src/import/formats/grants-gov/grant.ts": [
    [String.raw`/^1(\.0+)?$/`, "start"],
    [String.raw`/^0*(\d{1,20})(?:\.(\d{1,2}))?$/`, { limit: "100 characters (AMOUNT_MAX)" }],
    [String.raw`/\B(?=(\d{3})+(?!\d))/g`, { limit: "20 digits, as the expression before says" }],
    [String.raw`/\s{2,}|[^\S ]/g`, "last"],
  ],
  "src/import/formats/grants-gov/same.ts": [
    [String.raw`/\bhref\s*=\s*["']?([^"'\s>]+)/gi`, "fixed"],
    [String.raw`/[\s,;:()]+|\.(?=\s|$)/`, "last"],
  ],
  "src/import/formats/grants-gov/simpler.ts": [
    [String.raw`/"(?:opportunity_id|status_code|file_generated_at)"\s*:/`, "fixed"],
    [String.raw`/"opportunities"\s*:\s*\[/`, "fixed"],
    [String.raw`/"data"\s*:\s*\[/`, "fixed"],
    [String.raw`/^[+(]?\d[\d().\s-]{5,18}\d(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i`, "start"], // Blanks are looked at up to 14 times.
  ],
  "src/import/formats/nasa-roses.ts": [
    [String.raw`/\s+/g`, "last"],
    [String.raw`/\[(\d+)\] (.*?)(?=\[\d+\] |$)/g`, "fixed"], // The text is one line: the end of a note is found in any case.
    ["/[^a-z0-9]+/g", "last"],
    [String.raw`/^[A-Z]\.\d+[A-Z]?$/`, "start"],
    [String.raw`/\[(\d+)\]/`, "fixed"],
    [String.raw`/\bNNH[\w-]+/`, "last"],
    [String.raw`/\(([^()]*)\)/`, "fixed"],
  ],
  "src/import/formats/sam-gov-notice.ts": [
    ["/[A-Za-z0-9]+/g", "last"],
    ["/^(?=.*small business)(?=.*partial)/i", "start"],
    ["/^(?=.*small business)(?=.*total)/i", "start"],
  ],
  "src/import/readers/csv-rows.ts": [[String.raw`/^"[^"]*"([;\t])/`, "start"]],
  "src/import/formats/sam-gov-page.ts": [
    [String.raw`/"_embedded"\s*:\s*\{\s*"results"\s*:/`, "fixed"],
    [String.raw`/"data2"\s*:\s*\{/`, "fixed"],
    [String.raw`/"totalElements"\s*:\s*0\b/`, "fixed"],
    [String.raw`/\/opportunities\/(\w+)$/`, "fixed"],
    [String.raw`/^(.+)(?:Z|\+00(?::?00)?)$/`, "start"],
    [String.raw`/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d(?::?\d\d)?)$/`, "start"],
  ],
  "src/import/formats/sam-gov.ts": [
    [String.raw`/\B(?=(\d{3})+\.)/g`, { limit: "80 digits, as the next expression says" }],
    [String.raw`/^\$?([\d,]{1,80})(?:\.(\d*))?$/`, "start"],
    [String.raw`/^0+(?=\d)/`, "start"],
    [String.raw`/^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/`, "start"],
    [String.raw`/[^\p{L}\p{N}]+/gu`, "last"],
  ],
  "src/import/formats/sbir-gov.ts": [
    [String.raw`/sbir\.gov\/(\w+\/\w+)\/?$/`, "fixed"],
    [String.raw`/^https?:\/\/web\.archive\.org\/web\/\w+\//`, "start"],
  ],
  "src/import/formats/simpler-grants-gov.ts": [[String.raw`/;(?=\s*\d\d\.)/`, "fixed"]],
  "src/import/program-type.ts": [
    [String.raw`/commercial solutions? opening|^(?!.*civil society).*\bCSO\b/i`, "start"],
    [String.raw`/^(?=.*\bOTA?\b).*prototyp/is`, "start"],
    [String.raw`/^(award notice|justification\b.*|consolidate\b.*|intent to bundle\b.*)$/i`, "start"],
  ],
  "src/import/readers/json-elements.ts": [
    [String.raw`/^\s*$/`, "start"],
    ["new RegExp in constructor", "fixed"],
  ],
  "src/import/readers/xml-elements.ts": [
    ["new RegExp in START", "fixed"], // A name ends where no further character of a name follows.
    [String.raw`/<!DOCTYPE[^<>]*\[/`, "fixed"],
    [String.raw`/^\s*<\?xml\s[^>]*\sencoding\s*=\s*["']([^"']*)/`, "start"],
    ["new RegExp in endTagOf", "fixed"],
    ["new RegExp in elementOf", "fixed"],
  ],
  "src/import/recognize.ts": [
    [String.raw`/<(\w+:)?Grants[\s>]/`, "fixed"],
    [String.raw`/<title>\s*ROSES-20\d\d Table 3/i`, "fixed"],
    [String.raw`/^.*"detected_at"\s*:/`, "start"],
    [String.raw`/^.*"source": ?\{ ?"code":/`, "start"],
    [String.raw`/"(noticeId|NoticeId|opportunitiesData)"\s*:/`, "fixed"],
    [String.raw`/"(data2|maxAllowedRecords)"\s*:|"_type"\s*:\s*"opportunity"/`, "fixed"],
    [String.raw`/"(legacy_opportunity_id|file_generated_at)"\s*:/`, "fixed"],
    [String.raw`/"(oppHits|opportunityNumber|synopsis|forecast)"\s*:/`, "fixed"],
    [String.raw`/"(topicId|topicCode|topic_code|questionId)"\s*:/`, "fixed"],
    [String.raw`/"solicitation_(agency_url|topics)"\s*:/`, "fixed"],
    [String.raw`/"field_opportunity_number"\s*:/`, "fixed"],
    [String.raw`/"aaData"\s*:/`, "fixed"],
    [String.raw`/"details_url"\s*:/`, "fixed"],
    [String.raw`/^.*"?NSF\/PD Num"?,/`, "start"],
    [String.raw`/^(?=.*\bopportunity_id\b).*\bopportunity_status\b/`, "start"],
    [String.raw`/^.*\btopic_number_topiccode\b/`, "start"],
    [String.raw`/^.*\bSBIRTopicLink\b/`, "start"],
    [String.raw`/^[\w./:@%+,=-]+$/`, "start"],
  ],
  "src/import/rejects.ts": [[String.raw`/^\{"line":\d+,"reason":"(?:[^"\\]|\\.)*",/`, "start"]],
  "src/import/validate.ts": [
    ["new RegExp in readerOf", { limit: "the length that the schema has beside the pattern, for amounts" }],
    [String.raw`/\[\d+\]/g`, "fixed"],
  ],
  "src/import/versions/threads.ts": [[String.raw`/[\p{L}\p{N}]+/gu`, "last"]],
  "src/pull/download.ts": [[String.raw`/^bytes (\d+)-\d+\/(\d+)$/`, "start"]],
  "src/pull/pull.ts": [["new RegExp in own", "start"]],
  "src/pull/sam-gov.ts": [[String.raw`/^(\d+)-(\d+)-(\d+)$/`, "start"]],
  "src/pull/sbir-gov.ts": [
    ["new RegExp in before", "fixed"],
    [String.raw`/name="form_build_id"\s+value="([\w-]+)"/g`, "fixed"],
  ],
  "src/text/closest.ts": [[String.raw`/\[.*/s`, "last"]],
  "src/text/csv.ts": [
    [String.raw`/^[\s\x00-\x1f]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/`, "start"],
    [String.raw`/^-?\d+(\.\d+)?$/`, "start"],
  ],
  "src/text/decimal.ts": [
    [String.raw`/^(-?)(\d+)(?:\.(\d+))?$/`, "start"],
    [String.raw`/\d+(?:,\d{3})*(?:\.\d+)?/g`, "last"],
    [String.raw`/^0+(?=\d)/`, "start"],
    ["/(?<!0)0+$/", "run"],
  ],
  "src/text/instant.ts": [[String.raw`/^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/`, "start"]],
  "src/text/plain-text.ts": [
    [String.raw`/<\/(?:p|div|li|h\d|tr)\s*>|<br\s*\/?>|\n\s*\n/i`, "fixed"], // Blank lines end at the last line feed of a run.
    ["/^(?:[•‣▪●◦■]\\s?|[*·–—-]\\s)(.*)$/s", "start"],
    [String.raw`/^\s*<li[\s/>]/i`, "start"],
    [String.raw`/[\p{P}\s]+/gu`, "last"],
    [String.raw`/<!--[\s\S]*?(?:-->|$)|<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi`, "last"], // Takes the whole rest if nothing ends it.
    [String.raw`/<\/?(?:a|abbr|b|big|del|em|font|i|ins|mark|o:p|s|small|span|strong|sub|sup|u|wbr)(?=[\s/>])[^<>]*>/gi`, "fixed"],
    [String.raw`/<[/!?]?[a-z][a-z0-9:-]*(?=[\s/>])[^<>]*>/gi`, "fixed"],
    [String.raw`/[\u00ad\u200b\u2060\ufeff]+/g`, "last"],
    [String.raw`/\s{2,}|[^\S ]/g`, "last"],
  ],
  "src/text/request-failure.ts": [
    [String.raw`/^([^:]+:\/\/)[^/?#]*@/`, "start"],
    [String.raw`/^([^:]+:\/\/).*@/s`, "start"],
    ["/[?#].*/s", "last"],
    [String.raw`/^(ENOTFOUND|EAI_\w+)$/`, "start"],
  ],
  "src/text/source-code.ts": [["/[a-z]+/g", "last"]],
  "src/text/words-of.ts": [
    [String.raw`/\p{M}+/gu`, "last"],
    [String.raw`/[\p{L}\p{N}\p{Co}]+/gu`, "last"],
    ["/^[a-z]{3,}$/", "start"],
  ],
};

const files = projectFiles(/^src\/(import|text|pull)\/.*\.ts$/);

/** Each expression of a file once: literals as they are written, others as `new RegExp in` what they are declared in. */
function expressionsOf(path: string): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node, owner: string): void => {
    const name = ts.isConstructorDeclaration(node) ? "constructor" : (node as { name?: ts.Node }).name?.getText(source);
    const inner = ts.isVariableDeclaration(node) || ts.isFunctionLike(node) ? (name ?? owner) : owner;
    if (ts.isRegularExpressionLiteral(node)) found.add(node.text);
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(source) === "RegExp")
      found.add(`new RegExp in ${inner}`);
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  const source = ts.createSourceFile(path, readText(path), ts.ScriptTarget.Latest, true);
  visit(source, "");
  return [...found];
}

function partsOf(literal: string): { source: string; flags: string } {
  const end = literal.lastIndexOf("/");
  return { source: literal.slice(1, end), flags: literal.slice(end + 1) };
}

function isBounded(expression: string): boolean {
  if (!expression.startsWith("/")) return false;
  const { source } = partsOf(expression);
  return !/[*+]|\{\d+,\}/.test(source.replace(/\\./g, "e").replace(/\[[^\]]*\]/g, "c"));
}

describe.each(files.map((path) => [path, expressionsOf(path)] as const).filter(([, found]) => found.length > 0))("%s", (path, found) => {
  const rows = table[path] ?? [];

  test("has no expression with an unbounded part that the table does not have, and none less", () => {
    expect(rows.map(([expression]) => expression).sort()).toEqual(found.filter((each) => !isBounded(each)).sort());
  });

  test("has no expression with parts that overlap, but on short text", () => {
    const limited = new Set(rows.filter(([, why]) => typeof why === "object").map(([expression]) => expression));
    const literals = found.filter((each) => each.startsWith("/") && !limited.has(each));
    const faults = literals.filter((each) => analyse(partsOf(each), { assumeRejectingSuffix: false }).reports.length > 0);
    expect(faults).toEqual([]);
  });
});

test("every file of the table is there", () => {
  expect(Object.keys(table).filter((path) => !files.includes(path))).toEqual([]);
});
