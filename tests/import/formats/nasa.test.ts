/** NASA's two sources, and their links. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../../src/changes/check.ts";
import { nasaNspires } from "../../../src/import/formats/nasa-nspires.ts";
import { nasaRoses } from "../../../src/import/formats/nasa-roses.ts";
import { opportunityId } from "../../../src/opportunities/identity.ts";
import { aCatalog, aFile, documentsOf, dropScratch, eventsOf } from "../../support/imports.ts";
import { bytesOf, countBy, readFormat, realInput, textInput } from "../../support/read-format.ts";
import { realPath } from "../../support/real-data.ts";

afterAll(dropScratch);

const ROSES = "nasa-roses/roses-2025-table3.html";
const [SEPTEMBER, OCTOBER, ROW] = ["20260921.reconstructed", "20261005.reconstructed", "row-20260915"].map(
  (name) => `nasa-nspires/solicitationsJSON-${name}.json`,
) as [string, string, string];
const GUID = "{5509DEBF-B8B4-2F3D-0EFB-350EFE67DCD5}";

describe("the page of ROSES-2025", () => {
  const readReal = async () => readFormat(nasaRoses, [await realInput(ROSES)]);

  test("all 70 rows of the damaged page, none rejected", async () => {
    const { items, kept, refused, warnings } = await readReal();
    expect([items.length, kept.size, refused, warnings]).toEqual([70, 70, [], []]);
    expect(
      countBy(kept.values(), ({ status, status_display, dates }) => status_display ?? status ?? (dates?.closes_at ? "dated" : "no date")),
    ).toEqual({ dated: 46, "no date": 1, TBD: 2, "Not Solicited This Year": 14, "Not Solicited see C.2 and F.3": 1, "N/A": 6 });
  });

  test("a program, field by field", async () => {
    const { kept } = await readReal();
    expect(kept.get("ROSES-2025-A.7")).toEqual({
      source: {
        code: "NASA_ROSES",
        opportunity_id: "ROSES-2025-A.7",
        url: "https://nspires.nasaprs.com/external/solicitations/summary.do?solId={345E142D-1435-CDC0-E1BA-A5F7CC815049}&path=&method=init",
      },
      title: "A.7 Water Quality Applications",
      summary: null,
      description: null,
      organization: { agency: "National Aeronautics and Space Administration" },
      program: { type: "BAA", solicitation_id: null, solicitation_title: "ROSES-2025", contract_class: "NASA Research Announcement" },
      dates: { closes_at: "2025-12-16T23:59:59-05:00" },
      due_dates: [
        { at: "2025-08-19T23:59:59-04:00", words: "Mandatory NOI" },
        { at: "2025-12-16T23:59:59-05:00", words: null },
      ],
      eligibility: { requirements: "First due date: Mandatory NOI" },
    });
  });

  test.each([
    ["C.8", "2025-09-12", "2025-12-03", "a date that a closing tag splits"],
    ["C.10", undefined, "2025-12-15", "a date that two tags split"],
    ["F.6", "2026-01-26", "2026-03-31", "a month without its zero"],
    ["C.5", undefined, "2026-01-12", "a cell whose end tag is cut"],
    ["D.3C", undefined, "2026-02-27", "the first of two programs of one appendix"],
    ["D.3C-xrism-general-observer-type-2", undefined, "2026-02-27", "the second one"],
    ["D.4", undefined, undefined, "TBD"],
    ["A.4", undefined, "2026-12-31", "at any time up to a day that a note names"],
    ["A.10", undefined, "2026-08-31", "a note with a tag in its date"],
  ])("%s: %p and %p (%s)", async (appendix, first, proposal, _) => {
    const { kept } = await readReal();
    const { dates, due_dates = [] } = kept.get(`ROSES-2025-${appendix}`) ?? {};
    expect(due_dates.map(({ at }) => at.slice(0, 10))).toEqual([first, proposal].filter((date) => date !== undefined));
    expect(dates?.closes_at?.slice(0, 10)).toBe(proposal);
  });

  test("a note says until when proposals are accepted", async () => {
    const { kept } = await readReal();
    expect(kept.get("ROSES-2025-A.10")?.description).toStartWith(
      "Proposals for A.10 INNOVATE may be submitted at any time up to August 31, 2026. Proposers",
    );
  });

  test("a program without a due date and without a note that says until when is warned about, and stays open", async () => {
    const page = await Bun.file(realPath(ROSES)).text();
    const { kept, warnings } = await readFormat(nasaRoses, [textInput(page.replace("up to <b>November 12, 2026</b>", "for some time"))]);
    expect(warnings).toEqual(["C.2 has no due date, and no note says until when proposals may be submitted: the program stays open"]);
    expect(kept.get("ROSES-2025-C.2")?.dates).toEqual({ response_at: null });
  });

  test("importing it again changes nothing", async () => {
    const catalog = await aCatalog();
    expect(await catalog.takeFiles([realPath(ROSES)], { format: nasaRoses })).toMatchObject({ read: 70, added: 70, rejected: 0 });
    expect(await catalog.takeFiles([realPath(ROSES)], { format: nasaRoses })).toMatchObject({ read: 70, unchanged: 70, events: 0 });
  });
});

describe("another page", () => {
  const page = (rows: string) => `<title>ROSES-2026 Table 3</title><table><tr><th>APPENDIX<th>PROGRAM<th>NOI<th>Due</tr>${rows}</table>`;
  const readPage = (rows: string) => readFormat(nasaRoses, [textInput(page(rows))]);

  test("has keys of its own year", async () => {
    const { kept } = await readPage("<tr><td>A.2<td>Ice<td>N/A<td>1/2/2027");
    expect([...kept.keys()]).toEqual(["ROSES-2026-A.2"]);
  });

  test("a row without an appendix or a title is rejected alone", async () => {
    const { items, refused, kept } = await readPage(
      "<tr><td>Total<td>70</tr><tr><td>A.2<td> <td>N/A<td>TBD</tr><tr><td>A.3<td>Ice<td>N/A<td>TBD",
    );
    expect(refused).toEqual(['the first cell must be an appendix such as A.2, not "Total"', "the second cell must have a title"]);
    expect(items[1]).toMatchObject({ line: 2, lineage: "ROSES-2026-A.2" });
    expect(kept.size).toBe(1);
  });

  test("a relative address is one of NSPIRES", async () => {
    const { kept } = await readPage('<tr><td>A.2<td><a href="summary.do?solId=1">Ice</a><td>N/A<td>TBD');
    expect(kept.get("ROSES-2026-A.2")?.source.url).toBe("https://nspires.nasaprs.com/external/solicitations/summary.do?solId=1");
  });

  test("unknown words in place of a due date give a warning", async () => {
    const { kept, warnings } = await readPage("<tr><td>A.2<td>Ice<td>N/A<td>Soon");
    expect([kept.get("ROSES-2026-A.2")?.status, warnings]).toEqual([undefined, ['unknown due date "Soon": the program counts as open']]);
  });

  test("the real page is refused wherever it is cut off", async () => {
    const bytes = await bytesOf(await realInput(ROSES));
    for (const share of [0.2, 0.5, 0.9, 0.98, 0.999]) {
      const cut = textInput(bytes.subarray(0, Math.floor(bytes.length * share)), "page.html");
      await expect(readFormat(nasaRoses, [cut])).rejects.toThrow(
        /^Cannot import page\.html: it ends inside <(table|html)>, so it may be truncated$/,
      );
    }
  });

  test("a table that is cut off removes nothing, even if the file is called a snapshot", async () => {
    const catalog = await aCatalog();
    await catalog.takeFiles([realPath(ROSES)], { format: nasaRoses });
    const page = (await bytesOf(await realInput(ROSES))).toString("latin1");
    const cut = aFile(page.slice(0, page.lastIndexOf("F.15")), "cut.html");
    await expect(catalog.takeFiles([cut], { format: nasaRoses, snapshot: true })).rejects.toThrow("it may be truncated");
    expect((await documentsOf(catalog.db)).filter(({ status }) => status === "archived")).toEqual([]);
  });

  test("the tenth note is a note of its own", async () => {
    const notes = Array.from({ length: 11 }, (_, index) => `[${index + 1}] Note ${index + 1}.<br>`).join("");
    const html = `${page("<tr><td>A.2<td>Ice<td>N/A<td>No Due Date [9]</tr><tr><td>A.3<td>Sea<td>N/A<td>No Due Date [10]")}Notes: ${notes}`;
    const { kept } = await readFormat(nasaRoses, [textInput(html)]);
    expect([...kept.values()].map(({ description }) => description)).toEqual(["Note 9.", "Note 10."]);
  });

  test.each([
    ["<html><body>Down for maintenance", "it names no ROSES year, such as ROSES-2025"],
    ["<html>ROSES-2025 <table><tr><td>News<td>x</table>", "it has no table that begins with APPENDIX"],
    ["", "it names no ROSES year"],
  ])("%p is refused as a whole", async (text, fault) => {
    await expect(readFormat(nasaRoses, [textInput(text, "page.html")])).rejects.toThrow(`Cannot import page.html: ${fault}`);
  });
});

describe("NSPIRES", () => {
  test.each([
    [SEPTEMBER, 8],
    [OCTOBER, 13],
    [ROW, 1],
  ])("%s: %d solicitations, none rejected", async (name, rows) => {
    const { items, kept, refused, warnings } = await readFormat(nasaNspires, [await realInput(name)]);
    expect([items.length, kept.size, refused, warnings]).toEqual([rows, rows, [], []]);
  });

  test("a solicitation, field by field", async () => {
    const { kept } = await readFormat(nasaNspires, [await realInput(ROW)]);
    expect([...kept.values()]).toEqual([
      {
        source: {
          code: "NASA_NSPIRES",
          opportunity_id: "6C484060-6A93-367A-DBC6-394F5FA30B96",
          url: "https://nspires.nasaprs.com/external/solicitations/summary.do?method=init&solId=%7B6C484060-6A93-367A-DBC6-394F5FA30B96%7D&path=open",
        },
        title: "Early Stage Innovations (ESI26)",
        organization: { agency: "National Aeronautics and Space Administration" },
        program: {
          type: "BAA",
          contract_class: "NASA Research Announcement",
          solicitation_id: "NNH26ZOA001N-ESI26",
          solicitation_title: "Early Stage Innovations (ESI26)",
        },
        dates: { posted_at: "2026-09-15T00:00:00-04:00", closes_at: "2026-10-13T23:59:59-04:00" },
      },
    ]);
  });

  test("two weeks later, what has closed is an event, and a solicitation that is open past its due date has closed by its date", async () => {
    const catalog = await aCatalog();
    const [first, second] = [Date.UTC(2026, 8, 21, 12), Date.UTC(2026, 9, 5, 12)];
    await catalog.takeFiles([realPath(SEPTEMBER)], { format: nasaNspires, asOf: first });
    expect(await catalog.takeFiles([realPath(OCTOBER)], { format: nasaNspires, asOf: second })).toMatchObject({
      read: 13,
      added: 5,
      rejected: 0,
    });

    const closings = async (id: string) =>
      (await eventsOf(catalog.db, id)).flatMap(({ type, changes, detected_at }) =>
        type === "status_changed" ? [changes, detected_at] : [],
      );
    const turned = [{ field: "status", previous: "closing_soon", current: "closed" }];
    const [closed, pastDue] = ["EB1F0846-36E5-2E9A-30B0-C1DD9BFB40E6", "AB203FB1-0B66-BF02-1A26-EBA50EE72C35"];
    expect(await closings(closed)).toEqual([turned, "2026-10-02T03:59:59.000Z"]);
    expect(await closings(pastDue)).toEqual([turned, "2026-09-30T03:59:59.000Z"]);
    expect(await checkCatalog(catalog.db)).toEqual([]);
    expect(await catalog.takeFiles([realPath(OCTOBER)], { format: nasaNspires })).toMatchObject({ unchanged: 13, events: 0 });
  });

  test("a row without a GUID is rejected alone, and other announcements are what their title says", async () => {
    const rows = [
      { sId: "x" },
      { sId: GUID, title: "Prize Competition", announcement_type: "XYZ", status: "Paused", proposal_due: "soon" },
    ];
    const { refused, drafts, warnings } = await readFormat(nasaNspires, [textInput(JSON.stringify({ aaData: rows }))]);
    expect(refused).toEqual(["sId must be a GUID"]);
    expect(drafts[0]?.program).toMatchObject({ type: "PRIZE", contract_class: "XYZ" });
    expect(warnings).toEqual([
      'unknown status "Paused": the dates decide',
      'unknown announcement type "XYZ"',
      'unreadable date "soon" is left out',
    ]);
  });

  test("an empty list is no error, and a page is", async () => {
    expect((await readFormat(nasaNspires, [textInput('{"aaData":[]}')])).items).toEqual([]);
    await expect(readFormat(nasaNspires, [textInput("<html>Session expired")])).rejects.toThrow("it is not JSON");
  });
});

describe("a program of ROSES and the solicitation at NSPIRES", () => {
  test.each([["ROSES first"], ["NSPIRES first"]])("are linked by GUID or number: %s", async (order) => {
    const catalog = await aCatalog();
    const imports = [
      () => catalog.takeFiles([realPath(ROSES)], { format: nasaRoses }),
      () => catalog.takeFiles([realPath(OCTOBER)], { format: nasaNspires }),
    ];
    for (const run of order === "ROSES first" ? imports : imports.toReversed()) await run();

    const links = (await documentsOf(catalog.db)).flatMap(({ source, relationships }) => {
      const { canonical_id } = relationships as { canonical_id: string | null };
      return canonical_id === null ? [] : [[source.opportunity_id, canonical_id]];
    });
    expect(Object.fromEntries(links)).toEqual({
      "ROSES-2025-A.13": opportunityId("NASA_NSPIRES", "33D1A64A-D7B2-199F-7E02-90E363FB86BC"),
      "ROSES-2025-D.4": opportunityId("NASA_NSPIRES", "5509DEBF-B8B4-2F3D-0EFB-350EFE67DCD5"),
      "ROSES-2025-D.8": opportunityId("NASA_NSPIRES", "7BC438A4-AB22-310E-DE69-08E348C1F294"),
      "ROSES-2025-D.9": opportunityId("NASA_NSPIRES", "BE2AA4DC-81E7-2AF3-B465-8AA6478270A4"),
    });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });
});
