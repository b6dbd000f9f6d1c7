/** The counts beside the results mean what the total means: opportunities, however many sources have them. The records are real. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { readFilter } from "../../src/filter/filter.ts";
import { formats } from "../../src/import/formats/all.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { search as searchIn } from "../../src/search/search.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { datedFiles } from "../support/dated-files.ts";
import { aCatalog, aDirectory, dropScratch } from "../support/imports.ts";
import { EXCERPTS } from "../support/real-data.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const NOW = Date.parse("2026-11-27T15:00:00Z");
let db: CatalogDb;
let index: SearchFile;

beforeAll(async () => {
  const catalog = await aCatalog();
  for (const { name, path, at } of datedFiles(EXCERPTS, "grants")) {
    const format = formats.find((each) => each.name === name);
    if (format !== undefined) await catalog.takeFiles([path], { format, asOf: at });
  }
  [db, index] = [catalog.db, openSearchFile(aDirectory())];
  await catchUp(db, index, undefined, NOW);
});

const search = async (given: Record<string, string>, allSources: boolean, onlyMatching = true) =>
  searchIn(db, index, { filter: readFilter(given, "filter"), limit: 1, onlyMatching, allSources, budget: UNLIMITED }, NOW);

describe.each([
  ["everything", {}],
  ["what is open", { status: "open" }],
  ["what has a word", { words: "research" }],
  ["what has a word, at two sources", { words: "research", source: "GRANTS_GOV,SIMPLER_GRANTS_GOV,NSF" }],
])("of %s", (_, given: Record<string, string>) => {
  test.each([
    ["the records of one opportunity count once", false],
    ["each record counts if all are shown", true],
  ])("%s, in the total and in each count", async (_, allSources) => {
    const { total, counts } = await search(given, allSources);
    const { total: records } = await search(given, true);
    expect([counts === null, allSources ? total === records : total < records]).toEqual([false, true]);
    for (const [name, values] of Object.entries(counts ?? {})) {
      const narrower = await Promise.all(
        values.map(async ({ value }) => ({ value, records: (await search({ ...given, [name]: value }, allSources)).total })),
      );
      expect({ name, values: narrower }).toEqual({ name, values });
      // The records of an opportunity may differ in a value, so that it counts for both.
      expect(Math.max(...values.map(({ records }) => records))).toBeLessThanOrEqual(total);
    }
    const bySource = counts?.source.reduce((sum, { records }) => sum + records, 0) ?? 0;
    expect(allSources ? bySource === total : bySource > total).toBe(true);
  });
});

test.each([[false], [true]])("what would be found without a filter is the total without it (each record: %p)", async (allSources) => {
  const others = { status: "open", source: "GRANTS_GOV,SIMPLER_GRANTS_GOV,NSF" };
  for (const narrow of [{ naics: "111111" }, { naics: "111111", words: "research" }]) {
    const { total, drop } = await search({ ...others, ...narrow }, allSources);
    const { naics: _, ...without } = { words: undefined, ...narrow };
    const given = Object.entries({ ...others, ...without }).filter((each): each is [string, string] => each[1] !== undefined);
    const found = await search(Object.fromEntries(given), allSources);
    expect([total, drop.find(({ name }) => name === "naics")?.records]).toEqual([0, found.total]);
  }
});

const NOWHERE = "qqzzx";

describe.each([
  ["what has all of the words", "research health", true],
  ["what has some of the words", "research health", false],
  ["what has a phrase", '"research project"', true],
  ["what has a phrase, or its words where nothing has it", '"health research" program', false],
  ["what has words that nothing has", NOWHERE, false],
  ["what lacks a word", "-research", true],
  ["anything", "", true],
])("without each filter in turn, of %s", (_, words, onlyMatching) => {
  test.each([[false], [true]])("the total is what would be found (each record: %p)", async (allSources) => {
    let dropped = 0;
    const searches = [
      { naics: "111111" },
      { min_amount: "900000000000" },
      ...(words === NOWHERE ? [{}] : []),
      { place: "PR", min_amount: "90000000" },
      { source: "NSF", agency: "NIH" },
      { naics: "111111", place: "PR" },
    ];
    for (const narrow of searches) {
      const given: Record<string, string> = { ...(words !== "" && { words }), status: "open", program_type: "GRANT", ...narrow };
      const { total, drop } = await search(given, allSources, onlyMatching);
      expect({ given, total }).toEqual({ given, total: 0 });
      const found = [];
      for (const name of Object.keys(given)) {
        const others = Object.fromEntries(Object.entries(given).filter(([each]) => each !== name));
        found.push({ name, records: (await search(others, allSources, onlyMatching)).total });
      }
      const byName = (some: readonly { name: string; records: number }[]) =>
        Object.fromEntries(some.filter(({ records }) => records > 0).map(({ name, records }) => [name, records]));
      expect(byName(drop)).toEqual(byName(found));
      dropped += drop.length;
    }
    expect(dropped).toBeGreaterThan(0);
  });
});
