/** What can be applied for is counted by opportunity, whatever number of sources have it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Draft } from "../../src/import/record.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
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
      coming: 1,
      dueAt: [Date.parse(closes)],
      departments: [
        ["HHS", 2, 2, 1_000_000_000_000_000_000_100n],
        ["DOD", 1, 1, 20n],
        [undefined, 1, 1, 0n],
      ],
    });
  });

  test("counts again when the index has changed", async () => {
    const count = await counting();
    expect(await count(aRecord("A"))).toMatchObject({ open: 1, coming: 0 });
    expect(await count(aRecord("A", { status: "closed" }), aRecord("B", { status: "pre_release" }))).toEqual({
      open: 0,
      coming: 1,
      dueAt: [],
      departments: [],
    });
  });
});
