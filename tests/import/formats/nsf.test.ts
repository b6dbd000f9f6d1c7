import { afterAll, describe, expect, test } from "bun:test";
import { grantsGov } from "../../../src/import/formats/grants-gov/extract.ts";
import { nsf } from "../../../src/import/formats/nsf.ts";
import type { Opportunity } from "../../../src/opportunities/opportunity.ts";
import { aCatalog, documentsOf, dropScratch, type TestCatalog } from "../../support/imports.ts";
import { countBy, readFormat, realInput, textInput } from "../../support/read-format.ts";
import { realPath, testReal } from "../../support/real-data.ts";

afterAll(dropScratch);

const FILE = "nsf/nsf_funding-20250717.csv";

const COLUMNS =
  'Title,Synopsis,"Award Type","Next due date (Y-m-d)","Proposals accepted anytime","Program ID","NSF/PD Num",Status,"Posted date (Y-m-d)",URL,Type,"Solicitation URL"';

/** A file with these rows, of which only what the test is about is given. */
function aFileOf(...rows: Record<string, string>[]) {
  const names = COLUMNS.replaceAll('"', "").split(",");
  const lines = rows.map((row) => names.map((name) => `"${row[name] ?? ""}"`).join(","));
  return textInput([COLUMNS, ...lines].join("\n"));
}

describe("a real file", () => {
  test("90 rows are 89 opportunities: one program has the row of an older solicitation, too", async () => {
    const { items, drafts, kept, refused, warnings } = await readFormat(nsf, [await realInput(FILE)]);

    expect([items.length, drafts.length, kept.size, refused, warnings]).toEqual([90, 89, 89, [], []]);
    expect(countBy(kept.values(), ({ program, status }) => `${program?.type} ${status}`)).toEqual({
      "GRANT undefined": 51,
      "GRANT closed": 14,
      "SBIR undefined": 1,
      "null undefined": 23,
    });
    expect(kept.get("504748")?.program?.solicitation_id).toBe("nsf24530");
  });

  test("its Windows-1252 characters are read as such", async () => {
    const { drafts } = await readFormat(nsf, [await realInput(FILE)]);
    expect(JSON.stringify(drafts).match(/[\x80-\x9f]/g)).toBeNull();
    expect(JSON.stringify(drafts)).toContain("ted coordination of users’ requests");
  });

  test("a program, field by field", async () => {
    const { kept } = await readFormat(nsf, [await realInput(FILE)]);

    const draft = kept.get("5295");
    expect({ ...draft, summary: draft?.summary?.slice(0, 40), description: draft?.description?.slice(0, 40) }).toEqual({
      source: {
        code: "NSF",
        opportunity_id: "5295",
        url: "https://www.nsf.gov/funding/opportunities/mrsec-materials-research-science-engineering-centers/nsf25-532",
      },
      earlier_ids: ["nsf25532"],
      title: "Materials Research Science and Engineering Centers (MRSEC)",
      summary: "The Materials Research Science and Engin",
      description: "The Materials Research Science and Engin",
      organization: { agency: "National Science Foundation" },
      program: {
        type: "GRANT",
        solicitation_id: "nsf25532",
        solicitation_title: "Materials Research Science and Engineering Centers (MRSEC)",
        contract_class: "Cooperative Agreement",
      },
      dates: { posted_at: "2025-01-03T00:00:00-05:00", closes_at: "2025-11-24T23:59:59-05:00" },
      due_dates: [{ at: "2025-11-24T23:59:59-05:00" }],
      classifications: { keywords: ["Program"] },
      attachments: [
        {
          name: "Solicitation",
          url: "https://www.nsf.gov/funding/opportunities/mrsec-materials-research-science-engineering-centers/nsf25-532/solicitation",
        },
      ],
    });
  });

  test("a Dear Colleague Letter is identified by its page, because it has no program", async () => {
    const { kept } = await readFormat(nsf, [await realInput(FILE)]);
    const letters = [...kept.values()].filter(({ classifications }) => classifications?.keywords?.includes("Dear colleague letter"));
    expect(letters).toHaveLength(19);
    for (const { source } of letters) expect(source.opportunity_id).toBe(source.url ?? "");
  });

  test("is linked to the same solicitations at Grants.gov, in either order, and again is a no-op", async () => {
    const extract = realPath("grants-gov/derived/GrantsDBExtract20250821v2.reconstructed.xml.gz");
    const [first, second] = [await aCatalog(), await aCatalog()];
    await first.takeFiles([realPath(FILE)], { format: nsf });
    const { linked } = await first.takeFiles([extract], { format: grantsGov });
    await second.takeFiles([extract], { format: grantsGov });
    await second.takeFiles([realPath(FILE)], { format: nsf });

    expect(linked).toBe(39);
    const linksOf = async ({ db }: TestCatalog) => {
      const all = await documentsOf(db);
      const numbers = new Map(all.map(({ id, program }) => [id, (program as { solicitation_id: string }).solicitation_id]));
      const nsfRecords = all.filter(({ source }) => source.code === "NSF") as unknown as Opportunity[];
      return nsfRecords
        .map(({ program, relationships }) => `${program.solicitation_id} ${numbers.get(relationships.canonical_id ?? "")}`)
        .sort();
    };
    const links = await linksOf(first);
    expect(links).toContain("nsf22586 22-586");
    expect(links).toContain("pd161266 PD-16-1266");
    expect(await linksOf(second)).toEqual(links);
    expect(await first.takeFiles([realPath(FILE)], { format: nsf })).toMatchObject({ read: 90, unchanged: 89, merged: 1, events: 0 });
  });

  testReal("the whole file: 478 rows, 477 opportunities, none rejected", async (directory) => {
    const { items, kept, refused, warnings } = await readFormat(nsf, [await realInput(FILE, directory)]);
    expect([items.length, kept.size, refused, warnings]).toEqual([478, 477, [], []]);
  });
});

test("a new solicitation keeps the program, which both numbers find", async () => {
  const { kept } = await readFormat(nsf, [aFileOf({ Title: "MRSEC", "Program ID": "5295", "NSF/PD Num": "nsf26500", Status: "Cleared" })]);
  expect(kept.get("5295")).toMatchObject({ program: { solicitation_id: "nsf26500" }, earlier_ids: ["nsf26500"] });
});

describe("due dates", () => {
  const row = { Title: "X", "Program ID": "1", Status: "Cleared" };
  test.each([
    ["2025-09-16, 2025-09-16", ["2025-09-16"], "2025-09-16"],
    ["2025-02-01, 2025-10-01, 2025-02-01, 2025-10-01", ["2025-02-01", "2025-10-01"], "2025-10-01"],
    ["2025-10-01, 2025-08-01", ["2025-10-01", "2025-08-01"], "2025-10-01"],
    ["", [], undefined],
  ])("%p: all are %p, the last %p", async (dates, all, last) => {
    const { drafts } = await readFormat(nsf, [aFileOf({ ...row, "Next due date (Y-m-d)": dates })]);
    expect(drafts[0]?.due_dates?.map(({ at }) => at.slice(0, 10))).toEqual(all);
    expect(drafts[0]?.dates?.closes_at?.slice(0, 10)).toEqual(last);
  });

  test("a date that does not exist is left out with a warning", async () => {
    const { drafts, warnings } = await readFormat(nsf, [aFileOf({ ...row, "Next due date (Y-m-d)": "2025-02-31" })]);
    expect([drafts[0]?.dates?.closes_at, warnings]).toEqual([null, ['unreadable date "2025-02-31" is left out']]);
  });
});

test.each([
  ["Cleared", undefined, []],
  ["Waiting for new publication", "closed", []],
  ["Current but no longer receiving proposals", "closed", []],
  ["Paused", undefined, ['unknown status "Paused": the dates decide']],
])("the status %p gives %p", async (status, expected, warned) => {
  const { drafts, warnings } = await readFormat(nsf, [aFileOf({ Title: "X", "Program ID": "1", Status: status })]);
  expect([drafts[0]?.status, warnings]).toEqual([expected, warned]);
});

test("a row with neither program nor page is rejected alone", async () => {
  const { refused, kept } = await readFormat(nsf, [aFileOf({ Title: "X" }, { Title: "Y", "Program ID": "1" })]);
  expect([refused, kept.size]).toEqual([["Program ID and URL must not both be blank"], 1]);
});

test("a file without a column is refused as a whole", async () => {
  await expect(readFormat(nsf, [textInput("Title,Synopsis\nX,Y\n")])).rejects.toThrow('the header has no column "Award Type"');
});
