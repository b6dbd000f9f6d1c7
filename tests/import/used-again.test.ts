/** A number of SAM.gov that an office uses again long after the deadline: another opportunity, although number and title are the same. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, dropScratch, opportunitiesOf } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";

afterAll(dropScratch);

const [notice = {}] = realJson<{ opportunitiesData: Record<string, unknown>[] }>("sam-gov/v2-search-20260202.json").opportunitiesData;
const kind = { type: "Solicitation", baseType: "Solicitation", archiveDate: null, active: "Yes" };
/** A version of the notice. GPO used a number of June 2023 again in August 2025. */
const version = (n: number, postedDate: string, responseDeadLine: string | null) => ({
  ...notice,
  ...kind,
  noticeId: `${n}`.repeat(32),
  postedDate,
  responseDeadLine,
});
const first = version(1, "2023-06-15", "2023-06-22T11:00:00-04:00");
const amended = version(2, "2024-06-10", "2024-09-03T11:00:00-04:00");
const again = version(3, "2025-08-18", "2025-08-26T15:00:00-04:00");
const third = version(4, "2027-01-04", "2027-01-20T15:00:00-05:00");

/** The upstream ids and deadlines of the records after these imports, each of some notices. */
async function recordsAfter(...imports: object[][]) {
  const { takeFiles, db } = await aCatalog();
  for (const opportunitiesData of imports)
    expect(await takeFiles([aFile(JSON.stringify({ opportunitiesData }))], { format: samGov })).toMatchObject({ rejected: 0 });
  expect(await checkCatalog(db)).toEqual([]);
  const records = await opportunitiesOf(db);
  return records.map(({ source, dates }) => `${source.opportunity_id[0]} ${dates.closes_at?.slice(0, 10)}`).sort();
}

describe("a number of SAM.gov", () => {
  test("that is used again more than a year after the deadline is another record, in one import or in several", async () => {
    const both = ["1 2023-06-22", "3 2025-08-26"];
    for (const imports of [[[first, again]], [[first], [again]], [[again], [first]], [[first], [again], [first], [again, first]]])
      expect(await recordsAfter(...imports)).toEqual(both);
    expect(await recordsAfter([first], [again], [third])).toEqual([...both, "4 2027-01-20"]);
  });

  test("whose second round gets another title on another day still has two records", async () => {
    const retitled = { ...version(5, "2025-09-02", "2025-09-30T15:00:00-04:00"), title: "Entirely different words" };
    for (const imports of [[[first, again, retitled]], [[first], [again], [retitled]], [[first, again], [retitled]]])
      expect(await recordsAfter(...imports)).toEqual(["1 2023-06-22", "5 2025-09-30"]);
  });

  test("that goes on within a year of the deadline is one record", async () => {
    for (const imports of [[[first, amended, again]], [[first], [amended], [again]]])
      expect(await recordsAfter(...imports)).toEqual(["3 2025-08-26"]);
  });

  test("of which no version states a deadline is one record", async () => {
    const [one, other] = [version(1, "2023-06-15", null), version(3, "2025-08-18", null)];
    expect(await recordsAfter([one], [other])).toEqual(["3 undefined"]);
  });
});
