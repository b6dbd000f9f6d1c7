/** What a question prefers: it changes the order, never what matches, and a filter makes it strict. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import type { Filter } from "../../src/filter/filter.ts";
import { readQuestion } from "../../src/filter/question.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { wantedOf, worthIn } from "../../src/search/preferred.ts";
import { search as searchIn } from "../../src/search/search.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
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

const search = (words: string, filter: Filter = {}, more: { limit?: number; sort?: "closes" } = {}) =>
  searchIn(catalog, index, { filter: { ...filter, words }, limit: 1, ...more, budget: UNLIMITED }, NOW);
/** With all that it finds. */
const searchAll = (words: string, filter?: Filter) => search(words, filter, { limit: 5000 });
const idsOf = (page: Awaited<ReturnType<typeof search>>) =>
  page.results.filter(({ isMatch }) => isMatch).map(({ opportunity }) => opportunity.id);

test.each([
  ["research at least two million", "research"],
  ["research closing this month", "research"],
  ["services in Texas", "services Texas"],
  ["can a county apply for research", "research"],
  ["services SDVOSB", "services"],
  ["who won the repair contract", "repair contract"],
  ["research but not for the navy", "research"],
  ["research except navy and army", "research"],
])("%p matches what %p matches, and its filter finds as many as it says", async (question, plain) => {
  const [page, without, dated] = [await searchAll(question), await searchAll(plain), await search(question, {}, { sort: "closes" })];
  const [preferred] = page.understood?.preferences ?? [];
  const { filter: { words = "", ...filter } = {}, opportunities } = preferred ?? {};
  expect(idsOf(page).toSorted()).toEqual(idsOf(without).toSorted());
  expect(opportunities).toBeGreaterThan(0);
  expect((await search(`${question} ${words}`, filter)).matching).toBe(opportunities ?? -1);
  expect(dated.understood?.preferences).toEqual(page.understood?.preferences ?? []);
  expect(words !== "" || (await search(question, filter)).understood?.preferences.length === 0).toBe(true);
});

test("what meets a preference is worth more, also where its words weigh nothing", () => {
  const rows = (condition: string) =>
    (index.sqlite.query(`select seq from records where ${condition}`).values() as [number][]).map(([row]) => row);
  const [inTexas = 0, elsewhere = 0] = [rows("instr(place, char(10) || 'TX' || char(10)) > 0")[0], rows("place = ''")[0]];
  const worth = worthIn(index.sqlite, wantedOf(readQuestion("services in TX").preferences, {}, NOW), [inTexas, elsewhere]);
  expect(worth(0, inTexas)).toBeGreaterThan(0);
  expect(worth(2, inTexas)).toBeGreaterThan(worth(0, inTexas) + 2);
  expect([worth(0, elsewhere), worth(2, elsewhere)]).toEqual([0, 2]);
});

test("what names a set-aside in its texts is preferred, too", () => {
  const [preference] = readQuestion("services SDVOSB").preferences;
  const wanted = wantedOf(preference === undefined ? [] : [preference], {}, NOW);
  const { sqlite } = index;
  const rowsOf = (sql: string) => (sqlite.query<unknown, []>(sql).values() as [number][]).map(([row]) => row);
  const strict = new Set(rowsOf("select seq from records where set_aside like '%SDVOSB%'"));
  const inTexts = rowsOf("select rowid from texts where texts match 'sdvosb'").filter((row) => !strict.has(row));
  expect(inTexts.length).toBeGreaterThan(0);
  const worth = worthIn(sqlite, wanted, inTexts);
  expect(inTexts.filter((row) => worth(0, row) === 0)).toEqual([]);
});

test("what meets a preference comes before what answers as well", async () => {
  const rank = async (question: string) => {
    const [inTexas, page] = [new Set(idsOf(await searchAll("services", { place: ["TX"] }))), await searchAll(question)];
    const places = idsOf(page).flatMap((id, place) => (inTexas.has(id) ? place : []));
    return places.reduce((sum, place) => sum + place, 0) / places.length;
  };
  expect(await rank("services in TX")).toBeLessThan(await rank("services"));
});
