/** Finding by filters and words, in all records of `tests/data`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { applicantKinds } from "../../src/filter/applicants.ts";
import { type FieldName, type Filter, fieldNames, matches, readFilter } from "../../src/filter/filter.ts";
import { nameOfPlace, placeCodes } from "../../src/filter/places.ts";
import { textsOf } from "../../src/filter/texts.ts";
import { dueDateOf } from "../../src/opportunities/clock.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { find, findByNumber, MATCH_BEGIN, MATCH_END, type SearchRequest, type Sort, sorts, whichMayMatch } from "../../src/search/find.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { aCatalogOfAll } from "../support/all-records.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { rowsAmong } from "../support/rows.ts";

setDefaultTimeout(300_000);

/** A day on which some of the records are open. */
const NOW = Date.parse("2026-04-01T12:00:00Z");

let all: WholeOpportunity[];
let index: SearchFile;

beforeAll(async () => {
  const { db, all: stored } = await aCatalogOfAll();
  all = await readOpportunities(
    db,
    stored.map(({ id }) => id),
    NOW,
  );
  index = openSearchFile(aDirectory());
  await catchUp(db, index, undefined, NOW);
});
afterAll(() => {
  index.close();
  dropScratch();
});

const search = ({ text = [], filter = {}, ...given }: Partial<SearchRequest> & { text?: readonly string[] }) => {
  const words = text.length === 0 ? {} : readFilter({ words: text }, "the words");
  return find(index, { limit: 100_000, ...given, filter: { ...filter, ...words } }, NOW);
};
const idsOf = (filter: Filter) => search({ filter }).found.map(({ id }) => id);
const expectedIds = (filter: Filter) => rowsAmong(all, (opportunity) => matches(filter, opportunity, NOW)).map(({ id }) => id);

/** Values for every field that some record has, and some that none has. */
const samples = {
  words: (o) => wordsOf(o),
  status: (o) => [o.status],
  source: (o) => [o.source.code],
  agency: (o) => [o.organization.agency, o.organization.sub_agency].flatMap((name) => (name ? [name.slice(0, 200), name.slice(0, 9)] : [])),
  program_type: (o) => [o.program.type ?? "OTHER"],
  naics: (o) => o.classifications.naics_codes.flatMap((code) => [code, code.slice(0, 3)]),
  psc: (o) => codesWith(o, "PSC:").flatMap((code) => [code, code.slice(0, 1)]),
  listing: (o) => codesWith(o, "ALN:").flatMap((code) => [code, code.slice(0, 2), code.slice(0, 5)]),
  set_aside: (o) => o.classifications.set_aside_types.flatMap((code) => [code, code.slice(0, 2)]),
  applicant: (o) => [...o.sidecar.applicant_types, ...applicantKinds],
  place: (o) => placeCodes(o.sidecar.place).flatMap((code) => [code, nameOfPlace(code)]),
  eligibility: (o) => (o.eligibility.requirements ?? "small").split("\n").flatMap((line) => [line.slice(3, 20), line.slice(0, 6)]),
  posted_after: (o) => timesOf(o.dates.posted_at),
  posted_before: (o) => timesOf(o.dates.posted_at),
  opens_after: (o) => timesOf(o.dates.opens_at),
  opens_before: (o) => timesOf(o.dates.opens_at),
  closes_after: (o) => timesOf(o.dates.closes_at),
  closes_before: (o) => timesOf(o.dates.closes_at),
  min_amount: (o) => amountsOf(o),
  max_amount: (o) => amountsOf(o),
  updated_after: (o) => timesOf(o.updated_at),
} satisfies Record<FieldName, (opportunity: WholeOpportunity) => string[]>;

/** Words, phrases, beginnings and words that must not occur, from the texts of an opportunity. */
function wordsOf(opportunity: WholeOpportunity): string[] {
  return textsOf(opportunity).flatMap((text) => {
    const [one = "", two = "", three = ""] = text.split(/\s+/).filter((word) => word.length > 3);
    const prefixes = [two.slice(0, 4), `-${one.slice(0, 3)}`].filter((prefix) => /[\p{L}\p{N}]{2}$/u.test(prefix));
    return [`${one} ${three}`, `"${one} ${two}"`, `${one} -${two}`, `-"${two} ${three}"`, ...prefixes.map((prefix) => `${prefix}*`)];
  });
}

function codesWith({ classifications }: WholeOpportunity, prefix: string): string[] {
  return classifications.tech_taxonomy.filter((code) => code.startsWith(prefix)).map((code) => code.slice(prefix.length));
}

function timesOf(instant: string | null): string[] {
  return instant === null ? ["30d", "-2w", "12h"] : [instant, instant.slice(0, 10)];
}

function amountsOf({ funding }: WholeOpportunity): string[] {
  const stated = [funding?.amount_min, funding?.amount_max].filter((amount) => typeof amount === "string");
  return [...stated, ...stated.map((amount) => `${amount}${amount.includes(".") ? "" : "."}01`), "0", "250000"];
}

/** Distinct values of a field that can be read as a filter. */
function valuesOf(name: FieldName): Filter[] {
  const values = [...new Set(all.flatMap(samples[name]))];
  return values.flatMap((value) => {
    try {
      return [readFilter({ [name]: value }, "the sample")];
    } catch {
      return []; // Of another form than the field takes: a part of an agency that is blank.
    }
  });
}

describe("a search returns what matches() finds in all records", () => {
  test.each(fieldNames)("by %s", (name) => {
    const filters = valuesOf(name);
    const step = Math.max(1, Math.floor(filters.length / (name === "words" ? 5 : 15)));
    const tried = filters.filter((_, n) => n % step === 0);
    let [found, missed] = [0, 0];
    for (const filter of tried) {
      const expected = expectedIds(filter);
      expect([filter, idsOf(filter).sort()]).toEqual([filter, expected.sort()]);
      if (expected.length > 0) found++;
      if (expected.length < all.length) missed++;
    }
    expect([found > 0, missed > 0]).toEqual([true, true]);
  });

  test("by any combination of them", () => {
    const values = new Map(fieldNames.map((name) => [name, fc.constantFrom(...valuesOf(name))]));
    const oneOf = (name: FieldName) => values.get(name) ?? fc.constant({});
    const combination = fc
      .subarray([...fieldNames], { minLength: 1, maxLength: 4 })
      .chain((names) => fc.tuple(...names.map(oneOf)))
      .map((filters): Filter => Object.assign({}, ...filters));
    fc.assert(
      fc.property(combination, (filter) => {
        expect(idsOf(filter).sort()).toEqual(expectedIds(filter).sort());
      }),
      { numRuns: 20 },
    );
  });

  test("among some versions, and those that the index does not have yet", () => {
    const versions = index.sqlite
      .query<{ id: string; stored_at: number }, []>("select id, stored_at from records order by updated_at, id")
      .all();
    const [changed, other] = versions.splice(0, 2).map(({ id, stored_at }) => ({ id, stored_at: stored_at + 1 }));
    const added = { id: crypto.randomUUID(), stored_at: NOW };
    for (const filter of [
      {},
      { status: ["open"] },
      { words: "clinical", min_amount: "1000" },
      { agency: ["energy"], closes_after: "-90d" },
    ]) {
      const ids = new Set(all.filter((opportunity) => matches(filter, opportunity, NOW)).map(({ id }) => id));
      const expected = versions.filter(({ id }) => ids.has(id));
      const given = [changed, other, added].filter((each) => each !== undefined);
      expect(whichMayMatch(index, filter, [...given, ...versions], NOW)).toEqual([...given, ...expected]);
      expect(expected.length).toBeGreaterThan(0);
    }
  });

  test("with no filter, all of them", () => {
    const rows = expectedIds({}).length;
    expect(rows).toBeLessThan(all.length);
    expect(idsOf({})).toHaveLength(rows);
    expect(search({ limit: 3 })).toMatchObject({ total: rows, twins: all.length - rows, found: [{}, {}, {}] });
    expect(search({ allSources: true, limit: 3 })).toMatchObject({ total: all.length, twins: 0 });
  });
});

/** A question as it is typed, and the numbers that a person would expect among the first results. */
const questions: readonly (readonly [question: string, expected: readonly string[], among: number, filter?: Filter])[] = [
  ["PAR-25-270", ["PAR-25-270"], 1],
  ["par-25-270", ["PAR-25-270"], 1],
  ["357492", ["PAR-25-270"], 1],
  ["SFOP0009339", ["SFOP0009339"], 1],
  ["N0001425SB001", ["N0001425SB001"], 1],
  ["quantum", ["W911NF25S0002", "PR442450"], 3],
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
  ["doctoral dissertation linguistics", ["20-538"], 2],
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

describe("a person finds", () => {
  test.each(questions)("%s", (question, expected, among, filter = {}) => {
    const { found } = search({ text: question.match(/"[^"]*"|\S+/g) ?? [], filter, limit: among });
    const shown = found.map(({ id }) => all.find((opportunity) => opportunity.id === id));
    const names = shown.flatMap((o) => [o?.source.opportunity_id, o?.program.solicitation_id]);
    for (const each of expected) expect(names).toContain(each);
  });
});

describe("the words of a search", () => {
  const total = (...text: string[]) => search({ text, allSources: true }).total;

  test("must all occur, in any order and letter case", () => {
    expect(total("quantum", "SENSING")).toBe(total("sensing", "Quantum"));
    expect(total("quantum", "sensing")).toBeLessThan(total("quantum"));
    expect(total("quantum", "sensing")).toBeGreaterThan(0);
  });

  test("in quotes, or as one argument, are a phrase", () => {
    expect(total('"clinical trial required"')).toBeGreaterThan(0);
    expect(total("clinical trial required")).toBe(total('"clinical trial required"'));
    expect(total("“clinical trial required”")).toBe(total('"clinical trial required"'));
    expect(total("required trial clinical")).toBe(0);
    expect(total("required", "trial", "clinical")).toBeGreaterThanOrEqual(total("clinical trial required"));
  });

  test("with * are the beginnings of words", () => {
    expect(total("quant*")).toBeGreaterThan(total("quantum"));
    expect(total("quant")).toBe(0);
  });

  test("with - must not occur", () => {
    expect(total("clinical", "-trial")).toBe(total("clinical") - total("clinical", "trial"));
    expect(total("-clinical")).toBe(all.length - total("clinical"));
    expect(total("clinical", '-"clinical trial"')).toBe(total("clinical") - total("clinical trial"));
  });

  test("are found without their accents", () => {
    expect(total("défense")).toBe(total("defense"));
  });

  test("are shown where they matched", () => {
    const { found } = search({ text: ["quantum"] });
    for (const { snippet } of found) expect(snippet?.toLowerCase()).toContain(`${MATCH_BEGIN}quantum${MATCH_END}`);
    expect(search({ limit: 1 }).found[0]?.snippet).toBeNull();
  });

  test("never make a syntax error", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom('"', "*", "-", "AND", "OR", "NOT", "NEAR(", ")", "title:", "^", "+", "{", "a*b", "-*", '""', "é", "日本", "\0", "'"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (words) => {
        try {
          search({ text: words, limit: 5 });
        } catch (error) {
          expect(String(error)).toMatch(/"words" must have (at least two )?letters or digits/);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("that are none, or too many, are refused", () => {
    expect(() => search({ text: ["&&&", "*"] })).toThrow('"words" must have letters or digits; not "&&& *"');
    expect(() => search({ text: Array(65).fill("a") })).toThrow('"words" must have at most 64 words');
    expect(() => search({ text: ["a".repeat(1001)] })).toThrow('"words" must have at most 1000 characters');
    expect(() => readFilter({ words: 5 }, "it")).toThrow('"words" must be a text or a list of texts');
  });

  test("that begin with a single letter, or are many beginnings, are refused: a few take as long as hundreds of words", () => {
    for (const text of ["a*", "quantum -b*", "U.S*", "co* é*"])
      expect(() => search({ text: [text] })).toThrow(/"words" must have at least two letters or digits before \*; not "[^"]+\*"/);
    for (const text of ["ab*", "5g*", "R&D-ab*", '"a" a *', '"a*"']) expect(() => search({ text: [text], limit: 1 })).not.toThrow();
    const many = (count: number) => Array.from({ length: count }, (_, n) => `${n % 2 ? "-" : ""}q${n}*`).join(" ");
    expect(() => search({ text: [many(8)], limit: 1 })).not.toThrow();
    expect(() => search({ text: [many(9)] })).toThrow('"words" must have at most 8 words with *');
  });
});

describe("sorting", () => {
  const sorted = (sort: Sort) => {
    const byId = new Map(all.map((opportunity) => [opportunity.id, opportunity]));
    return search({ sort }).found.map(({ id }) => byId.get(id) as WholeOpportunity);
  };

  test("by closes has the next deadline first, then those without one, then the past ones", () => {
    const due = sorted("closes")
      .map(({ dates }) => dueDateOf(dates, NOW))
      .map((date) => (date === null ? null : Date.parse(date)));
    const [coming, none] = [due.filter((ms) => ms !== null && ms >= NOW), due.filter((ms) => ms === null)] as [number[], null[]];
    const past = due.filter((ms) => ms !== null && ms < NOW) as number[];
    expect(due).toEqual([...coming.toSorted((a, b) => a - b), ...none, ...past.toSorted((a, b) => b - a)]);
    expect([coming.length > 0, none.length > 0, past.length > 0]).toEqual([true, true, true]);
  });

  test("by posted and updated has the newest first, by amount the largest", () => {
    const posted = sorted("posted").flatMap(({ dates }) => (dates.posted_at === null ? [] : [Date.parse(dates.posted_at)]));
    expect(posted).toEqual(posted.toSorted((a, b) => b - a));
    const updated = sorted("updated").map(({ updated_at }) => updated_at);
    expect(updated).toEqual(updated.toSorted().reverse());
    const amounts = sorted("amount").flatMap(({ funding }) => (funding?.amount_max ? [Number(funding.amount_max)] : []));
    expect(amounts[0]).toBe(Math.max(...amounts));
  });

  test.each(sorts)("by %s is the same every time, and a shorter list is its beginning", (sort) => {
    const whole = search({ sort }).found.map(({ id }) => id);
    expect(search({ sort, limit: 50 }).found.map(({ id }) => id)).toEqual(whole.slice(0, 50));
  });
});

describe("pages", () => {
  /** Every page of a search, one after another. */
  const walk = (given: Parameters<typeof search>[0], limit: number) => {
    const pages = [search({ ...given, limit })];
    for (let last = pages[0]; last?.next; last = pages.at(-1)) pages.push(search({ ...given, limit, after: last.next }));
    return pages;
  };

  test.each(sorts)("by %s have every match once, in order, whatever their size", (sort) => {
    for (const given of [{}, { text: ["research"] }, { text: ["-clinical"] }, { filter: { closes_after: "-1000d" } }]) {
      const whole = search({ ...given, sort });
      for (const limit of [1, 7, 100, whole.total, whole.total + 1]) {
        if (limit < 100 && whole.total > 200) continue; // Takes long, and the other searches show it.
        const pages = walk({ ...given, sort }, limit);
        expect(pages.flatMap(({ found }) => found)).toEqual(whole.found);
        expect(new Set(pages.map(({ total }) => total))).toEqual(new Set([whole.total]));
        expect(pages).toHaveLength(Math.max(1, Math.ceil(whole.total / limit)));
      }
    }
  });

  test("keep the instant of the first one", () => {
    const filter = readFilter({ closes_after: "0d" }, "the filter");
    const first = search({ filter, sort: "closes", limit: 5 });
    const YEAR = 365 * 86_400_000;
    const second = find(index, { filter, sort: "closes", limit: 100_000, after: first.next }, NOW + YEAR);
    const expected = search({ filter, sort: "closes" });
    expect([...first.found, ...second.found]).toEqual(expected.found);
    expect(second.total).toBe(expected.total);
  });

  test("need a cursor of the same search", () => {
    const { next } = search({ text: ["research"], limit: 1 });
    expect(next).toMatch(/^[\w-]{1,300}$/);
    const other = "It must be a cursor of a search with the same words, filters and sort.";
    expect(() => search({ text: ["quantum"], after: next })).toThrow(other);
    expect(() => search({ text: ["research"], sort: "closes", after: next })).toThrow(other);
    expect(() => search({ text: ["research"], filter: { agency: ["navy"] }, after: next })).toThrow(other);
    for (const after of ["", "x", "e30", btoa("[1]"), btoa('{"of":1}'), next?.slice(0, -9)])
      expect(() => search({ text: ["research"], after })).toThrow("It must be a cursor that a search returned.");
  });
});

test("findByNumber() finds by the number that people use, and by the beginning of an id", () => {
  const [one] = all.filter(({ program }) => program.solicitation_id === "PAR-25-270");
  expect(findByNumber(index, " par-25-270 ", 10)).toEqual([one?.id ?? ""]);
  expect(findByNumber(index, one?.id.slice(0, 8) ?? "", 10)).toEqual([one?.id ?? ""]);
  expect(findByNumber(index, "nothing", 10)).toEqual([]);
  expect(findByNumber(index, "…", 10)).toEqual([]);
});
