/** How a question of a person is read. */
import { describe, expect, test } from "bun:test";
import { readQuestion, withoutPhrases } from "../../src/search/question.ts";
import type { Vocabulary } from "../../src/search/vocabulary.ts";
import { stemOf } from "../../src/text/words-of.ts";

const known = ["battery", "batteries", "wildfire", "wildfires", "smoke", "health", "quantum", "quantify", "sonar", "the", "for"];
const vocabulary: Vocabulary = {
  withStem: (stem) => known.filter((word) => stemOf(word) === stem).map((word) => ({ word, records: 1 })),
  startingWith: (beginning) => known.filter((word) => word.startsWith(beginning)).map((word) => ({ word, records: 1 })),
  recordsOf: (agency) => (["HHS.NIH", "DOD.USAF", "DHS.ICE", "DOD.USAF.AFMC.AFRL", "DOE", "NSF"].includes(agency) ? 1 : 0),
  nearest: (word) => (word === "batery" ? "battery" : undefined),
};
const read = (text: string, options = {}) => readQuestion(text, vocabulary, options);
const askedIn = (text: string) => read(text).groups.map(({ asked }) => asked);
const requiredIn = (text: string) => read(text).groups.flatMap(({ asked, isRequired }) => (isRequired ? [asked] : []));

describe("readQuestion()", () => {
  test("a word stands for all words of its stem, and the word itself counts most", () => {
    expect(read("batteries").groups).toEqual([
      {
        asked: "batteries",
        stem: "batteri",
        isRequired: false,
        times: 1,
        spellings: [
          { word: "battery", weight: 0.9 },
          { word: "batteries", weight: 1 },
        ],
      },
    ]);
  });

  test.each([
    ["NIH health", ["NIH = HHS.NIH"]],
    ["nih health", ["nih = HHS.NIH"]],
    ["smoke at the Air Force", ["Air Force = DOD.USAF"]],
    ["+NSF smoke", ["NSF = NSF"]],
    ["department of energy and NSF", ["department of energy = DOE", "NSF = NSF"]],
    ["ICE health", ["ICE = DHS.ICE"]],
    ["sea ice", []],
    ["SEA ICE SMOKE", []],
    ["energy", []],
    ["state education", []],
    ["a research lab", []],
    ["EPA smoke", []], // It has no records.
    ['"air force" -NIH', []],
    ['air "smoke" force', []],
  ])("%p means the agencies %j", (text, expected) => {
    expect(read(text).agencies.map(({ asked, code }) => `${asked} = ${code}`)).toEqual(expected);
    const words = expected.flatMap((each) => each.toLowerCase().split(" = ")[0]?.split(" ") ?? []).filter((word) => word !== "of");
    expect(read(text).groups.flatMap(({ asked, agency }) => (agency === undefined ? [] : [asked]))).toEqual(words);
    expect(read(text, { allWords: true }).agencies).toEqual([]);
  });

  test("two words of one stem are one group, which counts twice", () => {
    expect(read("battery batteries").groups.map(({ asked, times }) => [asked, times])).toEqual([["battery", 2]]);
  });

  test("stop words are dropped, unless there is nothing else", () => {
    expect(askedIn("what about the smoke for health")).toEqual(["smoke", "health"]);
    expect(askedIn("the")).toEqual(["the"]);
    expect(requiredIn("+the smoke")).toEqual(["the"]);
  });

  test.each([
    ["sonar smoke", []],
    ["+sonar smoke", ["sonar"]],
    ["sonar AND smoke health", ["sonar", "smoke"]],
    ["sonar OR smoke", []],
    ['sonar "smoke"', ["smoke"]],
    ["sonar and smoke", []],
  ])("of %p, %j must occur", (text, expected) => {
    expect(requiredIn(text).sort()).toEqual([...expected].sort());
  });

  test("a phrase must occur as it is, and its words count", () => {
    const { phrases, groups } = read("health “wildfire smoke”");
    expect(phrases).toEqual([["wildfire", "smoke"]]);
    expect(groups.map(({ asked, spellings }) => [asked, spellings.length])).toEqual([
      ["health", 1],
      ["wildfire", 1],
      ["smoke", 1],
    ]);
  });

  test("a word or a phrase after a minus must not occur", () => {
    const { excluded, groups } = read('sonar -smoke -"wildfire smoke" well-known');
    expect(excluded).toEqual([["smoke"], ["wildfire", "smoke"]]);
    expect(groups.map(({ asked }) => asked)).toEqual(["sonar", "well", "known"]);
  });

  test("a word with * stands for all words that begin so", () => {
    expect(read("quant*").groups[0]?.spellings.map(({ word }) => word)).toEqual(["quantum", "quantify"]);
  });

  test("a word that no record has becomes the nearest one, and the answer says so", () => {
    const { groups, corrections } = read("batery sonar");
    expect(corrections).toEqual([{ asked: "batery", instead: "battery" }]);
    expect(groups[0]?.spellings).toEqual([
      { word: "battery", weight: 0.8 },
      { word: "batteries", weight: 0.8 },
    ]);
    expect(read("xyz1234 zzz").corrections).toEqual([]);
  });

  test("exactly: every word is required as it is", () => {
    expect(
      read("the batteries", { allWords: true }).groups.map(({ asked, isRequired, spellings }) => [asked, isRequired, spellings.length]),
    ).toEqual([
      ["the", true, 1],
      ["batteries", true, 1],
    ]);
  });

  test("any text is a question", () => {
    for (const text of ["", "-", '"', "***", '-"', "AND", "OR OR", "+", "“”", "\u0000", "a".repeat(5000), "AND AND sonar", '""'])
      expect(() => read(text)).not.toThrow();
  });
});

test("withoutPhrases() leaves the words of phrases, but not of excluded ones", () => {
  expect(withoutPhrases('"wildfire smoke" health -"sonar smoke"')).toBe('wildfire smoke health -"sonar smoke"');
});
