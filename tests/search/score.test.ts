/** The order of records whose texts are compared with a question. */
import { expect, test } from "bun:test";
import type { SpelledGroup } from "../../src/search/question.ts";
import { scorerOf } from "../../src/search/score.ts";
import { wordsOf } from "../../src/text/words-of.ts";

const group = (word: string): SpelledGroup => ({
  asked: word,
  terms: [],
  agencies: [],
  numbers: [],
  isDemanded: false,
  times: 1,
  spellings: [{ word, weight: 1 }],
  phrases: [],
  near: [],
});
const question = (...words: string[]) => ({ groups: words.map(group) });
const texts = ({ number = "", title = "", agency = "", keywords = "", text = "" }) => [number, title, agency, "", keywords, text];
const better = (asked: { groups: SpelledGroup[] }, one: string[], other: string[]) => {
  const score = scorerOf(
    asked,
    asked.groups.map(() => 1),
  );
  expect(score(one).score).toBeGreaterThan(score(other).score);
};

test("more words of the question are better than the same one again", () => {
  better(question("wildfire", "smoke"), texts({ text: "wildfire and smoke" }), texts({ text: "wildfire wildfire wildfire" }));
});

test("a word in the title is better than one in the text, and a shorter text than a longer one", () => {
  better(question("smoke"), texts({ title: "Smoke" }), texts({ text: "Smoke" }));
  better(question("smoke"), texts({ text: "Smoke" }), texts({ text: `Smoke ${"filler ".repeat(300)}` }));
});

test("neighbors are better than words that are apart", () => {
  better(question("wildfire", "smoke"), texts({ text: "wildfire smoke of fires" }), texts({ text: "smoke of fires, wildfire" }));
  better(question("wildfire", "smoke"), texts({ text: "wildfire smoke of fires" }), texts({ text: "wildfire of fires, smoke" }));
});

test("a record has a phrase only if its words are neighbors, in this order", () => {
  const [group] = question("").groups as [SpelledGroup];
  const phrase = [{ ...group, asked: "solar energy", spellings: [], phrases: [["solar", "energy"]] }];
  const has = (text: string) => scorerOf({ groups: phrase }, [1])(texts({ text })).has[0];
  expect(["solar energy", "of solar energy", "solar wind energy", "energy solar"].map(has)).toEqual([true, true, false, false]);
});

test("says which groups a record has, also in texts with accents and capitals", () => {
  const asked = question("resume", "smoke", "ozone");
  expect(scorerOf(asked, [1, 1, 1])(texts({ title: "Résumé", text: "SMOKE, smoker" })).has).toEqual([true, true, false]);
});

test("words are cut at each character as the index cuts them", () => {
  const score = scorerOf(question("smoke", "ozone"), [1, 1]);
  for (let code = 1; code < 0x2200; code++) {
    const text = `smoke${String.fromCharCode(code)}ozone`;
    expect([code, ...score(texts({ text })).has]).toEqual([code, ...["smoke", "ozone"].map((word) => wordsOf(text).includes(word))]);
  }
});

test("what is of an agency has the words that mean it, and so has what is of its parts", () => {
  const asked = question("nih");
  const ofAgency = { ...asked, groups: asked.groups.map((group) => ({ ...group, agencies: ["HHS.NIH"] })) };
  const has = (code: string | null) => scorerOf(ofAgency, [1])(texts({ text: "smoke" }), code).has[0];
  expect(["HHS.NIH", "HHS.NIH.NCI", "HHS", "HHS.NIHX", null].map(has)).toEqual([true, true, false, false, false]);
});

test("a phrase scores where its words stand next to each other, and a word that was probably meant is not there", () => {
  const phrase = { groups: [{ ...group(""), spellings: [], phrases: [["wildfire", "smoke"]] }] };
  expect(scorerOf(phrase, [1])(texts({ text: "wildfire or wildfire smoke" })).has).toEqual([true]);
  expect(scorerOf(phrase, [1])(texts({ title: "wildfire", text: "smoke of a wildfire" })).score).toBe(0);
  const meant = {
    groups: [{ ...group("smoek"), near: [{ stem: "smoke", spellings: [{ word: "smoke", weight: 0.8 }], phrases: [], isGuess: true }] }],
  };
  const { score, has } = scorerOf(meant, [1])(texts({ text: "smoke" }));
  expect([score > 0, has]).toEqual([true, [false]]);
});

test("two letters are a number only if a number was asked for", () => {
  better(question("de"), texts({ text: "de" }), texts({ number: "DE-FOA-0003", text: "of many words" }));
});

test("nothing scores zero", () => {
  expect(scorerOf(question("ozone"), [1])(texts({ text: "smoke" }))).toEqual({ score: 0, has: [false], named: [false], isClose: false });
  expect(scorerOf(question(), [])(texts({ text: "smoke" })).score).toBe(0);
});

test("words are close together within two sentences, or where some are in the title", () => {
  const filler = "filler ".repeat(40);
  const isClose = (given: Parameters<typeof texts>[0]) => scorerOf(question("wildfire", "smoke"), [1, 1])(texts(given)).isClose;
  expect(isClose({ text: `wildfire ${filler} smoke of a wildfire` })).toBe(true);
  expect(isClose({ text: `wildfire ${filler} smoke` })).toBe(false);
  expect(isClose({ title: "Wildfires: wildfire", text: `${filler} smoke` })).toBe(true);
  expect(isClose({ title: "Smoke", agency: "Wildfire" })).toBe(true);
  expect(isClose({ title: "Smoke" })).toBe(false);
});

test("another name of a subject counts less than its own, and the record does not have the word", () => {
  const asked = (near: SpelledGroup["near"]) => ({ groups: [{ ...group("drone"), near }] });
  const named = asked([{ spellings: [], phrases: [["unmanned", "aircraft"]], isGuess: false }]);
  const score = scorerOf(named, [1]);
  const [own, other] = ["a drone of today", "unmanned aircraft of today"].map((text) => score(texts({ text })));
  expect([own?.has, other?.has]).toEqual([[true], [false]]);
  expect(other?.score).toBeGreaterThan(0);
  expect(other?.score).toBeLessThan((own?.score ?? 0) / 2);
  expect(score(texts({ text: "aircraft, unmanned" })).score).toBe(0);
});
