/** What people and agents find: the best matches of a question, in all records of `tests/data`, and the pages of any search. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { type Filter, readFilter } from "../../src/filter/filter.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { titleTag } from "../../src/search/common-rows.ts";
import { firstPartial, type SearchRequest, type SearchResult, search as searchIn, sorts } from "../../src/search/search.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { MATCH_BEGIN, MATCH_END } from "../../src/search/snippet.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { aCatalog, aDirectory, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);

/** A day on which some of the records are open. */
const NOW = Date.parse("2026-04-01T12:00:00Z");

let catalog: CatalogDb;
let index: SearchFile;

beforeAll(async () => {
  ({ db: catalog } = await aCatalogOfAll());
  index = openSearchFile(await anIndexOfAll());
});
afterAll(() => {
  index.close();
  dropScratch();
});

type Given = Partial<SearchRequest> & { text?: readonly string[]; now?: number };

const search = ({ text = [], filter = {}, now = NOW, ...given }: Given) => {
  const words = text.length === 0 ? {} : readFilter({ words: text }, "the words");
  return searchIn(catalog, index, { limit: 50, ...given, filter: { ...filter, ...words } }, now);
};
const asked = (question: string, given: Given = {}) => search({ text: question.match(/[-+]?"[^"]*"|\S+/g) ?? [], ...given });
/** The numbers of results, and those of the other records of the same opportunities. */
const namesIn = (results: readonly Pick<SearchResult, "opportunity" | "duplicates">[]) =>
  results
    .flatMap(({ opportunity, duplicates }) => [opportunity, ...duplicates])
    .flatMap(({ source, program }) => [source.opportunity_id, program.solicitation_id]);

/** A question as it is typed, and the numbers that a person would expect among the first results. */
const questions: readonly (readonly [question: string, expected: readonly string[], among: number, filter?: Filter])[] = [
  ["PAR-25-270", ["PAR-25-270"], 1],
  ["357492", ["PAR-25-270"], 1],
  ["SFOP0009339", ["SFOP0009339"], 1],
  ["N0001425SB001", ["N0001425SB001"], 1],
  ["quantum", ["PR442450", "W911NF21S0009"], 10],
  ["quantum networking", ["SF22D-T004"], 3],
  ['"natural product"', ["PAR-25-270", "PAR-25-271", "PAR-25-269"], 3],
  ["harmful algal bloom", ["https://www.epa.gov/innovation/harmful-algal-bloom-video-challenge"], 1],
  ["synthetic health data", ["https://www.challenge.gov/challenge/synthetic-health-data-challenge/"], 1],
  ["modern slavery", ["SFOP0009339"], 5],
  ["Fort Bragg fence", ["PANMCC-26-P-0000-039181"], 1],
  ["forklift", ["W911S226U3088"], 3],
  ["fire engine repair", ["140L3926P0011"], 3],
  ["veterans affairs fire extinguisher inspection", ["36C24126Q0234"], 1],
  ["amyotrophic lateral sclerosis", ["HT942525ALSRPTDA"], 5],
  ["antibiotic resistance retail food", ["PAR-25-014"], 1],
  ["doctoral dissertation linguistics", ["14-551", "20-538"], 3],
  ["tribal tourism", ["BIA-NATIVEACT-2026-OIED"], 1],
  ["tribal colleges universities program", ["14-572"], 3],
  ["space weather research to operations", ["NNH25ZDA001N-R2O2R"], 2],
  ["tuberous sclerosis", ["HT942526TSCRPIDA"], 6],
  ["permafrost tunnel", ["W911KB-25-2-0012"], 1],
  ["electrochem*", ["PD-23-7644"], 4],
  ["probation Tunisia", ["OFOP0003144"], 1],
  ["research vessel", ["-2380-NMSAS-VESSEL"], 2, { source: ["SAM_GOV"] }],
  ["fuel -aviation", ["140F0S26Q0015"], 3, { agency: ["fish and wildlife service"] }],
];

test("each title has a tag of each of its stems", () => {
  const rows = (query: string) => index.sqlite.query<unknown, [string]>("select rowid from texts where texts match ?").values(query);
  expect(rows(`"${titleTag("batteri")}"`)).toEqual(rows('{title} : ("battery" OR "batteries")'));
  expect(rows('{title} : ("battery" OR "batteries")')).not.toEqual([]);
});

describe("a person finds", () => {
  test.each(questions)("%s", async (question, expected, among, filter = {}) => {
    const { results } = await asked(question, { filter, limit: among });
    for (const each of expected) expect(namesIn(results)).toContain(each);
  });
});

describe("the best matches", () => {
  test("have most of the words first, and say what they lack", async () => {
    const { results, understood, total, matching, partial, isAll } = await asked("wildfire smoke exposure of forklift operators");
    expect(results.length).toBeGreaterThan(0);
    for (const { missing, named } of results) expect(missing.length - named.length).toBeLessThan(5);
    expect(understood?.words).toEqual(["wildfire", "smoke", "exposure", "forklift", "operators"]);
    expect([total, matching, isAll]).toEqual([partial, 0, true]);
  });

  test("of a sentence are those of its telling words", async () => {
    const sentence = await asked("what funding is there for quantum sensing, please?", { limit: 5 });
    expect(sentence.results[0]?.opportunity.title.toLowerCase()).toMatch(/quantum/);
  });

  test("have other forms of a word, but not of one in quotes", async () => {
    const [plain, quoted] = [await asked("blooming algae"), await asked('"blooming"')];
    expect(plain.results[0]?.opportunity.title.toLowerCase()).toContain("algal bloom");
    expect([quoted.matching, (await asked("blooming")).matching > 0]).toEqual([(await asked("+blooming")).matching, true]);
  });

  test("of a phrase that no record has are those of its words, and say so", async () => {
    const { results, understood } = await search({ text: ["sensing quantum networking"] });
    expect(results.length).toBeGreaterThan(0);
    expect(understood?.loosened).toEqual({ phrases: ["sensing quantum networking"], isFiltered: false });
    const filtered = await search({ text: ["quantum"], filter: { source: ["NSF"] }, limit: 1 });
    expect(filtered.understood?.loosened).toBeNull();
    const nowhere = await search({ text: ["natural product"], filter: { source: ["DSIP"] } });
    expect(nowhere.understood?.loosened).toEqual({ phrases: ["natural product"], isFiltered: true });
  });

  test("whose words are far apart follow what has most of them, and say so", async () => {
    const { db, take } = await aCatalog();
    const of = (n: number, title: string, description: string) => ({ source: { code: "OWN", opportunity_id: `${n}` }, title, description });
    const filler = "lorem ipsum ".repeat(650);
    await take([
      of(1, "Call", `tidal turbine ${filler} blade`),
      of(2, "Tidal turbines", "tidal turbine"),
      of(3, "Blade of a tidal turbine", ""),
    ]);
    const own = openSearchFile(aDirectory());
    await catchUp(db, own);
    const { results, matching } = await searchIn(db, own, { filter: { words: "tidal turbine blade" }, limit: 10 }, NOW);
    const said = results.map(({ opportunity, isMatch, isFar, missing }) => [opportunity.title, isMatch, isFar, missing]);
    expect(said).toEqual([
      ["Blade of a tidal turbine", true, false, []],
      ["Tidal turbines", false, false, ["blade"]],
      ["Call", true, true, []],
    ]);
    expect([matching, firstPartial(results)]).toEqual([2, 1]);
    own.close();
  });

  test("of a short question are weak if none has most of its words", async () => {
    const isWeak = async (question: string) => (await asked(question, { limit: 5 })).isWeak;
    expect(await isWeak("permafrost forklift")).toBe(true);
    expect(await isWeak("quantum networking")).toBe(false);
    expect(await isWeak("quantum")).toBe(false);
  });

  test("have other names of what was asked for, which make nothing match", async () => {
    const { results, understood, matching } = await asked("unmanned aerial vehicles", { limit: 50 });
    expect(understood?.synonyms[0]?.also).toContain("UAS");
    expect(results.filter(({ isMatch }) => isMatch).length).toBe(Math.min(matching, 50));
    const named = results.filter(({ named }) => named.length > 0);
    expect(named.length).toBeGreaterThan(0);
    for (const { isMatch, snippet } of named) expect([isMatch, snippet]).toEqual([false, expect.any(String)]);
  });

  test("of a mistyped word are those of the word that was meant, and say so", async () => {
    const { results, understood } = await asked("quantun");
    expect(understood?.corrections).toEqual([{ asked: "quantun", also: "quantum", records: 0 }]);
    expect(results.every(({ isMatch, missing }) => !isMatch && missing[0] === "quantun")).toBe(true);
    expect(results[0]?.opportunity.title.toLowerCase()).toContain("quantum");
  });

  test("never have a word with a minus, and always one with a plus", async () => {
    const texts = ({ title, summary, description }: WholeOpportunity) => `${title} ${summary} ${description}`.toLowerCase();
    const { results } = await asked("+research -clinical health");
    expect(results.length).toBeGreaterThan(0);
    for (const { opportunity } of results) expect(texts(opportunity)).not.toMatch(/\bclinical\b/);
    for (const { missing } of results) expect(missing).not.toContain("research");
  });

  test("meet all filters", async () => {
    const { results, total } = await asked("research development", { filter: { source: ["SAM_GOV"] } });
    expect(new Set(results.map(({ opportunity }) => opportunity.source.code))).toEqual(new Set(["SAM_GOV"]));
    expect(total).toBeLessThan((await asked("research development")).total);
  });

  test("come before what has only some of the words, which other orders do not list and count all the same", async () => {
    const [dated, best] = [await asked("clinical trial", { sort: "updated", limit: 1000 }), await asked("clinical trial", { limit: 5000 })];
    const ids = (page: typeof best) => page.results.filter(({ isMatch }) => isMatch).map(({ opportunity }) => opportunity.id);
    expect(ids(best).toSorted()).toEqual(ids(dated).toSorted());
    const near = best.results.filter(({ isMatch, isFar }) => isMatch && !isFar);
    expect(best.results.slice(0, near.length)).toEqual(near);
    expect([dated.total, dated.matching, dated.partial]).toEqual([best.matching, best.matching, best.partial]);
    expect(best.total).toBe(best.matching + best.partial);
    const only = await asked("clinical trial", { onlyMatching: true, limit: 5000 });
    expect(ids(only).toSorted()).toEqual(ids(best).toSorted());
  });

  test("of a number are the record that has it, and nothing that has only some of its digits", async () => {
    for (const question of ["par 25 270", "NIH PAR-25-270", "PAR25270", "https://simpler.grants.gov/opportunity/357492"]) {
      const best = await asked(question);
      const dated = await asked(question, { sort: "closes" });
      expect([question, best.results[0]?.opportunity.program.solicitation_id]).toEqual([question, "PAR-25-270"]);
      expect([question, best.matching, best.partial]).toEqual([question, dated.matching, dated.partial]);
      expect([question, best.total]).toEqual([question, best.results.length]);
    }
  });

  test.each([
    ["par–25–270", "PAR-25-270"],
    ["Opportunity number: PAR-25-014", "PAR-25-014"],
    ["https://www.grants.gov/search-results-detail/357492", "PAR-25-270"],
    ["https://www.grants.gov/web/grants/view-opportunity.html?oppId=357492", "PAR-25-270"],
    ["n0001425sb001", "N0001425SB001"],
    ["ONR N00014-25-S-B001", "N0001425SB001"],
    ["w911s2 26 u 3088", "W911S226U3088"],
    ["PD 23-7644", "PD-23-7644"],
    ["https://www.nsf.gov/funding/opportunities/electrochemical-systems/pd23-7644", "PD-23-7644"],
    ["14-572", "14-572"],
    ["NSF 14-572", "14-572"],
    ["nsf14572", "14-572"],
    ["nnh25zda001n r2o2r", "NNH25ZDA001N-R2O2R"],
    ["ROSES-2025 B.4", "ROSES-2025-B.4"],
    ["PANMCC26P0000039181", "PANMCC-26-P-0000-039181"],
  ])("of the number %p have it first", async (typed, number) => {
    const { results } = await asked(typed, { limit: 1 });
    expect(namesIn(results)).toContain(number);
  });

  test.each([
    ["W911S2-26-U-30", "W911S226U3088"],
    ["w911s226u", "W911S226U3088"],
    ["NIH PAR-25-27", "PAR-25-270"],
    ["sfop000", "SFOP0009339"],
  ])("of %p, which no number is, have first what begins so, and say it", async (typed, number) => {
    const { results, understood, matching } = await asked(typed);
    expect(namesIn(results.slice(0, 5))).toContain(number);
    expect([results[0]?.isMatch, matching, understood?.cutNumber]).toEqual([false, 0, typed.split(" ").at(-1) ?? ""]);
  });

  test.each(["PAR-25-270", "par-2", "biosciences", "water 2026", "x25-zz"])("of %p do not look for longer numbers", async (typed) => {
    expect((await asked(typed)).understood?.cutNumber).toBeNull();
  });

  test("of a number must meet the filters", async () => {
    expect((await asked("par 25 270", { filter: { source: ["GRANTS_GOV"] } })).results).toHaveLength(1);
    expect((await asked("par 25 270", { filter: { source: ["NSF"] } })).results).toEqual([]);
  });

  test("of an agency are what is of it, whatever its texts say, and the answer says so", async () => {
    const { db, take } = await aCatalog();
    const of = (n: number, agency: string, title: string) => ({
      source: { code: "OWN", opportunity_id: `N${n}` },
      title,
      organization: { agency },
    });
    await take([
      of(1, "National Cancer Institute", "Tumor growth"),
      of(2, "Department of Energy", "Tumor imaging"),
      of(3, "Department of Energy", "Energy storage"),
    ]);
    const own = openSearchFile(aDirectory());
    await catchUp(db, own);
    const found = async (words: string) => {
      const { results, understood } = await searchIn(db, own, { filter: { words }, limit: 10 }, NOW);
      return [results.map(({ opportunity, missing }) => [opportunity.title, ...missing].join()), understood?.agencies] as const;
    };
    const meant = [{ asked: "NIH", code: "HHS.NIH" }];
    expect(await found("NIH tumors")).toEqual([["Tumor growth", "Tumor imaging,NIH"], meant]);
    expect(await found("tumors +NIH")).toEqual([["Tumor growth"], meant]);
    expect(await found("department of energy")).toEqual([
      ["Tumor imaging", "Energy storage"],
      [{ asked: "department of energy", code: "DOE" }],
    ]);
    expect(await found("imaging")).toEqual([["Tumor imaging"], []]);
    const byDate = await searchIn(db, own, { filter: { words: "NIH" }, limit: 10, sort: "closes" }, NOW);
    expect(byDate.results.map(({ opportunity }) => opportunity.title)).toEqual(["Tumor growth"]);
    own.close();
  });

  test("are counted by status, source, department and type", async () => {
    const { counts, results } = await asked("quantum", { limit: 1000, allSources: true });
    expect(counts?.agency.slice(0, 2)).toEqual([
      { value: "DOD", records: expect.any(Number) },
      { value: "NSF", records: expect.any(Number) },
    ]);
    for (const { value, records } of counts?.source ?? [])
      expect(results.filter(({ opportunity }) => opportunity.source.code === value).length).toBe(records);
    const ofDod = await asked("quantum", { filter: { agency: ["DOD"] }, allSources: true });
    expect(counts?.agency[0]?.records).toBe(ofDod.total);
  });

  test("take a year for a word, and not for a number", async () => {
    const { db, take } = await aCatalog();
    await take([
      { source: { code: "OWN", opportunity_id: "77" }, title: "Bridges", program: { solicitation_id: "2030" } },
      { source: { code: "OWN", opportunity_id: "B" }, title: "Health of 2030" },
    ]);
    const own = openSearchFile(aDirectory());
    await catchUp(db, own);
    const first = async (words: string) => (await searchIn(db, own, { filter: { words }, limit: 1 }, NOW)).results[0]?.opportunity.title;
    expect([await first("health 2030"), await first("health in 2030")]).toEqual(["Health of 2030", "Health of 2030"]);
    own.close();
  });

  test("show where the words are", async () => {
    const { results } = await asked("quantum");
    for (const { snippet } of results) expect(snippet?.toLowerCase()).toContain(`${MATCH_BEGIN}quantum${MATCH_END}`);
    expect((await search({ limit: 1 })).results[0]?.snippet).toBeNull();
  });
});

describe("pages", () => {
  const walk = async (given: Given, limit: number) => {
    const pages = [await search({ ...given, limit })];
    for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) pages.push(await search({ ...given, limit, after: next }));
    return pages.flatMap(({ results }) => results.map(({ opportunity }) => opportunity.id));
  };

  test.each(sorts)("by %s have every match once, in order, whatever their size", async (sort) => {
    for (const given of [{ text: ["quantum", "tribal"] }, { filter: { source: ["CHALLENGE_GOV"] } }]) {
      const whole = await search({ ...given, sort, limit: 1000 });
      for (const limit of [1, 7, 200])
        expect(await walk({ ...given, sort }, limit)).toEqual(whole.results.map(({ opportunity }) => opportunity.id));
      expect(new Set(await walk({ ...given, sort }, 7)).size).toBe(whole.results.length);
    }
  });

  test.each([0, 7_000, 8_000, 12_000, 200_000])("show a record that has the word after %i characters", async (before) => {
    const { db, take } = await aCatalog();
    const source = (n: number) => ({ code: "OWN", opportunity_id: `${n}` });
    const filler = "lorem ipsum ".repeat(before / 12 + 1);
    const deep = { source: source(1), title: "Far", description: `${filler} percentage`, status: "closed" };
    await take([deep, { source: source(2), title: "Near percentage", status: "open" }, { source: source(3), title: "None" }]);
    const own = openSearchFile(aDirectory());
    await catchUp(db, own);
    for (const words of ["percentage", "percentages of nothing"]) {
      const { results, total, isWhole } = await searchIn(db, own, { filter: { words }, limit: 10 }, NOW);
      expect([results.map(({ opportunity }) => opportunity.title), total, isWhole]).toEqual([["Near percentage", "Far"], 2, true]);
    }
    own.close();
  });

  test("have as many rows as the total says, wherever the words stand in real texts", async () => {
    const inLongTexts = index.sqlite
      .query<{ word: string }, []>(
        "select word from words where records between 2 and 400 and length(word) > 4 order by hex(substr(word, 2)) limit 4000",
      )
      .all()
      .filter((_, n) => n % 200 === 0);
    let rows = 0;
    for (const { word } of [{ word: "percentage" }, { word: "quarterly" }, ...inLongTexts]) {
      for (const allSources of [false, true]) {
        const { results, total, isWhole, next } = await search({ text: [`+${word}`], allSources, limit: 1000 });
        expect([word, results.length, isWhole, next]).toEqual([word, total, true, null]);
        rows += total;
      }
    }
    expect(rows).toBeGreaterThan(200);
  });

  test("keep the instant of the first one", async () => {
    const filter = readFilter({ closes_after: "0d" }, "the filter");
    const first = await search({ filter, sort: "closes", limit: 5 });
    const YEAR = 365 * 86_400_000;
    const second = await search({ filter, sort: "closes", limit: 1000, after: first.next, now: NOW + YEAR });
    const expected = await search({ filter, sort: "closes", limit: 1000 });
    expect([...first.results, ...second.results]).toEqual(expected.results);
  });

  test("need a cursor of the same search", async () => {
    const { next } = await search({ text: ["research"], limit: 1 });
    expect(next).toMatch(/^[\w-]{1,300}$/);
    const other = "It must be a cursor of a search with the same words, filters and sort.";
    const others: Given[] = [{ text: ["quantum"] }, { sort: "closes" }, { filter: { agency: ["navy"] } }, { allSources: true }];
    for (const given of others) expect(search({ text: ["research"], after: next, ...given })).rejects.toThrow(other);
    for (const after of ["", "x", "e30", btoa("[1]"), btoa('{"of":1}'), next?.slice(0, -9)])
      expect(search({ text: ["research"], after })).rejects.toThrow("It must be a cursor that a search returned.");
  });
});
