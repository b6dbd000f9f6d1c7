/** Answers of Grants.gov that are easily misread: a forecast beside its synopsis, one number of five opportunities, errors with status 200. */
import { afterAll, describe, expect, test } from "bun:test";
import { grantsGov } from "../../../../src/import/formats/grants-gov/extract.ts";
import { wholeDocument } from "../../../../src/import/readers/json-elements.ts";
import { opportunityId } from "../../../../src/opportunities/identity.ts";
import type { Opportunity } from "../../../../src/opportunities/opportunity.ts";
import { aCatalog, documentOf, documentsOf, dropScratch } from "../../../support/imports.ts";
import { readFormat, realInput, textInput } from "../../../support/read-format.ts";
import { realJson, realPath } from "../../../support/real-data.ts";

afterAll(dropScratch);

const DETAILS = "grants-gov/fetchOpportunity-361403-202607.json";
const answers = realJson<Record<string, object>>("grants-gov/number-collision-and-errors-202609.json");
const search = (oppHits: unknown) => JSON.stringify({ errorcode: 0, data: { hitCount: 6, oppHits } });

describe("an opportunity with forecast and synopsis", () => {
  test("is what its synopsis says", async () => {
    const { drafts, refused, warnings } = await readFormat(grantsGov, [await realInput(DETAILS)]);
    expect([refused, warnings]).toEqual([[], []]);
    expect(drafts[0]).toMatchObject({
      source: { opportunity_id: "361403" },
      program: { type: "GRANT", solicitation_id: "HHS-2026-ACL-AOD-DFLA-0025", contract_class: "Cooperative Agreement" },
      organization: { agency: "Department of Health and Human Services", sub_agency: "Administration for Community Living" },
      funding: {
        amount_min: "1000000.00",
        amount_max: "1200000.00",
        display: "Up to $1,200,000 per award; $3,000,000 total; 1 award expected",
      },
      dates: { posted_at: "2026-06-22T00:00:00-04:00", closes_at: "2026-08-03T23:59:59-04:00" },
    });
    expect(drafts[0]?.status).toBeUndefined();
  });

  test("is one record with its hit in a search, and again a no-op", async () => {
    const catalog = await aCatalog();
    catalog.clock.now = Date.UTC(2026, 6, 15, 12);
    expect(await catalog.takeFiles([realPath(DETAILS)], { format: grantsGov })).toMatchObject({ read: 1, added: 1, rejected: 0 });
    expect(await catalog.takeFiles([realPath(DETAILS)], { format: grantsGov })).toMatchObject({ unchanged: 1, events: 0 });
    expect((await documentOf(catalog.db, "361403")).status).toBe("open");
  });
});

describe("one number of five opportunities", () => {
  test("all are imported, each under its own id", async () => {
    const catalog = await aCatalog();
    expect(await catalog.take(search(answers.OPP_NUM_1_HITS), { format: grantsGov })).toMatchObject({ read: 6, added: 6, rejected: 0 });
    const numbers = (await documentsOf(catalog.db)).map(({ program }) => (program as Opportunity["program"]).solicitation_id);
    expect(numbers.filter((number) => number === "1")).toHaveLength(5);
  });

  test("links nothing, while a number of one opportunity does", async () => {
    const catalog = await aCatalog();
    const simpler = (id: string, solicitation_id: string) => ({
      source: { code: "SIMPLER_GRANTS_GOV", opportunity_id: id },
      title: "T",
      program: { solicitation_id },
    });
    await catalog.take([simpler("a", "1"), simpler("b", "21561-9-F017A")]);
    expect(await catalog.take(search(answers.OPP_NUM_1_HITS), { format: grantsGov })).toMatchObject({ linked: 1 });
    await catalog.take([simpler("c", "1")]);
    const canonical = async (id: string) => ((await documentOf(catalog.db, id)).relationships as Opportunity["relationships"]).canonical_id;
    expect([await canonical("a"), await canonical("b"), await canonical("c")]).toEqual([null, opportunityId("GRANTS_GOV", "47142"), null]);
  });
});

describe("an error with status 200", () => {
  const errors: [string, string][] = [
    ["detail_not_found_answer", "There is no record found for your search."],
    ["detail_backend_unavailable_answer", "No response received, as the webservice at the backend server"],
    ["detail_id_required_answer", "Opportunity ID or opportunity number is required."],
  ];
  test.each(errors)("%s is refused with the upstream's words", async (name, message) => {
    for (const answer of [answers[name], { errorcode: 0, msg: "Webservice Succeeds", data: answers[name] }]) {
      const input = textInput(JSON.stringify(answer), "details.json");
      await expect(readFormat(grantsGov, [input])).rejects.toThrow(
        `Cannot import details.json: it is an error message of Grants.gov: ${message}`,
      );
    }
  });

  test("among other responses is rejected alone", async () => {
    const { refused, kept } = await readFormat(grantsGov, [
      textInput(JSON.stringify([answers.detail_not_found_answer, realJson(DETAILS)])),
    ]);
    expect(refused).toEqual(["the element is an error message of Grants.gov: There is no record found for your search."]);
    expect([...kept.keys()]).toEqual(["361403"]);
  });
});

test("a document of 16 MiB, as pull stores the longest page, is read whole, and a longer one is refused", async () => {
  const blanks = (length: number) =>
    async function* () {
      yield Buffer.from(`[]${" ".repeat(length - 2)}`);
    };
  expect(await wholeDocument({ bytes: blanks(16 * 1024 ** 2) })).toEqual([]);
  const tooLong = wholeDocument({ bytes: blanks(16 * 1024 ** 2 + 1) });
  await expect(tooLong).rejects.toThrow("it has more than 16777216 characters, as no real file has");
});
