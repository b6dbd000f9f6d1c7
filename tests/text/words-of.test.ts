/** The words of texts, which must be those that FTS5 cuts. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { CREATE_TEXTS, INSERT_TEXTS, textColumns } from "../../src/filter/texts.ts";
import { plainCharacters, wordsOf } from "../../src/text/words-of.ts";

test.each([
  ["the NSF I-Corps™ program", ["the", "nsf", "i", "corps", "program"]],
  ["ﬁeld work of 20 m² at ½ price", ["field", "work", "of", "20", "m2", "at", "1", "2", "price"]],
  ["Ångström’s naïve Čech", ["angstrom", "s", "naive", "cech"]],
  ["№ 7 in ℃ and ＦＵＬＬ width, İstanbul", ["no", "7", "in", "c", "and", "full", "width", "istanbul"]],
  ["हिन्दी, ไทย", ["हनद", "ไทย"]],
])("the words of %j are the same in the index", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
  const sqlite = new Database(":memory:");
  sqlite.run(CREATE_TEXTS);
  sqlite.run("create virtual table cut using fts5vocab (texts, row)");
  sqlite.query(INSERT_TEXTS).run(1, ...textColumns.map((column) => (column === "text" ? plainCharacters(text) : "")), "");
  const cut = sqlite.query<{ term: string }, []>("select term from cut").all();
  expect(cut.map(({ term }) => term)).toEqual([...new Set(words)].sort());
  sqlite.close();
});
