/** A search by who may apply does not hide what says that only in words. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { applicantsInShort } from "../../src/filter/applicants.ts";
import type { Filter } from "../../src/filter/filter.ts";
import type { Draft } from "../../src/import/format.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { search } from "../../src/search/search.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aCatalog, aDirectory, dropScratch, NOON } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const draft = (name: string, applicant_types: string[], of?: string): Draft => ({
  source: { code: "OWN", opportunity_id: name },
  title: `Robots ${name}`,
  applicant_types,
  relationships: { canonical_id: of === undefined ? null : opportunityId("OWN", of) },
});

describe("a search by who may apply", () => {
  test("says how many more opportunities say so only in words, with or without words of its own", async () => {
    const { db, take } = await aCatalog();
    await take([
      draft("A", ["06"]),
      draft("B", ["25"]),
      draft("B2", ["25"], "B"),
      draft("C", ["25", "20"]),
      draft("D", ["22"]),
      draft("E", ["99"]),
      draft("F", ["25"]),
    ]);
    const index = openSearchFile(aDirectory());
    await catchUp(db, index, undefined, NOON);
    const found = async (filter: Filter, allSources = false) => {
      const { total, inWords } = await search(db, index, { filter, limit: 10, allSources }, NOON);
      return { total, inWords };
    };
    expect(await found({ applicant: ["university"] })).toEqual({ total: 3, inWords: 2 });
    expect(await found({ applicant: ["university"] }, true)).toEqual({ total: 3, inWords: 3 });
    expect(await found({ applicant: ["university"], words: "robots" })).toEqual({ total: 3, inWords: 2 });
    expect(await found({ applicant: ["university", "other"] })).toEqual({ total: 5, inWords: 0 });
    expect(await found({ words: "robots" })).toEqual({ total: 6, inWords: 0 });
  });

  test("is answered with who may apply, in short", () => {
    const short = (source: string, applicant_types: string[]) =>
      applicantsInShort({ source: { code: source }, sidecar: { applicant_types } } as Parameters<typeof applicantsInShort>[0]);
    expect([short("OWN", ["20"]), short("OWN", ["99", "25"]), short("OWN", []), short("DSIP", [])]).toEqual([
      "universities",
      "anyone",
      null,
      "small businesses",
    ]);
    expect(short("OWN", ["06", "12", "22", "23", "25"])).toBe("universities, small businesses, for-profits and 2 more kinds");
  });
});
