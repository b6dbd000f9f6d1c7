/** A code that an upstream sends is looked up among the known codes, never among what every object has. */
import { describe, expect, test } from "bun:test";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { sbirGov } from "../../src/import/formats/sbir-gov.ts";
import { simplerGrantsGov } from "../../src/import/formats/simpler-grants-gov.ts";
import { readFormat, textInput } from "../support/read-format.ts";
import { realFile } from "../support/real-data.ts";

describe.each(["constructor", "toString", "__proto__", "hasOwnProperty"])("the code %s", (code) => {
  test("of a Grants.gov extract is its own label", async () => {
    const xml = `<Grants><OpportunitySynopsisDetail_1_0><OpportunityID>1</OpportunityID>
      <OpportunityCategory>${code}</OpportunityCategory><FundingInstrumentType>${code}</FundingInstrumentType>
      </OpportunitySynopsisDetail_1_0></Grants>`;
    const { drafts, refused, warnings } = await readFormat(grantsGov, [textInput(xml)]);
    expect(refused).toEqual([]);
    expect(drafts).toMatchObject([{ program: { contract_class: code }, classifications: { keywords: [code] } }]);
    expect(warnings).toContain(`Unknown funding instrument "${code}" is kept as it is`);
  });

  test("of Grants.gov's details has the label that comes with it", async () => {
    const types = [{ id: code, description: "Everybody" }];
    const details = JSON.stringify({ id: 1, opportunityTitle: "T", synopsis: { applicantTypes: types, fundingInstruments: types } });
    const { drafts, refused } = await readFormat(grantsGov, [textInput(details)]);
    expect(refused).toEqual([]);
    expect(drafts).toMatchObject([{ program: { contract_class: "Everybody" }, eligibility: { requirements: "Everybody" } }]);
  });

  test("of an agency at SBIR.gov is its own name", async () => {
    const solicitations = JSON.stringify([{ solicitation_number: "S1", solicitation_title: "T", agency: code, current_status: "open" }]);
    const { drafts, refused, warnings } = await readFormat(sbirGov, [textInput(solicitations)]);
    expect(refused).toEqual([]);
    expect(drafts).toMatchObject([{ organization: { agency: code } }]);
    expect(warnings).toContain(`unknown agency "${code}"`);
  });

  test("of a Simpler.Grants.gov export is its own label", async () => {
    const [header = ""] = realFile("simpler-grants-gov/grants-search-20260617.csv").toString().split("\r\n");
    const row = header
      .split(",")
      .map((column) =>
        /^(opportunity_id|opportunity_title|category|funding_instruments)$/.test(column.replaceAll(/["\ufeff]/g, "")) ? code : "",
      );
    const { drafts, refused } = await readFormat(simplerGrantsGov, [textInput(`${header}\r\n${row.join(",")}\r\n`)]);
    expect(refused).toEqual([]);
    expect(drafts).toMatchObject([{ program: { contract_class: code }, classifications: { keywords: [code] } }]);
  });
});
