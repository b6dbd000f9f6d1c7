/** Which door shows which member of an opportunity: doors.tsv has the table, and this test makes it again. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Draft } from "../../src/import/format.ts";
import { Opportunity, Sidecar } from "../../src/opportunities/opportunity.ts";
import { browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";
import { connectMcp } from "../support/mcp.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const NOW = Date.parse("2026-11-27T15:00:00Z");

/** What a value looks like in the text of some door. */
const day = (iso: string, words: string) => [iso, iso.replaceAll("-", ""), words];
/** A value of its own for each member that a source states. Two due dates are listed, and `closes_at` is another day. */
const needles: Readonly<Record<string, readonly string[]>> = {
  "source.code": ["ZQSOURCE"],
  "source.name": ["Zq Source"],
  "source.opportunity_id": ["ZQ-UPSTREAM-1"],
  "source.url": ["https://example.org/zq"],
  title: ["Zqtitle"],
  summary: ["zqsummary"],
  description: ["zqdescription"],
  status: ["open"],
  status_display: ["Zqdisplay"],
  "organization.agency": ["Zqagency"],
  "organization.sub_agency": ["Zqsub"],
  "organization.issuing_office": ["Zqoffice"],
  "program.type": ["SBIR"],
  "program.solicitation_id": ["ZQ-SOL-7"],
  "program.solicitation_title": ["Zqsolicitation"],
  "program.contract_class": ["Zqclass"],
  "dates.posted_at": day("2026-02-03", "Feb 3, 2026"),
  "dates.opens_at": day("2026-03-04", "Mar 4, 2026"),
  "dates.closes_at": day("2027-06-07", "Jun 7, 2027"),
  "dates.response_at": day("2027-04-05", "Apr 5, 2027"),
  "funding.display": ["zqmoney"],
  "funding.amount_min": ["1001", "1,001"],
  "funding.amount_max": ["2002", "2,002"],
  "classifications.naics_codes": ["541715"],
  "classifications.set_aside_types": ["ZQASIDE"],
  "classifications.tech_taxonomy": ["PSC:ZQ11"],
  "classifications.keywords": ["zqkeyword"],
  "classifications.technology_areas": ["zqarea"],
  "eligibility.requirements": ["zqrequirement"],
  "eligibility.geographic_scope": ["Zqscope"],
  contacts: ["zq@example.org"],
  "sidecar.attachments": ["zqfile.pdf"],
  "sidecar.questions": ["zqquestion"],
  "sidecar.agency_codes": ["ZQCODE"],
  "sidecar.due_dates": day("2027-05-06", "May 6, 2027"),
  "sidecar.expires_at": day("2027-07-08", "Jul 8, 2027"),
  "sidecar.deadline_note": ["zqnote"],
  "sidecar.applicant_types": ["zqapplicant"],
  "sidecar.place": ["Zqcity"],
  "sidecar.award": ["Zqwinner"],
};

/** Members that fundfeed sets, which lead from one record to another, or which are always null. */
const OWN = ["id", "created_at", "updated_at", "relationships", "value_estimate", "sidecar.questions_read"];

const record: Draft = {
  source: { code: "ZQSOURCE", name: "Zq Source", opportunity_id: "ZQ-UPSTREAM-1", url: "https://example.org/zq" },
  title: "Zqtitle of a call",
  summary: "A zqsummary.",
  description: "A zqdescription.",
  status: "open",
  status_display: "Zqdisplay",
  organization: { agency: "Zqagency", sub_agency: "Zqsub", issuing_office: "Zqoffice" },
  program: { type: "SBIR", solicitation_id: "ZQ-SOL-7", solicitation_title: "Zqsolicitation", contract_class: "Zqclass" },
  dates: {
    posted_at: "2026-02-03T12:00:00Z",
    opens_at: "2026-03-04T12:00:00Z",
    closes_at: "2027-06-07T21:00:00Z",
    response_at: "2027-04-05T21:00:00Z",
  },
  funding: { display: "zqmoney for all", amount_min: "1001", amount_max: "2002" },
  classifications: {
    naics_codes: ["541715"],
    set_aside_types: ["ZQASIDE"],
    tech_taxonomy: ["PSC:ZQ11"],
    keywords: ["zqkeyword"],
    technology_areas: ["zqarea"],
  },
  eligibility: { requirements: "zqrequirement", geographic_scope: "Zqscope" },
  contacts: [{ name: "Zq Contact", email: "zq@example.org", phone: null, role: null }],
  attachments: [{ name: "zqfile.pdf", kind: null, url: "https://example.org/zqfile.pdf" }],
  questions: [{ question: "zqquestion?", answer: "Yes." }],
  agency_codes: ["ZQCODE"],
  due_dates: [
    { at: "2027-04-05T21:00:00Z", words: null },
    { at: "2027-05-06T21:00:00Z", words: null },
  ],
  expires_at: "2027-07-08T21:00:00Z",
  deadline_note: "zqnote",
  applicant_types: ["zqapplicant"],
  place: { city: "Zqcity", state: null, country: null },
  award: { number: null, date: null, amount: null, awardee: "Zqwinner" },
};

/** The text of each door about the record. */
async function doorsOf(data: string): Promise<Record<string, string>> {
  const run = async (...args: string[]) => {
    const { code, out, err } = await fundfeed([...args, "--data", data], {}, () => NOW);
    expect([code, err.includes("Cannot")]).toEqual([0, false]);
    return out.replaceAll(/\r\n /g, "");
  };
  const site = await browsed(data, NOW);
  const { id } = JSON.parse(await run("export"));
  const mcp = await connectMcp(["--data", data], { now: NOW });
  try {
    return {
      show: await run("show", id),
      page: await (await fetch(`${site.origin}/opportunities/${id}`)).text(),
      MCP: (await mcp.call("get", { id })).text,
      list: await run("find"),
      calendar: await run("find", "--format", "ics"),
      feed: await run("changes", "--since", "2d", "--format", "md"),
      CSV: await run("export", "--format", "csv"),
      NDJSON: await run("export"),
    };
  } finally {
    await mcp.close();
    await site.stop();
  }
}

test("what is known only of the past is as old as that at MCP, however late it was imported", async () => {
  const data = aDirectory();
  const file = aFile([record]);
  await fundfeed(["import", "records", file, "--as-of", "2021-07-08T01:22:27Z", "--data", data], {}, () => NOW - 1000);
  const mcp = await connectMcp(["--data", data], { now: NOW });
  const { data: found, text } = await mcp.call("find");
  await mcp.close();
  expect(found.freshness).toMatchObject([{ source: "ZQSOURCE", as_of: "2021-07-08T01:22:27.000Z", silent_since: null }]);
  expect(text).toContain("Data as of: ZQSOURCE 5 years ago");
});

test("every member of an opportunity is at the doors that doors.tsv names", async () => {
  const members = [...Object.keys(Opportunity.properties), ...Object.keys(Sidecar.properties).map((name) => `sidecar.${name}`)].filter(
    (name) => !OWN.includes(name),
  );
  const covered = new Set(Object.keys(needles).flatMap((path) => [path, path.split(".")[0] ?? ""]));
  expect(members.filter((name) => !covered.has(name))).toEqual([]);
  const data = aDirectory();
  const imported = await fundfeed(["import", "records", aFile([record]), "--data", data], {}, () => NOW - 86_400_000);
  expect([imported.code, imported.err]).toEqual([0, expect.any(String)]);
  const doors = await doorsOf(data);
  const names = Object.keys(doors);
  const rows = Object.entries(needles).map(([path, values]) => {
    const shown = names.map((name) => (values.some((value) => doors[name]?.includes(value)) ? "yes" : "–"));
    return [path, ...shown].join("\t");
  });
  const table = `${[["Member", ...names].join("\t"), ...rows].join("\n")}\n`;
  const path = join(import.meta.dir, "doors.tsv");
  if (process.env.UPDATE_DOCS === "1") return writeFileSync(path, table);
  expect(readFileSync(path, "utf8")).toBe(table);
});
