/** Who won earlier rounds of the same call, as `show` and the page have it. The notices are real. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { factsOf } from "../../src/facts/facts.ts";
import { numberOf, type WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { readShown } from "../../src/past/whole.ts";
import { browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch, opportunitiesOf } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const FILE = "sam-gov-page/search-congress-trimmed-20260318.json";
const NOW = Date.UTC(2026, 2, 19, 12);
const ENVELOPE_2025 = "VITATCEImportantTaxRecordsEnvelope648123(2025)";
const [WINNER_2024, WINNER_2023] = [
  "Cenveo Worldwide Williamsburg, Jul 16, 2024 (VITATCEImportantTaxRecordsEnvelope724737(2024))",
  "Victor Envelope Company, Aug 24, 2023 (VITATCEImportantTaxRecordsEnvelope724544(2023))",
];

type Row = Record<string, unknown> & { solicitationNumber: string; award: { awardee: { name: string | null } } };

/** A data directory with the notices, each as `change` returns it. */
async function imported(change: (row: Row) => Row = (row) => row): Promise<string> {
  const data = aDirectory();
  const found = realJson<{ _embedded: { results: Row[] } }>(FILE);
  const results = found._embedded.results.map(change);
  const file = aFile(JSON.stringify({ ...found, _embedded: { results } }));
  const { code, err } = await fundfeed(["import", "sam-gov", file, "--data", data], {}, () => NOW - 1000);
  expect([code, err]).toEqual([0, ""]);
  return data;
}

/** What is told of earlier awards of each opportunity that is no award itself, by its number. */
async function earlierIn(data: string): Promise<Record<string, string[]>> {
  const db = openCatalog(data, NOW, { mode: "read" });
  const told: Record<string, string[]> = {};
  for (const opportunity of await opportunitiesOf(db)) {
    if (opportunity.sidecar.award !== null) continue;
    const shown = await readShown(db, opportunity, { now: NOW });
    if ("unknown" in shown) throw new Error(shown.unknown);
    const { belonging, duplicates, earlierAwards } = shown.record;
    const fact = factsOf(opportunity, { ...belonging, duplicates, earlierAwards }, NOW).find(({ id }) => id === "earlier_awards");
    if (fact !== undefined) told[numberOf(opportunity) ?? ""] = fact.values.map(({ text }) => text);
  }
  await db.close();
  return told;
}

describe("earlier awards", () => {
  test("are those of earlier years of the same office and title, the latest first, each once", async () => {
    expect(await earlierIn(await imported())).toEqual({
      [ENVELOPE_2025]: [WINNER_2024, WINNER_2023],
      "VITATCEImportantTaxRecordsEnvelope724737(2024)": [WINNER_2023],
      "040ADV-26-Q-0019": ["BAY LIGHTING LLC, Dec 12, 2023 (040ADV-23-Q-0068)"], // Its notice was posted twice.
      "030ADV26Q0011": ["RICECAPADES LLC, Jan 12, 2024 (2024-LGD-0093)"], // Numbers of the library's contracts have another form.
    });
  });

  test.each([
    ["of another office", (row: Row) => ({ ...row, organizationHierarchy: [] })],
    ["without a winner", (row: Row) => ({ ...row, award: { awardee: { name: null } } })],
    ["of goods", (row: Row) => ({ ...row, title: `75--${row.title}` })],
    ["of later years", (row: Row) => ({ ...row, solicitationNumber: row.solicitationNumber.replace(/\((2023|2024)\)$/, "(2026)") })],
    ["of the weeks before", (row: Row) => ({ ...row, publishDate: "2025-09-28T16:19:40+00:00" })],
  ])("are not shown %s", async (_, change) => {
    const told = await earlierIn(await imported((row) => (row.award.awardee.name === null ? row : change(row))));
    expect(told[ENVELOPE_2025]).toBeUndefined();
  });

  test.each([
    ["refresh", ["refresh"]],
    ["an import", ["import", "records", aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }])]],
    [
      "an import of the past",
      ["import", "records", aFile([{ source: { code: "OWN", opportunity_id: "1" }, title: "One" }]), "--as-of", "2026-03-19T12:00:00.500Z"],
    ],
  ])("are found in a catalog of a version without them after %s", async (_, command) => {
    const data = await imported();
    const found = await earlierIn(data);
    const db = openCatalog(data, NOW);
    await db.run(rawSql("delete from link_keys where key like 'SAM_GOV award %'"));
    await db.run(rawSql("delete from settings where name = 'award_keys'"));
    await db.close();
    expect(await earlierIn(data)).toEqual({});
    expect((await fundfeed([...command, "--data", data], {}, () => NOW + 1000)).code).toBe(0);
    expect(await earlierIn(data)).toEqual(found);
    expect((await fundfeed(["check", "--data", data], {}, () => NOW + 2000)).code).toBe(0);
  });

  test("are the same in show, as JSON and on the page, and none as of the past", async () => {
    const data = await imported();
    const run = async (...args: string[]) => (await fundfeed(["show", ENVELOPE_2025, ...args, "--data", data], {}, () => NOW)).out;
    const [text, json] = [await run(), JSON.parse(await run("--json"))];
    const [first, second] = json.earlier_awards;
    expect(json.earlier_awards).toMatchObject([
      { number: "VITATCEImportantTaxRecordsEnvelope724737(2024)", awardee: "Cenveo Worldwide Williamsburg", amount: null, date: null },
      { number: "VITATCEImportantTaxRecordsEnvelope724544(2023)", awardee: "Victor Envelope Company", award_number: null },
    ]);
    const told = text.replaceAll(/\n {13}/g, " ");
    expect(told).toContain(`\nearlier awards ${WINNER_2024}, id ${first.id.slice(0, 8)} ${WINNER_2023}, id ${second.id.slice(0, 8)}\n`);
    expect(await run("--as-of", "2026-03-19T11:59:59.500Z")).not.toContain("earlier awards");

    const site = await browsed(data, NOW);
    const page = await (await fetch(`${site.origin}/opportunities/${json.id}`)).text();
    await site.stop();
    for (const [award, winner] of [[first, WINNER_2024] as const, [second, WINNER_2023] as const])
      expect(page).toContain(`<a href="/opportunities/${award.id}">${winner}</a>`);
    expect(page).toContain("<h2>Who won before</h2>");
  });

  test("cost two reads, or one where there are none", async () => {
    const db = openCatalog(await imported(), NOW, { mode: "read" });
    const all = await opportunitiesOf(db);
    let reads = 0;
    const countAndRead = (...call: Parameters<typeof db.all>) => {
      reads++;
      return db.all(...call);
    };
    const counting = { ...db, all: countAndRead as typeof db.all };
    const readsOf = async (opportunity: WholeOpportunity) => {
      reads = 0;
      const shown = await readShown(counting, opportunity, { now: NOW });
      return [reads, "record" in shown && shown.record.earlierAwards.length];
    };
    const costOf = async (number: string) => {
      const found = all.find((each) => numberOf(each) === number) as WholeOpportunity;
      const [without] = await readsOf({ ...found, organization: { ...found.organization, issuing_office: null } });
      const [reads, awards] = await readsOf(found);
      return [Number(reads) - Number(without), awards];
    };
    expect(await costOf(ENVELOPE_2025)).toEqual([2, 2]);
    expect(await costOf("AOCACB25D0010")).toEqual([1, 0]);
    await db.close();
  });
});

test("a search of the page backend keeps the amount and the number of an award that another layout has", async () => {
  const [award] = realJson<{ _embedded: { results: Row[] } }>(FILE)._embedded.results.filter(({ award }) => award.awardee.name !== null);
  const data = aDirectory();
  const notice = {
    NoticeId: award?._id,
    Title: award?.title,
    "Sol#": award?.solicitationNumber,
    Type: "Award Notice",
    BaseType: "Award Notice",
    Active: "Yes",
    AwardNumber: "LC-1",
    Award$: "1500",
    Awardee: `${award?.award.awardee.name} Washington DC 20540 USA`,
    PostedDate: "2025-07-08 10:00:00-04",
  };
  const results = { _embedded: { results: [award] } };
  for (const file of [aFile(JSON.stringify([notice])), aFile(JSON.stringify(results))])
    await fundfeed(["import", "sam-gov", file, "--data", data], {}, () => NOW);
  const db = openCatalog(data, NOW, { mode: "read" });
  const stored = await opportunitiesOf(db);
  await db.close();
  expect(stored.map(({ sidecar, funding }) => [sidecar.award?.number, sidecar.award?.awardee, funding?.amount_max])).toEqual([
    ["LC-1", notice.Awardee, "1500.00"],
  ]);
});
