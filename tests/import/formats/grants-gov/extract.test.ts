import { afterAll, describe, expect, test } from "bun:test";
import type { Draft } from "../../../../src/import/format.ts";
import { grantsGov } from "../../../../src/import/formats/grants-gov/extract.ts";
import { aCatalog, dropScratch } from "../../../support/imports.ts";
import { countBy, megabytesOf, readFormat, realInput, statedAt, textInput } from "../../../support/read-format.ts";

afterAll(dropScratch);

const ATTACHMENTS = "https://apply07.grants.gov/grantsws/rest/opportunity/att/download";

const extract = (...records: string[]) =>
  textInput(`<?xml version="1.0"?><Grants xmlns="http://apply.grants.gov/system/OpportunityDetail-V1.0">${records.join("")}</Grants>`);
const elements = (fields: Record<string, string>) =>
  Object.entries({ OpportunityID: "1", ...fields }).map(([name, text]) => `<${name}>${text}</${name}>`);
const synopsis = (fields: Record<string, string>) =>
  `<OpportunitySynopsisDetail_1_0>${elements(fields).join("")}</OpportunitySynopsisDetail_1_0>`;
const forecast = (fields: Record<string, string>) =>
  `<OpportunityForecastDetail_1_0>${elements(fields).join("")}</OpportunityForecastDetail_1_0>`;

async function draftOf(record: string): Promise<Draft> {
  const { drafts } = await readFormat(grantsGov, [extract(record)]);
  return drafts[0] as Draft;
}

describe("real files", () => {
  test.each([
    ["derived/GrantsDBExtract20250821v2.reconstructed.xml.gz", "2025-08-21T12:00:00Z", 1011, { null: 1011 }],
    ["derived/GrantsDBExtract20260726v2.reconstructed.xml.gz", "2026-07-26T12:00:00Z", 483, { null: 462, forecast: 21 }],
    ["derived/GrantsDBExtract20260730v2.reconstructed.xml.gz", "2026-07-30T12:00:00Z", 494, { null: 473, forecast: 20, archived: 1 }],
    ["derived/GrantsDBExtract20260803v2.reconstructed.xml.gz", "2026-08-03T12:00:00Z", 485, { null: 457, forecast: 28 }],
    ["grants-extract-legacy-dtd.xml", "2015-08-13T12:00:00Z", 34, { null: 7, archived: 27 }],
    ["search-20150813.json", "2015-08-13T12:00:00Z", 1371, { null: 1371 }],
    ["search2-sample-202607.json", "2026-07-26T12:00:00Z", 2, { null: 1, forecast: 1 }],
    ["derived/search2-20250821.reconstructed.json", "2025-08-21T12:00:00Z", 1011, { null: 1011 }],
    ["derived/search2-20260726.reconstructed.json", "2026-07-26T12:00:00Z", 483, { null: 462, forecast: 21 }],
    ["derived/search2-20260730.reconstructed.json", "2026-07-30T12:00:00Z", 494, { null: 473, forecast: 21 }],
    ["derived/search2-20260803.reconstructed.json", "2026-08-03T12:00:00Z", 485, { null: 457, forecast: 28 }],
    ["opportunity-details-358302.json", "2025-05-01T12:00:00Z", 1, { null: 1 }],
  ])("%s as of %s: %d opportunities, none refused", async (name, now, count, statuses) => {
    const { drafts, refused } = await readFormat(grantsGov, [await realInput(`grants-gov/${name}`)]);

    expect(refused).toEqual([]);
    expect(drafts).toHaveLength(count);
    expect(countBy(drafts, (draft) => statedAt(draft, now))).toEqual(statuses);
  });

  test("a synopsis of the extract", async () => {
    const { kept } = await readFormat(grantsGov, [await realInput("grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz")]);
    const { summary, description, ...draft } = kept.get("360246") as Draft;

    expect(description).toStartWith(
      "A. Program Description 1. Goals and Objectives Goal: Promote Transparency by Enhancing Citizens&#8217; Access",
    );
    expect(summary).toStartWith("A. Program Description 1. Goals and Objectives Goal: Promote Transparency by Enhancing Citizens’ Access");
    expect(draft).toEqual({
      source: { code: "GRANTS_GOV", opportunity_id: "360246", url: "https://www.grants.gov/search-results-detail/360246" },
      title: "Promote Transparency by Enhancing Citizens’ Access to Information on Public Revenues.",
      organization: { agency: "U.S. Mission to Mauritania", sub_agency: null },
      program: {
        type: "GRANT",
        solicitation_id: "PGO-FY2024-FTIF-01",
        solicitation_title: "Promote Transparency by Enhancing Citizens’ Access to Information on Public Revenues.",
        contract_class: "Cooperative Agreement",
      },
      funding: {
        currency: "USD",
        amount_min: "150000.00",
        amount_max: "400000.00",
        display: "Up to $400,000 per award; $600,000 total; 2 awards expected",
      },
      dates: {
        posted_at: "2025-08-06T00:00:00-04:00",
        opens_at: "2025-08-06T00:00:00-04:00",
        closes_at: "2025-09-08T23:59:59-04:00",
      },
      classifications: { keywords: ["Continuation", "Other"], tech_taxonomy: ["FAC:O", "ALN:19.662"] },
      eligibility: {
        requirements:
          'Others (see text field entitled "Additional Information on Eligibility" for clarification)\n' +
          "The following organizations are eligible to apply: •U.S.-based non-profit/non-governmental organizations subject to section 501(c) (3) of the U.S. tax code " +
          "•Foreign-based non-profit organizations/non-government organizations (NGO) •Public International Organizations •Foreign Public Organizations " +
          "•Private, public, or state institutions of higher education. •Governmental institutions\n" +
          "Cost sharing or matching required: No",
      },
      contacts: [{ name: "Alassane Diakite, Grantor", email: "Nouakchottgrants@state.gov", phone: "45252660", role: "Grantor contact" }],
      attachments: [],
      applicant_types: ["25"],
      agency_codes: ["DOS-MRT"],
    });
  });

  test("a forecast of the extract", async () => {
    const { kept } = await readFormat(grantsGov, [await realInput("grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml.gz")]);

    expect(kept.get("363431")).toEqual({
      source: { code: "GRANTS_GOV", opportunity_id: "363431", url: "https://www.grants.gov/search-results-detail/363431" },
      title: "State Occupational Safety and Health Surveillance Program (U60)",
      summary: null,
      description: null,
      status: "forecast",
      status_display: "Forecasted",
      archives_at: "2027-01-30T00:00:00-05:00",
      organization: { agency: "Centers for Disease Control and Prevention - ERA", sub_agency: null },
      program: {
        type: null,
        solicitation_id: "RFA-OH-27-050",
        solicitation_title: "State Occupational Safety and Health Surveillance Program (U60)",
        contract_class: null,
      },
      funding: {
        currency: "USD",
        amount_min: "150000.00",
        amount_max: "685000.00",
        display: "Up to $685,000 per award; $40,000,000 total; 25 awards expected",
      },
      dates: { posted_at: "2026-10-30T00:00:00-04:00", opens_at: null, closes_at: "2026-12-30T23:59:59-05:00" },
      classifications: { keywords: [], tech_taxonomy: [] },
      eligibility: { requirements: null },
      deadline_note:
        "Electronically submitted applications must be submitted no later than 11:59 pm ET on the listed application due date.",
      contacts: [],
      attachments: [],
    });
  });

  test("the Windows-1252 characters of the extract from before 2016 are read as such", async () => {
    const { drafts } = await readFormat(grantsGov, [await realInput("grants-gov/grants-extract-legacy-dtd.xml")]);
    expect(JSON.stringify(drafts).match(/[\x80-\x9f]/g)).toBeNull();
    expect(JSON.stringify(drafts)).toContain("Interpreting America’s Historic Plac");
  });

  test("an opportunity of the extract from before 2016, whose number is its id", async () => {
    const { kept } = await readFormat(grantsGov, [await realInput("grants-gov/grants-extract-legacy-dtd.xml")]);

    expect(kept.get("DE-FOA-0000290")).toMatchObject({
      source: { code: "GRANTS_GOV", opportunity_id: "DE-FOA-0000290" },
      title: "Gridscale Rampable Intermittently Dispatchable Storage (GRIDS)",
      archives_at: "2013-10-06T00:00:00-04:00",
      organization: { agency: "Department of Energy", sub_agency: "Headquarters" },
      program: { type: "GRANT", contract_class: "Cooperative Agreement" },
      funding: {
        amount_min: "500000.00",
        amount_max: "10000000.00",
        display: "Up to $10,000,000 per award; $30,000,000 total; 15 awards expected",
      },
      dates: { posted_at: "2010-03-02T00:00:00-05:00", closes_at: "2010-05-24T23:59:59-04:00" },
      classifications: { keywords: ["Science and Technology and other Research and Development"], tech_taxonomy: ["FAC:ST", "ALN:81.135"] },
      eligibility: { requirements: "Unrestricted\nCost sharing or matching required: Yes" },
      contacts: [
        { name: "John T. Harris, Contracting Officer", email: "john.harris@hq.doe.gov", phone: "202-287-1055", role: "Grantor contact" },
      ],
      attachments: [{ name: "FEDCONNECT", url: "http://www.fedconnect.net" }],
    });
  });

  test("the details of an opportunity", async () => {
    const { drafts } = await readFormat(grantsGov, [await realInput("grants-gov/opportunity-details-358302.json")]);
    const { summary, description, eligibility, ...draft } = drafts[0] as Draft;

    expect(summary).toStartWith("The Office of Science’s (SC) mission is to deliver");
    expect(description).toStartWith("<p>The Office of Science’s (SC) mission is to deliver");
    expect(eligibility?.requirements).toEndWith("of the future.\nCost sharing or matching required: No");
    expect(draft).toEqual({
      source: { code: "GRANTS_GOV", opportunity_id: "358302", url: "https://www.grants.gov/search-results-detail/358302" },
      title: "Early Career Research Program",
      archives_at: "2025-05-23T00:00:00-04:00",
      organization: { agency: "Department of Energy - Office of Science", sub_agency: "Office of Science" },
      program: {
        type: "GRANT",
        solicitation_id: "DE-FOA-0003450",
        solicitation_title: "Early Career Research Program",
        contract_class: "Grant; Other; Procurement Contract",
      },
      funding: {
        currency: "USD",
        amount_min: "875000.00",
        amount_max: "2750000.00",
        display: "Up to $2,750,000 per award; $136,000,000 total",
      },
      dates: {
        posted_at: "2025-01-17T00:00:00-05:00",
        opens_at: "2025-01-17T00:00:00-05:00",
        closes_at: "2025-04-22T23:59:59-04:00",
      },
      classifications: {
        keywords: [
          "Discretionary",
          "Science and Technology and other Research and Development",
          "Office of Science Financial Assistance Program",
        ],
        tech_taxonomy: ["FAC:ST", "ALN:81.049"],
      },
      contacts: [
        { name: "Kimberlie J Laing, Grant Analyst", email: "SC.Early@science.doe.gov", phone: "301-903-3026", role: "Grantor contact" },
      ],
      attachments: [
        { name: "DE-FOA-0003450.000002.pdf: Amendment 000002", url: `${ATTACHMENTS}/346698`, kind: "Full Announcement", size: 1_313_214 },
        { name: "DE-FOA-0003450.000001.pdf: Full Announcement", url: `${ATTACHMENTS}/346434`, kind: "Full Announcement", size: 1_312_987 },
        { name: "DE-FOA-0003450.000003.pdf: Full NOFO", url: `${ATTACHMENTS}/346861`, kind: "Full Announcement", size: 1_313_657 },
      ],
      applicant_types: ["25"],
      agency_codes: ["PAMS-SC"],
    });
  });

  test("a hit has only some of the fields", async () => {
    const { items } = await readFormat(grantsGov, [await realInput("grants-gov/search2-sample-202607.json")]);
    const [hit, forecasted] = items;

    expect(hit).toMatchObject({ line: 1, partial: "adds" });
    expect(hit).toHaveProperty("record", {
      source: { code: "GRANTS_GOV", opportunity_id: "363293", url: "https://www.grants.gov/search-results-detail/363293" },
      title: "American Innovation Hub: AI & Digital Skills",
      status_display: null,
      organization: { agency: "U.S. Mission to Indonesia" },
      program: { solicitation_id: "PAS-JAKARTA-FY26-08", solicitation_title: "American Innovation Hub: AI & Digital Skills" },
      dates: {
        posted_at: "2026-07-23T00:00:00-04:00",
        opens_at: "2026-07-23T00:00:00-04:00",
        closes_at: "2026-08-30T23:59:59-04:00",
      },
      classifications: { tech_taxonomy: ["ALN:19.441"] },
      agency_codes: ["DOS-IDN"],
    });
    expect(forecasted).toHaveProperty("record.dates", { posted_at: "2026-07-08T00:00:00-04:00" });
  });

  test("a file with fewer hits than were found gives a warning", async () => {
    const { warnings } = await readFormat(grantsGov, [await realInput("grants-gov/search-20150813.json")]);
    expect(warnings).toEqual(["the search found 2027 opportunities; these files contain 1371 of them"]);
  });

  const page = (ids: string[], hitCount: number) =>
    JSON.stringify({ errorcode: 0, data: { hitCount, oppHits: ids.map((id) => ({ id, number: id, title: id, oppStatus: "posted" })) } });

  test("the pages of one search give none, unless one is missing", async () => {
    const pages = [page(["1", "2"], 5), page(["3", "4"], 5), page(["5"], 5)].map((text) => textInput(text));
    expect((await readFormat(grantsGov, pages)).warnings).toEqual([]);
    expect((await readFormat(grantsGov, pages.slice(1))).warnings).toEqual([
      "the search found 5 opportunities; these files contain 3 of them",
    ]);
    expect((await readFormat(grantsGov, [textInput(`[${page(["1", "2"], 5)},${page(["3", "4", "5"], 5)}]`)])).warnings).toEqual([]);
  });

  test("a part of a search is no snapshot", async () => {
    const catalog = await aCatalog();
    const ids = Array.from({ length: 10 }, (_, index) => String(index));
    const all = { format: grantsGov, snapshot: true };
    expect(await catalog.take(page(ids, 10), all)).toMatchObject({ added: 10 });
    await expect(catalog.take(page(ids.slice(1), 10), all)).rejects.toThrow(
      "Cannot import this snapshot: the search found 10 opportunities; these files contain 9 of them; --allow-removals imports it nevertheless",
    );
    expect(await catalog.take(page(ids.slice(1), 10), { ...all, allowRemovals: true })).toMatchObject({ removed: 1 });
  });

  test("an extract with opportunities of an unknown kind is no snapshot, and other unknown elements do no harm", async () => {
    const extract = (more: string) =>
      `<Grants>${Array.from({ length: 10 }, (_, id) => synopsis({ OpportunityID: `${id + 1}` })).join("")}${more}</Grants>`;
    const catalog = await aCatalog();
    const all = { format: grantsGov, snapshot: true };
    expect(await catalog.take(extract("<Note/>"), all)).toMatchObject({ read: 10, rejected: 0 });
    await expect(catalog.take(extract("<OpportunityForecastDetail_2_0/>"), all)).rejects.toThrow(
      "Cannot import this snapshot: Unknown element OpportunityForecastDetail_2_0 is left out",
    );
  });

  test("assistance listings are read under either name, whichever is filled", async () => {
    const hit = { id: "1", number: "N", title: "T", oppStatus: "posted", cfdaList: [], alnist: ["93.310"] };
    const details = { id: "2", opportunityNumber: "N", synopsis: {}, cfdas: [], alns: [{ alnNumber: "93.631", programTitle: "Projects" }] };
    const inputs = [{ data: { oppHits: [hit] } }, details].map((response) => textInput(JSON.stringify(response)));
    const { drafts } = await readFormat(grantsGov, inputs);
    expect(drafts.map(({ classifications }) => classifications?.tech_taxonomy)).toEqual([["ALN:93.310"], ["ALN:93.631"]]);
  });
});

describe("mapping", () => {
  test.each([
    ["0", "0", null],
    ["none", "", null],
    ["", "0", null],
    ["1", "0", { amount_min: "0.00", amount_max: "1.00", display: "Up to $1 per award" }],
    ["0", "5000", { amount_min: "5000.00", amount_max: null, display: "At least $5,000 per award" }],
    ["$1,234,567.5", "", { amount_min: null, amount_max: "1234567.50", display: "Up to $1,234,567.50 per award" }],
    ["999999999999999", "", { amount_min: null, amount_max: "999999999999999.00", display: "Up to $999,999,999,999,999 per award" }],
  ])("a ceiling of %p and a floor of %p", async (AwardCeiling, AwardFloor, funding) => {
    const draft = await draftOf(synopsis({ AwardCeiling, AwardFloor }));
    expect(draft.funding).toEqual(funding && { currency: "USD", ...funding });
  });

  test.each([
    ["04242026", "2026-04-25T00:00:00-04:00"],
    ["10312026", "2026-11-01T00:00:00-04:00"],
    ["11012026", "2026-11-02T00:00:00-05:00"],
    ["", undefined],
    ["12/31/2027", "2028-01-01T00:00:00-05:00"],
    ["0731202", undefined],
  ])("a synopsis whose archive date is %p is archived at %p", async (ArchiveDate, archives_at) => {
    const draft = await draftOf(synopsis({ ArchiveDate }));
    expect([draft.status, draft.archives_at]).toEqual([undefined, archives_at]);
  });

  test("a forecast's estimates", async () => {
    const draft = await draftOf(
      forecast({
        EstimatedSynopsisPostDate: "06012026",
        EstimatedSynopsisCloseDate: "07012026",
        EstimatedAwardDate: "09302026",
        EstimatedProjectStartDate: "10012026",
        FiscalYear: "2026",
      }),
    );
    expect(draft).toMatchObject({
      status: "forecast",
      dates: { opens_at: "2026-06-01T00:00:00-04:00", closes_at: "2026-07-01T23:59:59-04:00" },
      funding: { display: "fiscal year 2026; awards estimated for 2026-09-30; projects estimated to start on 2026-10-01" },
    });
  });

  test("an opportunity that is forecast and posted in one extract is posted, whichever comes last", async () => {
    const [early, late] = [forecast({ OpportunityTitle: "Forecast" }), synopsis({ OpportunityTitle: "Synopsis" })];
    for (const records of [
      [early, late],
      [late, early],
    ]) {
      const { kept } = await readFormat(grantsGov, [extract(...records)]);
      expect([...kept.values()].map(({ title, status }) => [title, status])).toEqual([["Synopsis", undefined]]);
    }
  });

  test("unknown codes pass through with a warning, and several may stand in one element", async () => {
    const { drafts, warnings } = await readFormat(grantsGov, [
      extract(
        synopsis({
          CategoryOfFundingActivity: "ED, XYZ",
          FundingInstrumentType: "G",
          EligibleApplicants: "77",
          CFDANumbers: "93.242; 00.000,AB.1",
        }),
      ),
    ]);
    expect(drafts[0]).toMatchObject({
      classifications: { keywords: ["Education", "XYZ"], tech_taxonomy: ["FAC:ED", "FAC:XYZ", "ALN:93.242", "ALN:AB.1"] },
      eligibility: { requirements: "77" },
    });
    expect(warnings).toEqual([
      'Unknown category of funding activity "XYZ" is kept as it is',
      'Unusual assistance listing number "AB.1" is kept as it is',
      'Unknown applicant type "77" is kept as it is',
    ]);
  });

  test("a date that does not exist is left out with a warning", async () => {
    const { drafts, warnings } = await readFormat(grantsGov, [extract(synopsis({ CloseDate: "02302026", PostDate: "soon" }))]);
    expect(drafts[0]?.dates).toEqual({ posted_at: null, opens_at: null, closes_at: null });
    expect(warnings).toHaveLength(2);
  });

  test("an archive date that does not exist does not archive the opportunity", async () => {
    const { drafts, warnings } = await readFormat(grantsGov, [extract(synopsis({ ArchiveDate: "02302026" }))]);
    expect(drafts[0]).not.toHaveProperty("status");
    expect(warnings).toEqual([expect.stringMatching(/^Opportunity .* has a date that does not exist, 2026-02-30: it is left out$/)]);
  });

  test.each([
    ["OpportunityNumber", "N-1", "N-1"],
    ["AgencyName", "NASA", "Untitled"],
    ["OpportunityTitle", "R&amp;amp;D  &amp;ndash;\n x", "R&D – x"],
  ])("the title where %s is %p", async (name, text, title) => {
    expect((await draftOf(synopsis({ [name]: text }))).title).toBe(title);
  });

  test("an invalid address is no attachment", async () => {
    const draft = await draftOf(synopsis({ AdditionalInformationURL: "neup.gov" }));
    expect(draft.attachments).toEqual([]);
  });

  test("elements are recognized by their local names, and unknown ones are left out", async () => {
    const { drafts, warnings } = await readFormat(grantsGov, [
      textInput(
        "<g:Grants xmlns:g='u'><g:Note>x</g:Note><g:OpportunitySynopsisDetail_1_0><g:OpportunityID>7</g:OpportunityID><g:constructor>x</g:constructor><g:__proto__>x</g:__proto__>" +
          "<g:OpportunityTitle>A<![CDATA[ & B]]><!-- x --> C</g:OpportunityTitle></g:OpportunitySynopsisDetail_1_0></g:Grants>",
      ),
    ]);
    expect(drafts.map(({ source, title }) => [source.opportunity_id, title])).toEqual([["7", "A & B C"]]);
    expect(warnings).toEqual(["Unknown element g:Note is left out"]);
  });
});

describe("bad files", () => {
  const whole = `<Grants>${synopsis({ OpportunityTitle: "Roads" })}</Grants>`;

  test("an opportunity without an id is rejected alone", async () => {
    const { refused, drafts } = await readFormat(grantsGov, [extract(synopsis({ OpportunityID: " " }), synopsis({}))]);
    expect(refused).toEqual(["OpportunityID must not be blank"]);
    expect(drafts).toHaveLength(1);
  });

  test.each([
    ["OpportunityID,OpportunityTitle", "it is neither XML nor JSON"],
    [whole.slice(0, -9), "Missing closing tag for element 'Grants', after 1 elements"],
    [whole.slice(0, 60), "it ends inside <OpportunitySynopsisDetail_1_0>, after 0 elements"],
    [whole.replaceAll("Grants", "Feed"), "its root element is Feed, not Grants"],
    [`<!DOCTYPE Grants [<!ENTITY a "aaaa">]>${whole}`, "declarations of a document type are refused"],
    ['{"errorcode": 1, "msg": "Invalid request", "data": {}}', "it is an error message of Grants.gov: 1 Invalid request"],
    ['{"message": "maintenance"}', "it is an error message of Grants.gov: maintenance"],
    ['{"data": {}}', "it has neither search hits (oppHits) nor details of an opportunity (synopsis or forecast)"],
    ['{"data": ', "it is not JSON"],
    ['[{"id": 1}', "it ends in the middle, after 0 elements"],
  ])("refuses %p as a whole: %s", async (text, fault) => {
    await expect(readFormat(grantsGov, [textInput(text, "x.zip")])).rejects.toThrow(`Cannot import x.zip: ${fault}`);
  });

  test.each<[string, string, string]>([
    ["more characters in pieces", "x<!-- -->".repeat(400_000), "the element must have at most 3000000 characters"],
    ["an entity of HTML", "R&nbsp;D", "the element is not well-formed: Entity 'nbsp' is not declared"],
    ["an ampersand", "R & D", "the element is not well-formed: Expected an entity name after '&' but found space"],
    ["half a surrogate pair", "&#xD800;", "the element is not well-formed: Character reference '&#xD800;' is not a valid XML character"],
    ["NUL", "a\0b", "the element is not well-formed: Invalid character in XML: control character 0x00"],
    ["elements nested 101 deep", `${"<i>".repeat(98)}${"</i>".repeat(98)}`, "its elements must not be nested more than 100 deep"],
  ])("an opportunity with %s is rejected alone, and counts as present", async (_, text, reason) => {
    const bad = synopsis({ OpportunityID: "7" }).replace("</OpportunityID>", `</OpportunityID><Description>${text}</Description>`);
    const { items, refused, drafts } = await readFormat(grantsGov, [
      extract(synopsis({ OpportunityID: "1" }), bad, synopsis({ OpportunityID: "2" })),
    ]);
    expect(refused).toEqual([reason]);
    expect(items[1]).toMatchObject({ line: 2, source: "GRANTS_GOV", lineage: "7" });
    expect(drafts.map(({ source }) => source.opportunity_id)).toEqual(["1", "2"]);
  });

  test.each([
    ["in a comment before it", "<!-- <OpportunityID>9</OpportunityID> --><OpportunityID>7</OpportunityID>"],
    ["in another element before it", "<Old><OpportunityID>9</OpportunityID></Old><OpportunityID>7</OpportunityID>"],
    ["after it", "<OpportunityID> 7 </OpportunityID><OpportunityID>9</OpportunityID>"],
    ["as a part of it", "<OpportunityID>7<!-- 9 --></OpportunityID>"],
  ])("the id of an opportunity is no number %s", async (_, fields) => {
    const record = `<OpportunitySynopsisDetail_1_0>${fields}<OpportunityTitle>T</OpportunityTitle></OpportunitySynopsisDetail_1_0>`;
    const context = { warn: () => undefined, incomplete: () => undefined, neverHas: () => undefined };
    const ids: unknown[] = [];
    for await (const item of grantsGov.read([extract(record)], context)) if (item.kind === "lazy") ids.push(item.id);
    expect(ids).toEqual(["7"]);
    expect((await draftOf(record)).source.opportunity_id).toBe("7");
  });

  test("an opportunity that is no longer well-formed counts as present in a snapshot", async () => {
    const catalog = await aCatalog();
    const all = { format: grantsGov, snapshot: true };
    const file = (text: string) => `<Grants>${synopsis({})}${synopsis({ OpportunityID: "2", OpportunityTitle: text })}</Grants>`;
    expect(await catalog.take(file("R and D"), all)).toMatchObject({ added: 2 });
    expect(await catalog.take(file("R & D"), all)).toMatchObject({ unchanged: 1, rejected: 1, removed: 0 });
  });

  test("an opportunity of 30 MB is rejected alone, in bounded memory", async () => {
    const { text, taken } = megabytesOf("x", 30);
    const input = {
      name: "long.xml",
      async *bytes() {
        yield Buffer.from(`<Grants>${synopsis({ OpportunityID: "7" }).replace(/<\/\w+>$/, "")}<Description>`);
        yield* text();
        yield Buffer.from(`</Description></OpportunitySynopsisDetail_1_0>${synopsis({ OpportunityID: "8" })}</Grants>`);
      },
    };
    const { refused, drafts } = await readFormat(grantsGov, [input]);
    expect(refused).toEqual(["the element must have at most 3000000 characters"]);
    expect(drafts.map(({ source }) => source.opportunity_id)).toEqual(["8"]);
    expect(taken.bytes).toBeLessThan(20_000_000);
  });
});
