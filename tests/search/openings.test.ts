/** What can be applied for is counted by opportunity, whatever number of sources have it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Draft } from "../../src/import/format.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { LETTER } from "../../src/opportunities/opportunity.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { countOpenings } from "../../src/search/openings.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aCatalog, aDirectory, dropScratch, NOON, SECOND } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const [NIH, NAVY] = ["National Institutes of Health", "Department of the Navy"];

type Fields = { status?: string; of?: string; agency?: string; most?: string; closes?: string };

function aRecord(name: string, { status = "open", of, agency = NIH, most, closes }: Fields = {}): Draft {
  return {
    source: { code: "OWN", opportunity_id: name },
    title: `Title ${name}`,
    status,
    relationships: { canonical_id: of === undefined ? null : opportunityId("OWN", of) },
    organization: { agency, sub_agency: null, issuing_office: null },
    funding: most === undefined ? null : { currency: "USD", amount_min: null, amount_max: most, display: null },
    dates: { posted_at: null, opens_at: null, closes_at: closes ?? null, response_at: null },
  };
}

describe("countOpenings()", () => {
  async function counting() {
    const { db, clock, take } = await aCatalog();
    const index = openSearchFile(aDirectory());
    return async (...records: Draft[]) => {
      clock.now += SECOND;
      await take(records);
      await catchUp(db, index, undefined, NOON);
      const { departments, ...counts } = countOpenings(index);
      const lines = departments.map(({ agency, opportunities, withAmount, amount }) => [agency?.code, opportunities, withAmount, amount]);
      return { ...counts, departments: lines };
    };
  }

  test("counts each opportunity once, in each department that offers it, and knows the first of several records", async () => {
    const count = await counting();
    const closes = "2027-05-01T12:00:00Z";
    expect(
      await count(
        aRecord("A", { most: "100.99", closes }),
        aRecord("A2", { of: "A", most: "7000" }),
        aRecord("A3", { of: "A", agency: NAVY, most: "20" }),
        aRecord("B", { status: "closed", most: "5000000" }),
        aRecord("B2", { of: "B", most: "1000000000000000000000" }),
        aRecord("C", { agency: "Nobody knows this one", most: "-5" }),
        aRecord("D", { status: "forecast" }),
        aRecord("E", { status: "awarded" }),
      ),
    ).toEqual({
      open: 3,
      uncounted: [],
      coming: 1,
      dueAt: [Date.parse(closes)],
      departments: [
        ["HHS", 2, 2, 1_000_000_000_000_000_000_100n],
        ["DOD", 1, 1, 20n],
        [undefined, 1, 1, 0n],
      ],
    });
  });

  test("does not count tests, letters, titles that say cancelled, nor what has no due date left, and says how many", async () => {
    const count = await counting();
    const titled = (name: string, title: string): Draft => ({ ...aRecord(name), title });
    expect(
      await count(
        aRecord("A"),
        titled("B", "This is a test. Please DO NOT submit."),
        titled("C", "CANCELLED: robots"),
        { ...aRecord("D"), status_display: LETTER },
        { ...aRecord("E"), due_dates: [{ at: "2020-01-01T12:00:00Z", words: null }] },
        titled("F", "This is a test"),
        { ...aRecord("G", { status: "closed" }), title: "This is a test" },
      ),
    ).toMatchObject({
      open: 1,
      uncounted: [
        { obstacle: "test", opportunities: 2 },
        { obstacle: "cancelled", opportunities: 1 },
        { obstacle: "letter", opportunities: 1 },
        { obstacle: "over", opportunities: 1 },
      ],
      departments: [["HHS", 1, 0, 0n]],
    });
  });

  test("counts again when the index has changed", async () => {
    const count = await counting();
    expect(await count(aRecord("A"))).toMatchObject({ open: 1, coming: 0 });
    expect(await count(aRecord("A", { status: "closed" }), aRecord("B", { status: "pre_release" }))).toEqual({
      open: 0,
      uncounted: [],
      coming: 1,
      dueAt: [],
      departments: [],
    });
  });
});
