/** The rules of docs/reference/contract.md, the decisions, and the rows of tests/http/requests.tsv that code, tests and documents cite exist. */
import { describe, expect, test } from "bun:test";
import { projectFiles, readText } from "../support/project-files.ts";
import { requestRows } from "../support/request-rows.ts";

/** Returns the first cells of a page's table rows. */
const numbersIn = (page: string) => [...readText(page).matchAll(/^\| (D-\d+|\d+) \|/gm)].map(([, number = ""]) => number);

describe("docs/reference/contract.md", () => {
  const rules = numbersIn("docs/reference/contract.md");

  test("has each rule once", () => {
    expect(rules.length).toBeGreaterThan(30);
    expect(new Set(rules).size).toBe(rules.length);
  });

  test("has every rule that a file cites", () => {
    const cited = projectFiles(/\.(ts|md)$/).flatMap((path) =>
      [...readText(path).matchAll(/\bD-\d+\b/g)].map(([rule]) => ({ path, rule })),
    );
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.filter(({ rule }) => !rules.includes(rule))).toEqual([]);
  });
});

describe("docs/contributing/decisions.md", () => {
  const page = readText("docs/contributing/decisions.md");
  const entries = page.split(/\n{2,}/).filter((block) => block.startsWith("**"));
  const numbers = entries.map((entry) => /^\*\*(E-\d+) /.exec(entry)?.[1] ?? entry);

  test("gives each entry a number of its own, and each says what we do, and why", () => {
    expect(new Set(numbers).size).toBe(entries.length);
    expect(entries.filter((entry) => !/^\*\*E-\d+ [^*]+\.\*\*\s[\s\S]+\*Why:\*/.test(entry))).toEqual([]);
  });

  test("is short enough to be read at once: what explains one file stands in its comment", () => {
    expect(page.split(/\s+/).length).toBeLessThan(4_000);
  });

  test("has every entry that a file cites, and every entry is cited by a file that it concerns", () => {
    const cited = projectFiles(/\.(tsx?|sql|tsv|md)$/)
      .filter((path) => !/^(tests\/data\/|tests\/docs\/contract\.test\.ts|CHANGELOG\.md)/.test(path))
      .flatMap((path) => [...readText(path).matchAll(/(?<![\w-])E-\d+\b(?!-)/g)].map(([number]) => ({ path, number })));
    expect(cited.filter(({ number }) => !numbers.includes(number))).toEqual([]);
    const fromCode = new Set(cited.filter(({ path }) => /^(src|db|release)\//.test(path)).map(({ number }) => number));
    expect(numbers.filter((number) => !fromCode.has(number))).toEqual([]);
  });
});

describe("tests/http/requests.tsv", () => {
  const rows = requestRows().map(({ number }) => number);

  test("numbers its rows without a gap", () => {
    expect(rows.length).toBeGreaterThan(300);
    expect(rows).toEqual(rows.map((_, index) => index + 1));
  });

  test("has every row that the name or the table of a test cites", () => {
    const cited = projectFiles(/^tests\/(http\/.*|process)\.test\.ts$/).flatMap((path) => {
      const text = readText(path);
      const names = [...text.matchAll(/\btest(?:\.\w+)?\(["`](\d+(?:, \d+)*): /g)].flatMap(([, numbers = ""]) => numbers.split(", "));
      const tables = [...text.matchAll(/test\.each\(\[\n([\s\S]*?)\n {2}\]\)\("%i: /g)].flatMap(([, table = ""]) =>
        [...table.matchAll(/^ {4}\[(\d+),/gm)].map(([, number = ""]) => number),
      );
      return [...names, ...tables].map((number) => ({ path, row: Number(number) }));
    });
    expect(cited.length).toBeGreaterThan(90);
    expect(cited.filter(({ row }) => !rows.includes(row))).toEqual([]);
  });
});
