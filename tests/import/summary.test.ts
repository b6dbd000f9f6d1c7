/** What the numbers of an import's summary mean: each record that was read is in exactly one of them. */
import { afterAll, describe, expect, test } from "bun:test";
import { formats } from "../../src/import/formats/all.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { sbirGov } from "../../src/import/formats/sbir-gov.ts";
import type { Summary } from "../../src/import/import-log.ts";
import { extractOfFew, hitsOfFew } from "../support/few-grants.ts";
import { aCatalog, aFile, dropScratch, exportOf, inScratch, type TestCatalog, withoutLinks } from "../support/imports.ts";
import { realPath } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const sam = "sam-gov/daily";

/** Imports one after the other into one catalog. */
const imports: Record<string, string[][]> = {
  "grants-gov": [
    [extractOfFew("20260726", 5)],
    [extractOfFew("20260730", 5), hitsOfFew("grants-gov/derived/search2-20260730.reconstructed.json", 5)],
    [realPath("grants-gov/opportunity-details-358302.json")],
    [realPath("grants-gov/grants-extract-legacy-dtd.xml")],
  ],
  "simpler-grants-gov": [["simpler-grants-gov/grants-search-20260617.csv"]],
  "sam-gov": [
    [`${sam}/opportunities-20260411.json.gz`],
    [`${sam}/records-20260425.json.gz`, `${sam}/opportunities-20260411.json.gz`],
    ["sam-gov/v2-search-20260202.json"],
  ],
  "sbir-gov": [["sbir-gov/solicitations-20250914.json"], ["sbir-gov/sbir-topics-20260617.csv"]],
  dsip: [
    ["dod-dsip/raw_api_search_correct_format.json"],
    ["dod-dsip/raw_api_search_response.json", "dod-dsip/raw_api_details_response.json", "dod-dsip/raw_api_qa_response.json"],
    ["dod-dsip/topics-export-20250809-chunk_33.csv.gz"],
  ],
  nsf: [["nsf/nsf_funding-20250717.csv"]],
  darpa: [["darpa/opportunity-20260905.json"]],
  "nasa-roses": [["nasa-roses/roses-2025-table3.html"]],
  "nasa-nspires": [
    ["nasa-nspires/solicitationsJSON-20260921.reconstructed.json", "nasa-nspires/solicitationsJSON-row-20260915.json"],
    ["nasa-nspires/solicitationsJSON-20261005.reconstructed.json"],
  ],
  "challenge-gov": [["challenge-gov/challenges-20210106T154854Z.json"], ["challenge-gov/challenges-20210714T202743Z.json"]],
};

/** The numbers of which each record that was read is in one. */
const ofRead = ({ added, changed, unchanged, merged, rejected }: Summary) => added + changed + unchanged + merged + rejected;

async function eventCount({ db }: TestCatalog): Promise<number> {
  return (await db.all(rawSql("select 1 from events"))).length;
}

describe.each(formats.map((format) => [format.name, format] as const))("%s", (name, format) => {
  test("counts each record once, and the stored events, the same in a dry run", async () => {
    const catalog = await aCatalog();
    const fileLists =
      name === "records"
        ? [[await exportTwice()]]
        : (imports[name] ?? []).map((files) => files.map((file) => (file.startsWith("/") ? file : realPath(file))));
    expect(fileLists).not.toEqual([]);
    for (const files of [...fileLists, fileLists[0] ?? []]) {
      const dry = await catalog.takeFiles(files, { format, dryRun: true });
      const before = await eventCount(catalog);
      const summary = await catalog.takeFiles(files, { format, rejects: inScratch("rejects.ndjson") });
      expect({ ...summary, rejects: [] }).toEqual({ ...dry, rejects: [] });
      expect(summary.read).toBeGreaterThan(0);
      expect(ofRead(summary)).toBe(summary.read);
      expect(await eventCount(catalog)).toBe(before + summary.events);
    }
  });
});

/** Every record twice, and a line that is none. */
async function exportTwice(): Promise<string> {
  const catalog = await aCatalog();
  await catalog.takeFiles([realPath("sbir-gov/solicitations-20250914.json")], { format: sbirGov });
  const lines = await exportOf(catalog.db);
  return aFile([...lines, "no record", ...lines]);
}

describe("merged", () => {
  const record = (id: string, fields: object = {}) => ({ source: { code: "A", opportunity_id: id }, title: "T", ...fields });

  test.each([
    ["added", {}, { read: 3, added: 1, merged: 2 }],
    ["unchanged", { title: "T" }, { read: 3, unchanged: 1, merged: 2 }],
    ["changed", { title: "Other" }, { read: 3, changed: 1, merged: 2 }],
  ])("counts all records of an opportunity except the one that is %s", async (_, last, numbers) => {
    const catalog = await aCatalog();
    if (!("added" in numbers)) await catalog.take([record("1")]);
    expect(await catalog.take([record("1"), record("1", { title: "Between" }), record("1", last)])).toMatchObject({
      rejected: 0,
      ...numbers,
    });
  });

  test("counts the forecast of an opportunity that the extract also has as posted, in either order", async () => {
    const detail = (element: string) => `<${element}><OpportunityID>1</OpportunityID><OpportunityTitle>T</OpportunityTitle></${element}>`;
    const [forecast, posted] = [detail("OpportunityForecastDetail_1_0"), detail("OpportunitySynopsisDetail_1_0")];
    for (const elements of [forecast + posted, posted + forecast]) {
      const catalog = await aCatalog();
      expect(await catalog.take(`<Grants>${elements}</Grants>`, { format: grantsGov })).toMatchObject({ read: 2, added: 1, merged: 1 });
    }
  });
});

describe("linked", () => {
  const topic = (code: string, id: string) => ({
    source: { code, opportunity_id: id },
    title: "Topic",
    organization: { agency: "Department of Defense" },
  });

  test.each([
    ["records that waited", [topic("SBIR_GOV", "T1"), topic("SBIR_GOV", "T2")], [topic("DSIP", "T1")], 1],
    ["records of the same import", [], [topic("SBIR_GOV", "T1"), topic("DSIP", "T1")], 1],
    ["nothing where two records may be the canonical one", [topic("SBIR_GOV", "T1")], [topic("DSIP", "T1"), topic("DSIP", "t1")], 0],
    ["nothing where the canonical record is there already", [topic("DSIP", "T1")], [topic("SBIR_GOV", "T1")], 0],
  ])("counts %s, but not in a dry run", async (_, before, records, linked) => {
    const catalog = await aCatalog();
    await catalog.take(before);
    const dry = await catalog.take(records, { dryRun: true });
    const summary = await catalog.take(records);
    expect(withoutLinks(summary)).toEqual(dry);
    expect(summary).toMatchObject({ read: records.length, added: records.length, changed: 0, linked, events: records.length + linked });
  });
});
