/** Everything that meets filters and words, in all records of `tests/data`. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { applicantKinds } from "../../src/filter/applicants.ts";
import { type FieldName, type Filter, fieldNames, matches, readFilter } from "../../src/filter/filter.ts";
import { nameOfPlace, placeCodes } from "../../src/filter/places.ts";
import { textsOf } from "../../src/filter/texts.ts";
import { dueOf } from "../../src/opportunities/due.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { readDuplicates } from "../../src/opportunities/related.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { find, findByNumber, type Order, whichMayMatch } from "../../src/search/find.ts";
import { openSearchFile, openTemporarySearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { aCatalog, dropScratch } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";
import { rowsAmong } from "../support/rows.ts";

setDefaultTimeout(300_000);

/** A day on which some of the records are open. */
const NOW = Date.parse("2026-04-01T12:00:00Z");

let all: WholeOpportunity[];
let duplicates: Map<string, WholeOpportunity[]>;
let index: SearchFile;

beforeAll(async () => {
  const { db, all: stored } = await aCatalogOfAll();
  const ids = stored.map(({ id }) => id);
  all = await readOpportunities(db, ids, NOW);
  duplicates = await readDuplicates(db, ids, NOW);
  index = openSearchFile(await anIndexOfAll());
  await catchUp(db, index, undefined, NOW);
});
afterAll(() => {
  index.close();
  dropScratch();
});

type Given = { text?: readonly string[]; filter?: Filter; order?: Order; limit?: number; allSources?: boolean };

const search = ({ text = [], filter = {}, order = "updated", limit = 100_000, allSources }: Given) => {
  const words = text.length === 0 ? {} : readFilter({ words: text }, "the words");
  return find(index, { filter: { ...filter, ...words }, limit, order, allSources }, { now: NOW, keys: [] }, UNLIMITED);
};
const idsOf = (filter: Filter) => search({ filter }).ids;
const meets = (filter: Filter, each: WholeOpportunity) => matches(filter, each, NOW, duplicates.get(each.id));
/** The ids of what meets each filter. All are asked of one record before the next one, whose texts `matches` keeps. */
function expectedIds(...filters: Filter[]): string[][] {
  const met = filters.map(() => new Set<WholeOpportunity>());
  for (const each of all) for (const [n, filter] of filters.entries()) if (meets(filter, each)) met[n]?.add(each);
  return met.map((those) => rowsAmong(all, (each) => those.has(each)).map(({ id }) => id));
}

/** Values for every field that some record has, and some that none has. */
const samples = {
  id: (o) => [o.id],
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

/** Up to `count` distinct values of a field that can be read as a filter. */
function valuesOf(name: FieldName, count: number): Filter[] {
  const records = name === "words" ? all.filter((_, n) => n % 20 === 0) : all; // Their words are a hundred times as many.
  const values = [...new Set(records.flatMap(samples[name]))];
  const step = Math.max(1, Math.floor(values.length / count));
  return values.flatMap((value, n) => {
    if (n % step !== 0) return [];
    try {
      return [readFilter({ [name]: value }, "the sample")];
    } catch {
      return []; // Of another form than the field takes: a part of an agency that is blank.
    }
  });
}

describe("a search returns what matches() finds in all records", () => {
  test.each(fieldNames)("by %s", (name) => {
    const filters = valuesOf(name, name === "words" ? 5 : 15);
    let [found, missed] = [0, 0];
    for (const [n, expected] of expectedIds(...filters).entries()) {
      const [filter = {}] = filters.slice(n);
      expect([filter, idsOf(filter).sort()]).toEqual([filter, expected.sort()]);
      if (expected.length > 0) found++;
      if (expected.length < all.length) missed++;
    }
    expect([found > 0, missed > 0]).toEqual([true, true]);
  });

  test("by any combination of them", () => {
    const values = new Map(fieldNames.map((name) => [name, fc.constantFrom(...valuesOf(name, 100))]));
    const oneOf = (name: FieldName) => values.get(name) ?? fc.constant({});
    const combination = fc
      .subarray([...fieldNames], { minLength: 1, maxLength: 4 })
      .chain((names) => fc.tuple(...names.map(oneOf)))
      .map((filters): Filter => Object.assign({}, ...filters));
    const filters = fc.sample(combination, 20);
    for (const [n, expected] of expectedIds(...filters).entries()) {
      const [filter = {}] = filters.slice(n);
      expect([filter, idsOf(filter).sort()]).toEqual([filter, expected.sort()]);
    }
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
      const ids = new Set(all.filter((opportunity) => meets(filter, opportunity)).map(({ id }) => id));
      const expected = versions.filter(({ id }) => ids.has(id));
      const given = [changed, other, added].filter((each) => each !== undefined);
      expect(whichMayMatch(index, filter, [...given, ...versions], NOW)).toEqual([...given, ...expected]);
      expect(expected.length).toBeGreaterThan(0);
    }
  });

  test("with no filter, all of them", () => {
    const [{ length: rows } = []] = expectedIds({});
    expect(rows).toBeLessThan(all.length);
    expect(idsOf({})).toHaveLength(rows);
    expect(search({ limit: 3 })).toMatchObject({ total: rows, duplicates: all.length - rows });
    expect(search({ allSources: true, limit: 3 })).toMatchObject({ total: all.length, duplicates: 0 });
  });
});

describe("the words of a search", () => {
  const total = (...text: string[]) => search({ text, allSources: true }).total;

  test("as one argument are a phrase", () => {
    expect(total("clinical trial required")).toBeGreaterThan(0);
    expect(total("clinical trial required")).toBe(total('"clinical trial required"'));
    expect(total("required trial clinical")).toBe(0);
  });

  test("are found without their accents", () => {
    expect(total("défense")).toBe(total("defense"));
  });

  test("never make a syntax error", async () => {
    const { db } = await aCatalog(); // Of one record: no other one changes the syntax.
    await storeRecords(db, [anOpportunity({ title: "Quantum" })], NOW);
    const one = openTemporarySearchFile();
    await catchUp(db, one, undefined, NOW);
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.constantFrom('"', "*", "-", "AND", "OR", "NOT", "NEAR(", ")", "title:", "^", "+", "{", "a*b", "-*", '""', "é", "日本", "\0", "'"),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), (words) => {
        try {
          const filter = words.length === 0 ? {} : readFilter({ words }, "the words");
          find(one, { filter, limit: 5, order: "updated" }, { now: NOW, keys: [] }, UNLIMITED);
        } catch (error) {
          expect(String(error)).toMatch(/"words" must have (at least two )?letters or digits/);
        }
      }),
      { numRuns: 200 },
    );
    one.close();
  });

  test("that are none, or too many, are refused", () => {
    expect(() => search({ text: ["&&&", "*"] })).toThrow('"words" must have letters or digits; not "&&& *"');
    expect(() => search({ text: Array.from({ length: 65 }, (_, n) => `a${n}`) })).toThrow('"words" must have at most 64 words');
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
  const sorted = (order: Order) => {
    const byId = new Map(all.map((opportunity) => [opportunity.id, opportunity]));
    return search({ order }).ids.map((id) => byId.get(id) as WholeOpportunity);
  };

  test("by closes has the next deadline first, then those without one, then the past ones", () => {
    const due = sorted("closes")
      .map((each) => dueOf(each, NOW, duplicates.get(each.id) ?? []).at)
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
});

test("findByNumber() finds by the number that people use, and by the beginning of an id", () => {
  const [one] = all.filter(({ program }) => program.solicitation_id === "PAR-25-270");
  expect(findByNumber(index, " par-25-270 ", 10)).toEqual([one?.id ?? ""]);
  expect(findByNumber(index, one?.id.slice(0, 8) ?? "", 10)).toEqual([one?.id ?? ""]);
  expect(findByNumber(index, "nothing", 10)).toEqual([]);
  expect(findByNumber(index, "…", 10)).toEqual([]);
});
