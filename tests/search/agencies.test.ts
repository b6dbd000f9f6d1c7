/** Finding by agency in real files, compared with the codes that the upstreams wrote into them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Glob } from "bun";
import type { CatalogDb } from "../../db/engine.ts";
import { matches } from "../../src/filter/filter.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { countByAgency } from "../../src/search/agencies.ts";
import { agencyNotes } from "../../src/search/agency-notes.ts";
import { findAll } from "../../src/search/find.ts";
import { openSearchFile, type SearchFile } from "../../src/search/search-file.ts";
import { aCatalogOfAll, anIndexOfAll } from "../support/all-records.ts";
import { dropScratch, NOON } from "../support/imports.ts";
import { EXCERPTS, realFile } from "../support/real-data.ts";

setDefaultTimeout(300_000); // The first test imports every excerpt.

let db: CatalogDb;
let all: WholeOpportunity[];
let index: SearchFile;

/** By source and upstream id: the codes of the agency as the raw files have them, and for components of a department its name. */
const codes = new Map<string, string>();

beforeAll(async () => {
  ({ db, all } = await aCatalogOfAll());
  index = openSearchFile(await anIndexOfAll());
  readRawCodes();
});
afterAll(async () => {
  index.close();
  await db.close();
  dropScratch();
});

function readRawCodes(): void {
  const text = (name: string) => realFile(name.replace(/\.gz$/, "")).toString();
  for (const name of [...new Glob("grants-gov/derived/*.xml*").scanSync(EXCERPTS)].sort()) {
    for (const [record] of text(name).matchAll(/<Opportunity\w+Detail_1_0>[\s\S]*?<\/Opportunity\w+Detail_1_0>/g)) {
      const of = (tag: string) => new RegExp(`<${tag}>(.*?)<`).exec(record)?.[1];
      const code = of("AgencyCode");
      if (code !== undefined) codes.set(`GRANTS_GOV ${of("OpportunityID")}`, code);
    }
  }
  for (const name of new Glob("sam-gov/daily/{records,opportunities,wins}-*").scanSync(EXCERPTS)) {
    for (const row of JSON.parse(text(name)) as Record<string, string>[]) codes.set(`SAM_GOV ${row.NoticeId}`, row["FPDS Code"] ?? "");
  }
  for (const { source, organization } of all) {
    const component = organization.sub_agency ?? "";
    if (source.code === "DSIP") codes.set(`DSIP ${source.opportunity_id}`, `DOD ${component}`);
    if (["NSF", "DARPA", "NASA_ROSES", "NASA_NSPIRES"].includes(source.code))
      codes.set(`${source.code} ${source.opportunity_id}`, source.code);
  }
}

/** What people write, and the codes of Grants.gov, SAM.gov and the others that belong to it. */
const questions: readonly (readonly [agency: string, codes: RegExp])[] = [
  ["NIH", /^(HHS-NIH11|7529)$/],
  ["NSF", /^(NSF|4900)$/],
  ["DOE", /^(DOE|PAMS)\b|^89/],
  ["HHS", /^HHS\b|^75/],
  ["USDA", /^USDA\b|^12/],
  ["EPA", /^EPA\b|^68/],
  ["NASA", /^NASA|^80/],
  ["DOD", /^(DOD\b|DARPA)|^(97|17|21|57)/],
  ["DHS", /^DHS\b|^70/],
  ["DOT", /^DOT\b|^69/],
  ["ARMY", /^DOD[- ](AMC|AMRAA|COE|ARMY)|^21/],
  ["NAVY", /^DOD[- ](ONR|NAVY)|^17/],
  ["AIR FORCE", /^DOD[- ](AF|USAF)|^57/],
  ["DARPA", /^DOD[- ]DARPA|^DARPA|^97AE/],
  ["DLA", /^97AS/],
  ["NOAA", /^DOC-DOCNOAA|^1330/],
  ["NIST", /^DOC-NIST|^1341/],
  ["CDC", /^HHS-CDC|^7523/],
  ["FDA", /^HHS-FDA|^7524/],
  ["USGS", /^DOI-USGS|^1434/],
  ["BLM", /^DOI-BLM|^1422/],
  ["FWS", /^DOI-FWS|^1448/],
  ["FAA", /^DOT-FAA|^6920/],
  ["GSA", /^47/],
  ["VA", /^VA\b|^36/],
  ["NEH", /^NEH/],
];

const codeOf = ({ source }: WholeOpportunity) => codes.get(`${source.code} ${source.opportunity_id}`);
const idsOf = (agency: string) => findAll(index, { agency: [agency] }, NOON, true).sort();

describe("real records", () => {
  test.each(questions)("of %s are those with its codes", (agency, own) => {
    const known = new Map(all.flatMap((each) => (codeOf(each) === undefined ? [] : [[each.id, codeOf(each) as string]])));
    const expected = [...known].filter(([, code]) => own.test(code)).map(([id]) => id);
    expect(expected.length).toBeGreaterThan(0);
    expect(idsOf(agency).filter((id) => known.has(id))).toEqual(expected.sort());
  });

  test("are found alike in the index and one by one", () => {
    for (const agency of ["NIH", "ENERGY, DEPARTMENT OF", "golden", "OIG"]) {
      const matching = all.filter((each) => matches({ agency: [agency] }, each, NOON)).map(({ id }) => id);
      expect(idsOf(agency)).toEqual(matching.sort());
    }
  });

  test("of a text are those with words that begin so in a published name", () => {
    const named = all.filter(({ organization: { agency, sub_agency } }) => /\benerg/i.test(`${agency}\n${sub_agency}`)).map(({ id }) => id);
    expect(named.length).toBeGreaterThan(0);
    expect(idsOf("energ")).toEqual(named.sort());
    expect(idsOf("epart")).toEqual([]);
  });

  test("are counted by agency, with those of its parts", () => {
    const counts = new Map(countByAgency(index).map(({ agency, records }) => [agency.code, records]));
    for (const code of ["HHS", "HHS.NIH", "DOD", "DOD.NAVY"]) expect(counts.get(code)).toBe(idsOf(code).length);
    expect(countByAgency(index)[0]?.agency.code).toBe("DOD");
  });
});

test("a filter on an agency without records says so, and names the one above it that has some", async () => {
  const [note, ...others] = await agencyNotes(db, index, ["CISA"]);
  const dhs = all.filter(({ organization }) => /homeland/i.test(organization.agency ?? "")).length;
  expect([note, others]).toEqual([
    `Cybersecurity and Infrastructure Security Agency (CISA): no records; Department of Homeland Security (DHS) and its agencies: ${dhs}`,
    [],
  ]);
  expect(await agencyNotes(db, index, ["NIH", "DOE"])).toEqual([]);
  expect(await agencyNotes(db, index, ["NCA"])).toEqual([]); // Of two agencies with this abbreviation, one has records.
});

test("a text in names of agencies is said with the departments whose names have it", async () => {
  const naval = all.filter(({ organization: { agency, sub_agency } }) => /\bnav/i.test(`${agency} ${sub_agency}`)).length;
  const [note] = await agencyNotes(db, index, ["nav"]);
  expect(note).toStartWith('"nav" stands in names of agencies: Department of Defense (DOD) and its agencies ');
  expect(sumOf(note ?? "")).toBe(naval);
  const [also] = await agencyNotes(db, index, ["State"]);
  expect(also ?? "").not.toContain("Senate"); // UNITED STATES SENATE.
});

function sumOf(note: string): number {
  return [...note.matchAll(/ (\d+)(?=,|$)/g)].reduce((sum, [, records]) => sum + Number(records), 0);
}
