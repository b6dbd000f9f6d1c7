/** How the words of a search are read. */
import { describe, expect, test } from "bun:test";
import { readQuestion, withoutPhrases } from "../../src/filter/question.ts";

/** A group as one text: forms of a word are "~stem", exact words are in quotes, a beginning ends with "*", and what must be there has a "!". */
const inShort = ({ terms, agencies, numbers, isDemanded }: ReturnType<typeof readQuestion>["groups"][number]) => {
  const each = terms.map((term) => {
    if (term.kind === "word") return `~${term.stem}`;
    return term.kind === "phrase" ? `"${term.words.join(" ")}"` : `${term.words.join(" ")}*`;
  });
  return [...each, ...agencies, ...numbers.map((key) => `#${key}`)].join("|") + (isDemanded ? "!" : "");
};
const read = (text: string) => {
  const { groups, excluded } = readQuestion(text);
  return [...groups.map(inShort), ...excluded.map((group) => `-${inShort(group)}`)];
};

describe("readQuestion()", () => {
  test.each([
    ["batteries", ["~batteri"]],
    ["what about the smoke for health", ["~smoke", "~health"]],
    ["the", ["~the"]],
    ["grant money for sensors", ["~sensor"]],
    ["NASA proposals", ["~nasa|NASA"]],
    ["bids and solicitations for paving", ["~pave"]],
    ["proposals", ["~propos"]],
    ["grants", ["~grant"]],
    ["+the smoke", ['"the"!', "~smoke"]],
    ["health “wildfire smoke”", ["~health", '"wildfire smoke"!']],
    ["+sonar smoke", ['"sonar"!', "~smoke"]],
    ["sonar AND smoke", ["~sonar", "~smoke"]],
    ["laser OR lidar ranging", ["~laser|~lidar", "~rang"]],
    ['laser OR "light detection"', ['~laser|"light detection"']],
    ["self-driving OR autonomous cars", ['"self driving"|~autonom', "~car"]],
    ["OR laser", ["~laser"]],
    ["laser -lidar", ["~laser", "-~lidar"]],
    ['sonar -smoke -"wildfire smoke"', ["~sonar", "-~smoke", '-"wildfire smoke"']],
    ["grants not loans", ["~grant", "-~loan"]],
    ["optics NOT lasers", ["~optic", "-~laser"]],
    ['optics not "free space"', ["~optic", '-"free space"']],
    ["optics not for space", ["~optic"]],
    ["why not", ["~why", "~not"]],
    ["well-known", ["~well", "~known"]],
    ["quant* field", ["quant*", "~field"]],
    ["covid-19", ['"covid 19"|#COVID19']],
    ["PAR-25-270 deadline", ['"par 25 270"|#PAR25270']],
    ["W911NF21S0009", ["~w911nf21s0009|#W911NF21S0009"]],
    ["NIH health", ["~nih|HHS.NIH", "~health"]],
    ["smoke at the Air Force", ["~smoke", '"air force"|DOD.USAF']],
    ["NIH NIH", ["~nih|HHS.NIH"]],
    ["NIH OR NSF", ["~nih|~nsf|HHS.NIH|NSF"]],
    ["-NIH ice", ["~ic", "-~nih"]],
    ["sea ice", ["~sea", "~ic"]],
    ["SEA ICE SENSORS", ["~sea", "~ic", "~sensor"]],
    ["research lab", ["~research", "~lab"]],
  ])("%p", (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test("two words of one stem are one group, which counts twice", () => {
    expect(readQuestion("battery batteries").groups.map(({ asked, times }) => [asked, times])).toEqual([["battery", 2]]);
  });

  test("an address is the id that it has", () => {
    expect(read("https://www.grants.gov/search-results-detail/357492")).toEqual(["~357492|#357492"]);
  });

  test("a question that may be a number is the key of one", () => {
    expect(readQuestion("par 25 270").numbers).toContain("PAR25270");
    expect(readQuestion("NSF 23-615").numbers).toEqual(expect.arrayContaining(["NSF23615", "23615"]));
    expect(readQuestion("2025").numbers).toEqual([]);
  });

  test("any text is a question", () => {
    for (const text of [
      "",
      "-",
      '"',
      "***",
      '-"',
      "AND",
      "OR OR",
      "+",
      "“”",
      "\u0000",
      "a".repeat(5000),
      "AND AND sonar",
      '""',
      "not",
      "NOT -x",
    ])
      expect(() => readQuestion(text)).not.toThrow();
  });
});

test("withoutPhrases() leaves the words of phrases, but not of excluded ones", () => {
  expect(withoutPhrases('"wildfire smoke" health -"sonar smoke"')).toBe('wildfire smoke health -"sonar smoke"');
});
