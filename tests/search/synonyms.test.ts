/** Other names of what is asked for. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readQuestion } from "../../src/filter/question.ts";
import { synonymsIn } from "../../src/search/synonyms.ts";

const synonyms = (text: string) => synonymsIn(readQuestion(text).groups);
const asked = (text: string) => synonyms(text).map(({ asked }) => asked);

test.each([
  ["GPS receivers", ["GPS"]],
  ["receivers of global positioning systems", ["global positioning systems"]],
  ["cyber security for gateways", ["cyber security"]],
  ["covid-19 vaccines", ["covid-19", "vaccines"]],
  ["learning machine", []],
  ['"machine learning"', []],
  ["+drones", []],
  ["drones OR balloons", []],
  ["drone*", []],
  ["STEM gateways", ["STEM"]],
  ["stem parts", []],
  ["STEM PARTS", []],
  ["batteries", ["batteries"]],
  ["viruses and greenhouse gases", ["greenhouse gases"]],
  ["rare diseases", ["rare diseases"]],
  ["UAVs", ["UAVs"]],
  ["gateways in AL", []], // Not ALS.
  ["custody", []], // Not custodial.
  ["immune response", []], // Not immunization.
  ["flu", ["flu"]],
])("in %p other names are known of %j", (text, expected) => {
  expect(asked(text)).toEqual(expected);
});

test("the longest name counts, and what has other meanings is not looked for", () => {
  expect(synonyms("electric vehicle charging")[0]?.names).toEqual(["charging station", "EVSE", "car charger"]);
  expect(synonyms("STEM education")[0]?.names).toEqual([
    "science technology engineering and mathematics",
    "science education",
    "math education",
  ]);
  expect(synonyms("influenza")[0]?.names).toEqual([]);
});

describe("the table", () => {
  const lines = readFileSync("src/search/synonyms.tsv", "utf8").trim().split("\n");
  const rows = lines.filter((line) => !line.startsWith("#")).map((line) => line.split("\t"));

  test("has every name once, and at least two of each subject", () => {
    const names = rows.flatMap(([, ...names]) => names.map((name) => name.toLowerCase()));
    expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
    expect(rows.filter((row) => row.length < 3)).toEqual([]);
    expect(rows.length).toBeLessThanOrEqual(800);
  });

  test("says where each row is from", () => {
    const sources = lines.flatMap((line) => /^# ([A-Z]+): /.exec(line)?.[1] ?? []);
    expect(new Set(rows.map(([source]) => source))).toEqual(new Set(sources));
  });
});
