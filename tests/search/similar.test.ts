/** What is like an opportunity, in all records of `tests/data`, and the rounds of a call. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { numberOf, type WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { UNLIMITED } from "../../src/search/budget.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { groupsOf } from "../../src/search/find.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { findSimilar } from "../../src/search/similar.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { aCatalog, aDirectory, dropScratch, NOON, opportunitiesOf } from "../support/imports.ts";

setDefaultTimeout(300_000);

let catalog: CatalogDb;
let all: WholeOpportunity[];
let index: SearchFile;

beforeAll(async () => {
  ({ db: catalog, all } = await aCatalogOfAll());
  index = openSearchFile(await anIndexOfAll());
});
afterAll(() => {
  index.close();
  dropScratch();
});

const withNumber = (number: string): WholeOpportunity => {
  const found = all.find((each) => numberOf(each) === number);
  if (found === undefined) throw new Error(`No record has the number ${number}`);
  return found;
};

describe("findSimilar()", () => {
  test.each([
    ["PAR-25-270", ["PAR-25-271", "PAR-25-269"]],
    ["PAR-25-271", ["PAR-25-270", "PAR-25-269"]],
  ])("of %s finds %j first, with the words that both have", async (number, expected) => {
    const { words, similar } = await findSimilar(catalog, index, withNumber(number), 5, NOON, UNLIMITED);
    const numbers = similar.map(({ opportunity }) => numberOf(opportunity));
    for (const each of expected) expect(numbers).toContain(each);
    for (const { shared } of similar) {
      expect(shared.length).toBeGreaterThanOrEqual(2);
      expect(words).toEqual(expect.arrayContaining(shared));
    }
  });

  test("never finds the record itself, nor another one of the same opportunity", async () => {
    const groups = groupsOf(
      index,
      all.map(({ id }) => id),
    );
    const duplicates = all.filter(({ id }) => groups.get(id) !== id).slice(0, 5);
    expect(duplicates.length).toBeGreaterThan(0);
    for (const duplicate of duplicates) {
      const { similar, rounds } = await findSimilar(catalog, index, duplicate, 5, NOON, UNLIMITED);
      for (const { opportunity } of [...similar, ...rounds]) expect(groups.get(opportunity.id)).not.toBe(groups.get(duplicate.id));
    }
  });
});

describe("rounds of a call", () => {
  type Given = { number: string; title?: string; agency?: string; posted?: string };
  const roundsOf = async (one: Given, ...others: readonly Given[]) => {
    const { db, take } = await aCatalog();
    const record = (
      { number, title = "Oceanographic Facilities and Equipment", agency = "NSF", posted = "2024-01-01" }: Given,
      n: number,
    ) => ({
      source: { code: "OWN", opportunity_id: `${n}` },
      program: { solicitation_id: number },
      title,
      organization: { agency },
      dates: { posted_at: `${posted}T00:00:00Z` },
    });
    await take([one, ...others].map(record));
    const own = openSearchFile(aDirectory());
    await catchUp(db, own);
    const asked = (await opportunitiesOf(db)).find(({ source }) => source.opportunity_id === "0") as WholeOpportunity;
    const { rounds, similar } = await findSimilar(db, own, asked, 5, NOON, UNLIMITED);
    own.close();
    const named = rounds.map(({ opportunity, isEarlier }) => `${isEarlier ? "earlier" : "later"} ${numberOf(opportunity)}`);
    expect(similar.filter(({ opportunity }) => rounds.some((round) => round.opportunity.id === opportunity.id))).toEqual([]);
    return named;
  };

  test.each([
    ["another year", { number: "PD-20-7236" }, "earlier PD-20-7236"],
    ["another year of the last century", { number: "PD-91-7236" }, "earlier PD-91-7236"],
    ["a later year, whatever the dates say", { number: "PD-25-1", posted: "2019-01-01" }, "later PD-25-1"],
    ["almost the same title", { number: "PD-20-1", title: "Oceanographic Facilities and Equipment Support" }, "earlier PD-20-1"],
    ["another sequence, months apart", { number: "PD-23-9000", posted: "2023-01-01" }, "earlier PD-23-9000"],
    ["another sequence in the same month", { number: "PD-23-9000", posted: "2024-01-20" }, undefined],
    ["another kind of number", { number: "PAR-20-7236" }, undefined],
    ["the same number", { number: "PD-23-7236" }, undefined],
    ["another agency", { number: "PD-20-7236", agency: "NASA" }, undefined],
    ["another title", { number: "PD-20-7236", title: "Oceanographic Sensors and Equipment" }, undefined],
  ] as [string, Given, string | undefined][])("%s", async (_, other, expected) => {
    expect(await roundsOf({ number: "PD-23-7236" }, other)).toEqual(expected === undefined ? [] : [expected]);
  });

  test("the latest first, and goods are bought again without being rounds", async () => {
    expect(await roundsOf({ number: "PD-23-1" }, { number: "PD-20-1" }, { number: "PD-25-1" }, { number: "PD-21-1" })).toEqual([
      "later PD-25-1",
      "earlier PD-21-1",
      "earlier PD-20-1",
    ]);
    const goods = { title: "59--FILTER,LOW PASS" };
    expect(await roundsOf({ number: "SPE7M-26-T-1", ...goods }, { number: "SPE7M-25-T-2", ...goods })).toEqual([]);
  });
});
