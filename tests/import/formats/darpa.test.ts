import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../../src/changes/check.ts";
import { darpa } from "../../../src/import/formats/darpa.ts";
import { samGov } from "../../../src/import/formats/sam-gov.ts";
import { opportunityId } from "../../../src/opportunities/identity.ts";
import { aCatalog, aFile, documentOf, documentsOf, dropScratch, type TestCatalog, withoutLinks } from "../../support/imports.ts";
import { readFormat, realInput, textInput } from "../../support/read-format.ts";
import { realPath } from "../../support/real-data.ts";

afterAll(dropScratch);

const FILE = "darpa/opportunity-20260905.json";
const NOW = "2026-09-05T12:00:00Z";
const feed = (...rows: object[]) => textInput(JSON.stringify(rows));
const readReal = async () => readFormat(darpa, [await realInput(FILE)]);

describe("the real feed", () => {
  test("20 rows are 10 opportunities: each has an empty row, which the full one replaces", async () => {
    const { items, drafts, kept, refused, warnings } = await readReal();
    expect([items.length, drafts.length, kept.size, refused, warnings]).toEqual([20, 10, 10, [], []]);
    for (const { description } of drafts) expect(description).not.toBeNull();
  });

  test("an opportunity, field by field", async () => {
    const { kept } = await readReal();
    expect(kept.get("5381")).toEqual({
      source: {
        code: "DARPA",
        opportunity_id: "5381",
        url: "https://sam.gov/workspace/contract/opp/3ac25ac710fb438e8d25d99783cee845/view",
      },
      title: "SHINE",
      summary:
        "DSO is issuing a Disruption Opportunity, inviting submissions of innovative basic or applied research concepts in the technical domain of targeted neuroplasticity.",
      description:
        "<p>DSO is issuing a Disruption Opportunity, inviting submissions of innovative basic or applied research concepts in the technical domain of targeted neuroplasticity.</p>",
      organization: { agency: "Defense Advanced Research Projects Agency (DARPA)", issuing_office: "Defense Sciences Office" },
      program: { type: null, solicitation_id: "DARPA-PA-25-07-06", solicitation_title: "SHINE" },
      dates: { opens_at: "2026-08-28T00:00:00-04:00", closes_at: "2026-10-09T23:59:59-04:00" },
      classifications: { keywords: ["Neuroscience", "Cognitive Science", "Health", "Therapeutics", "Biological", "Complexity"] },
      attachments: [{ name: "See Program", url: "https://www.darpa.mil/research/programs/shine" }],
      relationships: { parent_id: opportunityId("DARPA", "4447") },
    });
  });

  test("types come from the beginning of titles", async () => {
    const { kept } = await readReal();
    expect(
      [...kept.values()]
        .filter(({ program, status }) => program?.type || status)
        .map((each) => [each.title, each.program?.type, each.status]),
    ).toEqual([
      ["Future Program: Firefox", null, "forecast"],
      ["Industry Day: NGHCM", "INDUSTRY_EVENT", undefined],
      ["RFI: Next Generation Hypersonic Cruise Missiles", "RFI", undefined],
    ]);
  });

  test("topics name the umbrella under whose number they were issued, even when it has left the feed", async () => {
    const catalog = await aCatalog();
    await catalog.takeFiles([realPath(FILE)], { format: darpa });
    const parents = (await documentsOf(catalog.db)).map(({ source, relationships }) => [
      source.opportunity_id,
      (relationships as { parent_id: string }).parent_id,
    ]);
    const [disruptioneering, qbi] = ["4447", "4484"].map((id) => opportunityId("DARPA", id));
    expect(Object.fromEntries(parents.filter(([, parent]) => parent !== null))).toEqual({
      "5381": disruptioneering,
      "5351": disruptioneering,
      "4694": qbi,
      "4486": qbi,
    });

    const rows = (await Bun.file(realPath(FILE)).json()) as { nid: string }[];
    const later = await catalog.take(JSON.stringify(rows.filter(({ nid }) => nid !== "4447")), { format: darpa });
    expect(later).toMatchObject({ unchanged: 9, merged: 9, changed: 0 });
  });

  test("importing it again changes nothing", async () => {
    const catalog = await aCatalog();
    expect(await catalog.takeFiles([realPath(FILE)], { format: darpa })).toMatchObject({ read: 20, added: 10, merged: 10, events: 10 });
    expect(await catalog.takeFiles([realPath(FILE)], { format: darpa })).toMatchObject({ read: 20, unchanged: 10, merged: 10, events: 0 });
    expect(await checkCatalog(catalog.db)).toEqual([]);
  });
});

describe("a future program", () => {
  const FIREFOX = { nid: "5468", title: "Future Program: Firefox", field_open_date: "2026-09-04", field_close_date: "2026-09-11" };
  const [BEFORE, AFTER] = [Date.parse(NOW), Date.parse("2026-09-12T12:00:00Z")];
  const statusOf = async (catalog: TestCatalog) => {
    const { title, status, status_display } = await documentOf(catalog.db, FIREFOX.nid);
    return [title, status, status_display];
  };

  test("is open, without a status_display, once the feed calls it a program", async () => {
    const catalog = await aCatalog();
    catalog.clock.now = BEFORE;
    await catalog.take(JSON.stringify([FIREFOX]), { format: darpa });
    expect(await statusOf(catalog)).toEqual(["Future Program: Firefox", "forecast", "Future Program"]);
    const opened = JSON.stringify([{ ...FIREFOX, title: "Firefox", field_close_date: "2026-11-30" }]);
    await catalog.take(opened, { format: darpa });
    expect(await statusOf(catalog)).toEqual(["Firefox", "open", null]);
    expect(await catalog.take(opened, { format: darpa })).toMatchObject({ unchanged: 1, events: 0 });
  });

  test("is closed when its close date has passed, although the feed still calls it a future program", async () => {
    const catalog = await aCatalog();
    catalog.clock.now = BEFORE;
    await catalog.take(JSON.stringify([FIREFOX]), { format: darpa });
    catalog.clock.now = AFTER;
    await catalog.take(JSON.stringify([FIREFOX]), { format: darpa });
    expect(await statusOf(catalog)).toEqual(["Future Program: Firefox", "closed", null]);
  });
});

test("of two feeds in one import, the second one counts, although it says less", async () => {
  const full = { nid: "1", title: "X", field_body_with_summary: "<p>A long text of August</p>", field_close_date: "2026-09-30" };
  const later = { ...full, field_body_with_summary: "<p>September</p>", field_close_date: "2026-10-31" };
  const catalog = await aCatalog();
  await catalog.takeFiles(
    [full, later].map((row) => aFile(JSON.stringify([{ ...row, field_body_with_summary: "" }, row]))),
    { format: darpa },
  );
  expect(await documentOf(catalog.db, "1")).toMatchObject({
    description: "<p>September</p>",
    dates: { closes_at: "2026-10-31T23:59:59-04:00" },
  });
});

test("of two full rows of one feed, the last one counts", async () => {
  const row = (date: string) => ({ nid: "1", title: "X", field_body_with_summary: "<p>Text</p>", field_close_date: date });
  const { drafts } = await readFormat(darpa, [feed(row("2026-09-30"), row("2026-10-31"), { nid: "1", title: "X" })]);
  expect(drafts.map(({ dates }) => dates?.closes_at)).toEqual(["2026-10-31T23:59:59-04:00"]);
});

test("a relative address is one of DARPA's site", async () => {
  const { drafts } = await readFormat(darpa, [feed({ nid: "1", title: "X", field_external_url: "/work-with-us/x" })]);
  expect(drafts[0]?.source.url).toBe("https://www.darpa.mil/work-with-us/x");
});

describe("the notice at SAM.gov", () => {
  const notice = (NoticeId: string, PostedDate: string) => ({
    NoticeId,
    Title: "SHINE",
    "Sol#": "DARPA-PA-25-07-06",
    "AAC Code": "HR0011",
    Type: "Special Notice",
    BaseType: "Special Notice",
    PostedDate,
  });
  const linked = async (catalog: Awaited<ReturnType<typeof aCatalog>>, id: string) =>
    ((await documentOf(catalog.db, id)).relationships as { canonical_id: string | null }).canonical_id;
  const first = notice("3ac25ac710fb438e8d25d99783cee845", "2026-08-28");
  const amended = notice("11111111111111111111111111111111", "2026-09-01");

  test("is the canonical record, whichever came first", async () => {
    const [one, other] = [await aCatalog(), await aCatalog()];
    await one.takeFiles([aFile(JSON.stringify([first]))], { format: samGov });
    await one.takeFiles([realPath(FILE)], { format: darpa });
    await other.takeFiles([realPath(FILE)], { format: darpa });
    const dry = await other.takeFiles([aFile(JSON.stringify([first]))], { format: samGov, dryRun: true });
    const outcome = await other.takeFiles([aFile(JSON.stringify([first]))], { format: samGov });

    expect(dry).toEqual(withoutLinks(outcome));
    expect(outcome).toMatchObject({ added: 1, linked: 1 });
    const canonical = (await documentOf(one.db, first.NoticeId)).id;
    expect([await linked(one, "5381"), await linked(other, "5381")]).toEqual([canonical, canonical]);
  });

  test("is found by an earlier id after an amendment", async () => {
    const catalog = await aCatalog();
    await catalog.takeFiles([aFile(JSON.stringify([first]))], { format: samGov });
    await catalog.takeFiles([aFile(JSON.stringify([amended]))], { format: samGov });
    await catalog.takeFiles([realPath(FILE)], { format: darpa });
    expect(await linked(catalog, "5381")).toBe((await documentOf(catalog.db, amended.NoticeId)).id);
  });
});

test.each([
  ["Proposers Day: PINPOINT", "INDUSTRY_EVENT"],
  ["Defense Sciences Office-wide BAA", "BAA"],
  ["PINPOINT: an RFI: follow-up", "RFI"],
  ["SHINE", null],
])("%p is of the type %p", async (title, type) => {
  const { drafts } = await readFormat(darpa, [feed({ nid: "1", title })]);
  expect(drafts[0]?.program?.type as string | null).toBe(type);
});

test.each([
  ['<p>Text. | <a href="https://example.gov/x">See&nbsp;Event</a> More</p>', "<p>Text. More</p>", "https://example.gov/x"],
  ['<p>See <a href="/about">us</a>.</p>', '<p>See <a href="https://www.darpa.mil/about">us</a>.</p>', undefined],
  ["<p>A | B</p>", "<p>A | B</p>", undefined],
])("the text %p ends without its link", async (body, text, url) => {
  const { drafts } = await readFormat(darpa, [feed({ nid: "1", title: "X", field_body_with_summary: body })]);
  expect([drafts[0]?.description, drafts[0]?.attachments?.[0]?.url ?? undefined]).toEqual([text, url as string]);
});

test("a number of two opportunities is nobody's umbrella", async () => {
  const numbered = (nid: string, field_opportunity_number: string) => ({ nid, title: "X", field_opportunity_number });
  const { kept } = await readFormat(darpa, [feed(numbered("1", "PA-25-07"), numbered("2", "PA-25-07"), numbered("3", "PA-25-07-01"))]);
  expect(kept.get("3")?.relationships).toBeUndefined();
});

test.each([
  ["{}", "it is not a JSON array"],
  ['[{"title":"x"}]', "element 1 has no nid"],
  ["<html>maintenance</html>", "it is not JSON"],
])("refuses %p as a whole: %s", async (text, fault) => {
  await expect(readFormat(darpa, [textInput(text)])).rejects.toThrow(fault);
});
