import { describe, expect, test } from "bun:test";
import type { Draft } from "../../../src/import/format.ts";
import { simplerGrantsGov } from "../../../src/import/formats/simpler-grants-gov.ts";
import { bytesOf, countBy, readFormat, realInput, textInput } from "../../support/read-format.ts";

const EXPORT = "simpler-grants-gov/grants-search-20260617.csv";

async function exportText(): Promise<string> {
  return String(await bytesOf(await realInput(EXPORT)));
}

describe("the real export", () => {
  test("124 opportunities, none refused, each of its words known", async () => {
    const { drafts, kept, refused, warnings } = await readFormat(simplerGrantsGov, [await realInput(EXPORT)]);

    expect(refused).toEqual([]);
    expect(warnings).toEqual([]);
    expect([drafts.length, kept.size]).toEqual([124, 124]);
    expect(countBy(drafts, ({ status }) => status)).toEqual({ undefined: 120, forecast: 4 });
    expect(countBy(drafts, ({ program }) => program?.type)).toEqual({ GRANT: 104, BAA: 12, CONTRACT: 2, OTHER: 4, RFI: 2 });
  });

  test("a forecast", async () => {
    const { kept } = await readFormat(simplerGrantsGov, [await realInput(EXPORT)]);
    const { summary, description, eligibility, ...draft } = kept.get("2c4ecb8c-7777-42c5-ac08-3c642e70ca1a") as Draft;

    expect(description).toStartWith("<p>This is Advance Notice to Industry of an upcoming require");
    expect(summary).toStartWith("This is Advance Notice to Industry of an upcoming require");
    expect(eligibility?.requirements).toStartWith(
      'Others (see text field entitled "Additional Information on Eligibility" for clarification); ' +
        "Public and State controlled institutions of higher education; Private institutions of higher education",
    );
    expect(draft).toEqual({
      deadline_note: "This is Advance Notice to Industry of an upcoming requirement that will be posted on SAM.GOV",
      source: {
        code: "SIMPLER_GRANTS_GOV",
        opportunity_id: "2c4ecb8c-7777-42c5-ac08-3c642e70ca1a",
        url: "https://simpler.grants.gov/opportunity/2c4ecb8c-7777-42c5-ac08-3c642e70ca1a",
      },
      title: "Trusted Partner Program-Draft Solicitation-Advance Notice to Industry",
      status: "forecast",
      status_display: "Forecasted",
      archives_at: "2026-09-02T00:00:00-04:00",
      organization: { agency: "Department of Defense", sub_agency: "Dept of the Army -- Materiel Command" },
      program: {
        type: "CONTRACT",
        solicitation_id: "W911NF26RA009",
        solicitation_title: "Trusted Partner Program-Draft Solicitation-Advance Notice to Industry",
        contract_class: "Procurement Contract",
      },
      funding: { currency: "USD", amount_min: null, amount_max: null, display: "5 awards expected; fiscal year 2026" },
      dates: { posted_at: "2026-04-17T00:00:00-04:00", opens_at: null, closes_at: null },
      classifications: {
        keywords: [
          "Other",
          "This is Advance Notice to Industry for-Trusted Partner Program",
          "Science and Technology and other Research and Development",
          "Basic Scientific Research",
        ],
        tech_taxonomy: ["FAC:ST", "ALN:12.431"],
      },
      contacts: [
        { name: "Nneka Iwelu", email: "usarmy.rtp.devcom-arl.mbx.aro-tpp@army.mil", phone: "9195494316", role: "Grantor contact" },
      ],
      attachments: [
        {
          name: "SAM.gov with full draft announcement",
          url: "https://sam.gov/workspace/contract/opp/629e0be660b043b99a133e3a3ca37147/view",
        },
      ],
      applicant_types: ["25", "06", "20"],
      agency_codes: ["DOD-AMC"],
    });
  });
});

describe("bad files", () => {
  test.each([
    ["cut behind a field", (text: string) => text.slice(0, text.lastIndexOf('","') + 1), "has 39 fields where the header has 40"],
    [
      "without a column",
      (text: string) => text.replace('"opportunity_number",', '"number",'),
      'the header has no column "opportunity_number"',
    ],
    ["of another kind", () => "<html></html>", "the header has no column"],
  ])("an export %s is refused as a whole", async (_, spoil, fault) => {
    const input = textInput(spoil(await exportText()), "grants.csv");
    await expect(readFormat(simplerGrantsGov, [input])).rejects.toThrow(new RegExp(`^Cannot import grants\\.csv: .*${fault}`));
  });

  test("a row without an id is rejected alone", async () => {
    const text = (await exportText()).replace("bd6919ad-cdb2-4d77-afb9-696d40ca3c38", "");
    const { drafts, refused } = await readFormat(simplerGrantsGov, [textInput(text)]);
    expect([drafts.length, refused]).toEqual([123, ["opportunity_id must not be blank"]]);
  });

  test("a semicolon in the title of an assistance listing does not begin another listing", async () => {
    const listings = "12.420|Military Medical; Research;93.310|Trans-NIH";
    const text = (await exportText()).replace(/"\d\d\.\d{3}\|[^"]*"/, `"${listings}"`);
    const { drafts } = await readFormat(simplerGrantsGov, [textInput(text)]);
    const { keywords, tech_taxonomy } =
      drafts.find(({ classifications }) => classifications?.keywords?.includes("Trans-NIH"))?.classifications ?? {};
    expect(keywords).toContain("Military Medical; Research");
    expect(tech_taxonomy?.filter((code) => code.startsWith("ALN:"))).toEqual(["ALN:12.420", "ALN:93.310"]);
  });

  test("unknown words pass through with a warning", async () => {
    const text = (await exportText()).replace('"cooperative_agreement;grant"', '"barter;grant"').replace('"posted"', '"paused"');
    const { drafts, warnings } = await readFormat(simplerGrantsGov, [textInput(text)]);
    expect(drafts[0]?.program?.contract_class).toBe("barter; Grant");
    expect(warnings).toEqual([
      'Unknown opportunity_status "paused" is taken for posted',
      'Unknown funding_instruments "barter" is kept as it is',
    ]);
  });
});
