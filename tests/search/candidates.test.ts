/** The records that may match best, against reading every record. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { agencyTag } from "../../src/filter/agency-words.ts";
import { numberTag } from "../../src/filter/question.ts";
import { noSidecar } from "../../src/opportunities/opportunity.ts";
import { ACCEPTING_TAG } from "../../src/search/accepting.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { candidatesFor } from "../../src/search/candidates.ts";
import { RANGE_ROWS, titleTag } from "../../src/search/common-rows.ts";
import { MATCH } from "../../src/search/masks.ts";
import { spellQuestion } from "../../src/search/question.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { vocabularyOf } from "../../src/search/vocabulary.ts";
import { finishBuild, writeRecords } from "../../src/search/write.ts";
import { aContent } from "../support/contents.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);

const NAMES = ["alpha", "bravo", "charlie", "delta"] as const;
/** A name is in one row of so many: in half of them, or in a few. */
const EVERY = { alpha: 2, bravo: 3, charlie: 1009, delta: 5003 } as const;
type Name = keyof typeof EVERY;

/** More rows than three ranges have, so that the first are read from bytes and the last from FTS5. Written in one statement: it is quick. */
const ROWS = 3 * RANGE_ROWS + 5000;
const { sqlite, close } = openSearchFile(aDirectory());
const word = (name: Name) => `case when row % ${EVERY[name]} = 0 then '${name} ' else '' end`;
/** One in 4 rows of alpha has it in the title; of those after the last full range, only the first ones. And one in 2 rows of charlie. */
const TITLED_MAX = 3 * RANGE_ROWS + 1000;
const isTitled = `row % 8 = 0 and row <= ${TITLED_MAX}`;
const hasInTitle = (row: number, name: Name) =>
  name === "alpha" ? row % 8 === 0 && row <= TITLED_MAX : name === "charlie" && row % 2018 === 0;
const rows = `with recursive rows (row) as (select 1 union all select row + 1 from rows where row < ${ROWS})`;
sqlite
  .transaction(() => {
    sqlite.run(`insert into texts (rowid, title, text, tags)
      ${rows} select row, case when ${isTitled} then 'alpha' else '' end || case when row % 2018 = 0 then ' charlie' else '' end, ${NAMES.map(word).join(" || ")},
        case when ${isTitled} then '${titleTag("alpha")} ' else '' end || case when row % 11 = 0 then '${ACCEPTING_TAG} ' else '' end || case when row % 3 = 0 then '${agencyTag("NSF")}' else '' end || case row when 7 then ' ${numberTag("ABC1234")}' else '' end from rows`);
    sqlite.run(
      `insert into records (seq, id, stored_at, number, number_key, status, agency_code) ${rows}
        select row, 'id' || row, 0, '', '', 'S' || (row % 4), case when row % 3 = 0 then 'NSF' end from rows`,
    );
    finishBuild(sqlite);
  })
  .immediate();
afterAll(() => {
  close();
  dropScratch();
});

const has = (row: number, name: Name) => row % EVERY[name] === 0;
const candidates = (text: string, condition?: { sql: string; values: string[] }, most = 100) =>
  candidatesFor(sqlite, spellQuestion(text, vocabularyOf(sqlite)), { condition, most }, UNLIMITED);
const any = ({ matching, partial }: { matching: number; partial: number }) => matching + partial;
const rowsWith = (isMeant: (row: number) => boolean) => Array.from({ length: ROWS }, (_, n) => n + 1).filter(isMeant);

test("a word of half of the records is read from bytes, and the rows after them from FTS5", () => {
  expect(sqlite.query("select count(*) as n from common_rows where stem = 'alpha'").get()).toEqual({ n: 3 });
  expect(any(candidates("alpha"))).toBe(rowsWith((row) => has(row, "alpha")).length);
});

test("a record whose number is asked for matches, whatever its words are", () => {
  expect(candidates("bravo ABC-1234").best[0]).toMatchObject({ seq: 7, isMatch: true });
  expect(candidates("bravo ABC-1234").matching).toBe(1);
});

test("so are the records of an agency with many of them", () => {
  expect(sqlite.query("select count(*) as n from common_rows where stem = ?").get(agencyTag("NSF"))).toEqual({ n: 3 });
  expect(any(candidates("NSF"))).toBe(rowsWith((row) => row % 3 === 0).length);
  expect(candidates("NSF +charlie").matching).toBe(rowsWith((row) => row % 3 === 0 && has(row, "charlie")).length);
});

describe.each([
  [["alpha"]],
  [["charlie"]],
  [["alpha", "bravo"]],
  [["alpha", "charlie"]],
  [["charlie", "delta"]],
  [["alpha", "bravo", "charlie", "delta"]],
] as [Name[]][])("%j", (names) => {
  test("counts what has every word, and what has only some", () => {
    const { matching, partial, isAll } = candidates(names.join(" "));
    const every = rowsWith((row) => names.every((name) => has(row, name))).length;
    expect({ matching, partial, isAll }).toEqual({
      matching: every,
      partial: rowsWith((row) => names.some((name) => has(row, name))).length - every,
      isAll: true,
    });
  });

  test("what matches comes first; then the heaviest rows have most of what is telling, then what can be applied for, then the newest", () => {
    const { best, idf } = candidates(names.join(" "));
    const whole = idf.reduce((sum, each) => sum + each, 0);
    const share = (own: number) => own * (own / whole);
    const weight = (row: number) => {
      const sum = names.reduce((total, name, n) => total + (has(row, name) ? (idf[n] ?? 0) : 0), 0);
      const titled = names.reduce((total, name, n) => total + (hasInTitle(row, name) ? (idf[n] ?? 0) : 0), 0);
      const isMatch = names.every((name) => has(row, name));
      return (isMatch ? 1e6 : 0) + (share(sum) + 0.8 * share(titled)) * (row % 11 === 0 ? 1.25 : 1);
    };
    const expected = rowsWith((row) => weight(row) > 0)
      .map((row) => ({ row, weight: weight(row) }))
      .sort((left, right) => right.weight - left.weight || right.row - left.row)
      .slice(0, 100);
    expect(best.map(({ seq }) => seq)).toEqual(expected.map(({ row }) => row));
  });
});

test.each([
  ["+charlie alpha", (row: number) => has(row, "charlie")],
  ["+charlie +delta alpha", (row: number) => has(row, "charlie") && has(row, "delta")],
  ["alpha -bravo", (row: number) => has(row, "alpha") && !has(row, "bravo")],
  ['"alpha bravo"', (row: number) => has(row, "alpha") && has(row, "bravo")],
  ['"bravo alpha"', () => false],
  ["+nowhere alpha", () => false],
  ["-alpha", () => false],
] as [string, (row: number) => boolean][])("%p is strict where it says so", (text, isMeant) => {
  expect(any(candidates(text))).toBe(rowsWith(isMeant).length);
});

test("filters are strict", () => {
  const { best, ...counted } = candidates("charlie delta", { sql: "status in (?)", values: ["S1"] });
  const expected = rowsWith((row) => row % 4 === 1 && (has(row, "charlie") || has(row, "delta")));
  expect([any(counted), best.map(({ seq }) => seq).sort((left, right) => left - right)]).toEqual([expected.length, expected]);
});

test("tags are no words, and no question has them", () => {
  expect(sqlite.query("select 1 from words where word = ?").get(ACCEPTING_TAG)).toBeNull();
  expect(any(candidates(ACCEPTING_TAG))).toBe(0);
  expect(any(candidates(`alpha -${ACCEPTING_TAG}`))).toBe(any(candidates("alpha")));
});

describe("after many rows were added", () => {
  const MANY = 210_000;
  const { sqlite: grown, close } = openSearchFile(aDirectory());
  const write = (first: number, last: number) => {
    const rows = `with recursive rows (row) as (select ${first} union all select row + 1 from rows where row < ${last})`;
    grown.run(
      `insert into texts (rowid, title, text, tags) ${rows} select row, '', 'alpha' || case row when 1 then ' bravo' else '' end, '' from rows`,
    );
    grown.run(
      `insert into records (seq, id, stored_at, number, number_key, status) ${rows} select row, 'id' || row, 0, '', '', 'S' from rows`,
    );
  };
  grown
    .transaction(() => {
      write(1, RANGE_ROWS);
      finishBuild(grown);
      write(RANGE_ROWS + 1, MANY);
      writeRecords(grown, [], false);
    })
    .immediate();
  afterAll(close);
  const ofGrown = (text: string, condition?: { sql: string; values: string[] }) =>
    candidatesFor(grown, spellQuestion(text, vocabularyOf(grown)), { condition, most: 10 }, UNLIMITED);

  test("none is lost between the bytes and the newest", () => {
    const { matching, isAll } = ofGrown("alpha");
    expect({ matching, isAll }).toEqual({ matching: MANY, isAll: true });
  });

  test("a filter of which not all rows are read says so", () => {
    const { matching, isAll } = ofGrown("alpha", { sql: "status in (?)", values: ["S"] });
    expect({ matching, isAll }).toEqual({ matching: 200_000, isAll: false });
  });

  test("nothing is shown that may have what must not occur", () => {
    const { matching, isAll } = ofGrown("bravo -alpha");
    expect({ matching, isAll }).toEqual({ matching: 0, isAll: false });
  });
});

test("of a phrase that more records have than are read, the newest are found", () => {
  const { sqlite: phrases, close } = openSearchFile(aDirectory());
  const rows = "with recursive rows (row) as (select 1 union all select row + 1 from rows where row < 130000)";
  const text = "case when row > 110000 or row % 2 = 0 then 'golf hotel' else 'hotel golf' end";
  phrases
    .transaction(() => {
      phrases.run(`insert into texts (rowid, title, text, tags) ${rows} select row, '', ${text}, '' from rows`);
      phrases.run(`insert into records (seq, id, stored_at, number, number_key) ${rows} select row, 'id' || row, 0, '', '' from rows`);
      finishBuild(phrases);
    })
    .immediate();
  const question = spellQuestion('"golf hotel"', vocabularyOf(phrases));
  const { matching, isAll, kinds } = candidatesFor(phrases, question, { condition: undefined, most: 10 }, UNLIMITED);
  expect({ matching, isAll, oldest: kinds.indexOf(MATCH) }).toEqual({ matching: 50_000, isAll: false, oldest: 50_002 });
  close();
});

test("a question with more words than are told apart matches only what has all of them", () => {
  const words = "alpha bravo one two three four five six seven eight nine ten eleven";
  expect(candidates(words).matching).toBe(0);
  expect(candidates("alpha bravo NSF").matching).toBe(rowsWith((row) => row % 6 === 0).length);
});

test("a record that was written again is no longer found or counted by the words that it had", () => {
  const [before, old] = [candidates("alpha bravo"), 6];
  const served = { id: `id${old}`, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" };
  const opportunity = { ...aContent({ title: "Changed" }), ...served, sidecar: noSidecar };
  writeRecords(sqlite, [{ opportunity, stored_at: 1, due_at: null, obstacle: null, turns_at: null }], false);
  const after = candidates("alpha bravo", undefined, ROWS);
  expect([after.matching, after.partial]).toEqual([before.matching - 1, before.partial]);
  expect(after.best.some(({ seq }) => seq === old)).toBe(false);
});
