/** The names and places in docs/contributing/words.md exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const places = ["src", "db", "clients", "tests/support", "bench"];
const namesIn = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

/** The rows of the tables that say where a word lives. */
const rows = readFileSync(join(root, "docs/contributing/words.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").slice(1, -1))
  .filter((cells) => cells.length === 4);

const files = places
  .flatMap((place) => [...new Bun.Glob(`${place}/**/*.{ts,tsx}`).scanSync(root)])
  .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(root, path), "utf8") }));
const code = files.map(({ text }) => text).join("\n");
const wordsOf = (text: string) => text.match(/\w+(-\w+)*/g) ?? [];
const known = new Set(wordsOf(code));

test("docs/contributing/words.md: every name is in the code, and every place exists", () => {
  expect(rows.length).toBeGreaterThan(30);
  for (const [word, , names, where] of rows) {
    const absent = namesIn(names).filter((name) => !wordsOf(name).every((part) => known.has(part)));
    const missing = namesIn(where).filter((path) => !existsSync(join(root, path)));
    expect([word, absent, missing]).toEqual([word, [], []]);
  }
});

/** The files that export each name. */
const homes = new Map<string, string[]>();
for (const { path, text } of files)
  for (const [, name = ""] of text.matchAll(/^export (?:async )?(?:const|function|class|type|interface) (\w+)/gm))
    homes.set(name, [...(homes.get(name) ?? []), path]);

test("docs/contributing/words.md: every exported name is exported where its row says", () => {
  const astray = rows.flatMap(([, , names, where]) =>
    namesIn(names).filter((name) => {
      const found = homes.get(name);
      return found !== undefined && !namesIn(where).some((place) => found.some((path) => path === place || path.startsWith(`${place}/`)));
    }),
  );
  expect(astray.map((name) => `${name} is in ${homes.get(name)}`)).toEqual([]);
});

/** Words of the table's first column, without their formatting. */
const terms = (cell = "") => cell.split(",").map((each) => each.replaceAll("`", "").trim().toLowerCase());
const repeated = (all: readonly string[]) => all.filter((each, index) => all.indexOf(each) !== index);

test("docs/contributing/words.md: no word is defined twice, and no name is claimed by two rows", () => {
  const defined = rows.filter(([, , , where]) => !/^ (Where|---) /.test(where ?? ""));
  expect(repeated(defined.flatMap(([word]) => terms(word)).filter((word) => !/^(word|-+)$/.test(word)))).toEqual([]);
  expect(repeated(defined.flatMap(([, , names]) => namesIn(names)))).toEqual([]);
});
