/** What a mistyped word probably stands for. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { nearestWord, WORD_TABLES } from "../../src/search/vocabulary.ts";

const sqlite = new Database(":memory:", { strict: true });
sqlite.run(WORD_TABLES);
const known = { battery: 90, batters: 4, buttery: 2, photovoltaic: 12, semiconductor: 40, ocean: 5, quantum: 70, quantums: 1 };
for (const [word, records] of Object.entries(known)) sqlite.query("insert into words values (?, ?, ?)").run(word, word, records);

test.each([
  ["batery", "battery"], // A letter left out.
  ["batttery", "battery"], // One too many.
  ["bettery", "battery"], // Another one.
  ["abttery", "battery"], // Two swapped, at the beginning.
  ["vattery", "battery"], // The first letter.
  ["photovltiac", "photovoltaic"], // Two mistakes in a long word.
  ["semicondutor", "semiconductor"],
  ["acean", "ocean"],
])("%s: %s", (typed, meant) => {
  expect(nearestWord(sqlite, typed)).toBe(meant);
});

test.each(["zzzzzz", "oxxan", "quantixyz", "photoxxxtaic"])("%s is near nothing", (typed) => {
  expect(nearestWord(sqlite, typed)).toBeUndefined();
});

test("a word of fewer than three records may be mistyped itself", () => {
  expect(nearestWord(sqlite, "buttory")).toBeUndefined();
});
