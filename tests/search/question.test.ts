/** How the words of a question are looked up. */
import { expect, test } from "bun:test";
import { spellQuestion } from "../../src/search/question.ts";
import type { Vocabulary } from "../../src/search/vocabulary.ts";
import { stemOf } from "../../src/text/words-of.ts";

const records: Readonly<Record<string, number>> = {
  battery: 900,
  batteries: 100,
  batery: 3,
  batters: 40,
  sonar: 100,
  sonara: 6,
  quantum: 40,
  quantify: 1,
  quantun: 3,
  drone: 30,
  uas: 20,
  unmanned: 9,
  aircraft: 60,
  machine: 40,
  learning: 50,
  ai: 70,
  als: 8,
  al: 300,
  janitorial: 40,
  custodial: 30,
  custody: 10,
  semiconducting: 10,
  semiconductor: 60,
  coral: 2,
  port: 90,
  oral: 300,
  ramp: 10,
  amps: 400,
};
const known = Object.entries(records).map(([word, records]) => ({ word, records }));
const near: Readonly<Record<string, string>> = {
  batery: "battery",
  batters: "battery",
  sonara: "sonar",
  quantun: "quantum",
  baterry: "battery",
  dronne: "drone",
  semiconducter: "semiconductor",
  semiconducted: "semiconductor",
  coral: "oral",
  porta: "port",
  ramps: "amps",
};
const vocabulary: Vocabulary = {
  withStem: (stem) => known.filter(({ word }) => stemOf(word) === stem),
  records: (word) => records[word] ?? 0,
  startingWith: (beginning) => known.filter(({ word }) => word.startsWith(beginning)),
  recordsOf: (agency) => (agency === "HHS.NIH" ? 1 : 0),
  nearest: (word) => near[word],
};
const spell = (text: string) => spellQuestion(text, vocabulary);

test("a word stands for all words of its stem, and the word itself counts most", () => {
  expect(spell("batteries").groups[0]?.spellings).toEqual([
    { word: "batteries", weight: 1 },
    { word: "battery", weight: 0.9 },
  ]);
});

test("a word with * stands for all words that begin so", () => {
  expect(spell("quanti* quantu*").groups.map(({ spellings }) => spellings.map(({ word }) => word))).toEqual([
    ["quantify"],
    ["quantum", "quantun"],
  ]);
});

test.each([
  ["baterry", [{ asked: "baterry", also: "battery", records: 0 }]],
  ["batery", [{ asked: "batery", also: "battery", records: 3 }]],
  ["sonara", []], // Six records have it.
  ["batters", []], // Forty records have it, and 25 times as many the other one.
  ["quantun", []], // The other one has only fourteen times as many.
  ["+batery", []],
  ['"batery"', []],
  ["xyz1234 zzz", []],
])("for %p what was probably meant is looked for, too, if that is clear: %j", (text, expected) => {
  const { corrections, groups } = spell(text);
  expect(corrections).toEqual(expected);
  expect(groups[0]?.spellings.map(({ word }) => word)).not.toContain("battery");
  expect(groups[0]?.near.flatMap(({ spellings }) => spellings.map(({ weight }) => weight))).toEqual(
    expected.length === 0 ? [] : [0.8, 0.8],
  );
});

test("a word that no record has is corrected although its stem is known, and a rare word only if it begins alike", () => {
  expect(spell("semiconducter").corrections).toEqual([{ asked: "semiconducter", also: "semiconductor", records: 0 }]);
  expect(spell("semiconducting semiconducted coral").corrections).toEqual([]);
});

test("the plural of a word that records have is no mistake", () => {
  expect(spell("ramps").corrections).toEqual([]);
});

test("at most twelve other names are looked for", () => {
  const knowing: Vocabulary = { ...vocabulary, records: () => 9, withStem: (stem) => [{ word: stem, records: 9 }] };
  const also = (text: string) => spellQuestion(text, knowing).synonyms.flatMap(({ also }) => also).length;
  expect(also("prison")).toBeGreaterThan(1);
  expect(also("prison jail elderly cancer drone trash boat veteran child refugee fence dog")).toBe(12);
});

test("other names of common words are left out if they would read too many records, the most frequent ones first", () => {
  const also = (ofPower: number) => {
    const frequent = (word: string) => (word === "power" ? ofPower : 100_000);
    const knowing: Vocabulary = { ...vocabulary, records: frequent, withStem: (stem) => [{ word: stem, records: frequent(stem) }] };
    return spellQuestion("windmill", knowing).synonyms.flatMap((each) => each.also);
  };
  expect(also(100_000)).toEqual(["wind power", "offshore wind"]);
  expect(also(900_000)).toEqual(["offshore wind"]);
});

test("the word of a known name is no mistake", () => {
  expect(spell("porta").corrections).toEqual([{ asked: "porta", also: "port", records: 0 }]);
  expect(spell("porta potty").corrections).toEqual([]);
});

test("other names are known of the word that was meant", () => {
  expect(spell("dronnes").corrections).toEqual([]);
  expect(spell("dronne").synonyms).toEqual([{ asked: "dronne", also: ["UAS", "unmanned aircraft"] }]);
});

test("agencies are told that have records", () => {
  expect(spell("NIH EPA sonar").agencies).toEqual([{ asked: "NIH", code: "HHS.NIH" }]);
});

test("other names of a subject are looked for at a lower weight, as far as records have their words", () => {
  const { groups, synonyms } = spell("drones sonar");
  expect(synonyms).toEqual([{ asked: "drones", also: ["UAS", "unmanned aircraft"] }]);
  expect(groups.map(({ near }) => near.map(({ spellings, phrases }) => ({ spellings, phrases })))).toEqual([
    [
      { spellings: [{ word: "uas", weight: 0.6 }], phrases: [] },
      { spellings: [], phrases: [["unmanned", "aircraft"]] },
    ],
    [],
  ]);
  expect(groups[0]?.spellings.map(({ word }) => word)).toEqual(["drones", "drone"]);
});

test("another name is looked for in singular and plural, not as other words of its stem", () => {
  const words = (text: string) =>
    spell(text).groups.flatMap(({ near }) => near.flatMap(({ spellings }) => spellings.map(({ word }) => word)));
  expect(words("amyotrophic lateral sclerosis")).toEqual(["als", "als", "als"]);
  expect(words("energy storage").slice(0, 2)).toEqual(["battery", "batteries"]);
  expect(words("janitorial")).toEqual(["custodial"]);
  const [custodial] = spell("janitorial").groups[0]?.near ?? [];
  expect(custodial?.stem).toBeUndefined(); // The rows of the stem are those of "custody", too.
});

test("another name stands for all words of the one that was asked", () => {
  const { groups } = spell("machine learning sonar");
  const [machine, learning, sonar] = groups.map(({ near }) => near);
  expect(machine?.map(({ spellings }) => spellings.map(({ word }) => word))).toEqual([["ai"]]);
  expect(learning?.[0]).toBe(machine?.[0] as never);
  expect(sonar).toEqual([]);
});
