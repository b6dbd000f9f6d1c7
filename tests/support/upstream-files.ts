/** A file in every format and layout that can be imported, mostly real excerpts, as records that a test can change and write again. */
import type { Format } from "../../src/import/format.ts";
import { challengeGov } from "../../src/import/formats/challenge-gov.ts";
import { darpa } from "../../src/import/formats/darpa.ts";
import { dsip } from "../../src/import/formats/dsip.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { nasaNspires } from "../../src/import/formats/nasa-nspires.ts";
import { nasaRoses } from "../../src/import/formats/nasa-roses.ts";
import { nsf } from "../../src/import/formats/nsf.ts";
import { records } from "../../src/import/formats/records.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { sbirGov } from "../../src/import/formats/sbir-gov.ts";
import { simplerGrantsGov } from "../../src/import/formats/simpler-grants-gov.ts";
import { csvRows } from "../../src/import/readers/csv-rows.ts";
import { pieces } from "./read-format.ts";
import { realFile, realJson } from "./real-data.ts";
import { simplerRecords } from "./simpler-layouts.ts";

/** Text that is written as it is. Other strings are quoted and escaped. */
export class Raw {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

export type Fields = { readonly [name: string]: unknown };

type About = {
  name: string;
  /** Undefined for events. */
  format?: Format;
  /** The field that identifies a record, with dots where it is nested. */
  id: string;
  /** The field that becomes the title. */
  title: string;
};

export type UpstreamFile = About & {
  syntax: "json" | "csv" | "xml" | "html";
  records: readonly Fields[];
  /** The whole file with these records. A lone surrogate from U+DC80 to U+DCFF is written as a single byte, from 0x80 to 0xFF. */
  write: (records: readonly unknown[]) => Buffer;
  /** The line of a record in the rejects file. */
  lineOf: (records: readonly unknown[], index: number) => number;
};

/** Records in each file: few, so that an import takes milliseconds. */
const RECORDS = 11;

/** As many of these as a file has: the first again, under other ids, where there are too few. */
function recordsOf(all: readonly Fields[], id: string): Fields[] {
  return Array.from({ length: RECORDS }, (_, n) => all[n] ?? { ...all[0], [id]: `Z.${n}` });
}

function bytesOf(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/([\udc80-\udcff])/u);
  return Buffer.concat(parts.map((part, index) => (index % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) - 0xdc00))));
}

/* JSON */

function json(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(json).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${json(member)}`).join(",")}}`;
}

function jsonFile(about: About, all: readonly Fields[], [before, after] = ["[", "]"]): UpstreamFile {
  return {
    ...about,
    syntax: "json",
    records: recordsOf(all, about.id),
    write: (changed) => bytesOf(`${before}${changed.map(json).join(",\n")}${after}`),
    lineOf: (_, index) => index + 1,
  };
}

function ndjsonFile(about: About, all: readonly Fields[]): UpstreamFile {
  return { ...jsonFile(about, all), write: (changed) => bytesOf(changed.map((record) => `${json(record)}\n`).join("")) };
}

/* CSV */

async function csvFile(about: About, path: string, wanted = (rows: Fields[]) => rows): Promise<UpstreamFile> {
  const rows = wanted((await Array.fromAsync(csvRows(pieces(realFile(path)), []))).map(({ raw }) => raw));
  const columns = Object.keys(rows[0] ?? {});
  const cell = (value: unknown) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const rowOf = (record: unknown) => `${columns.map((column) => cell((record as Fields)[column])).join(",")}\r\n`;
  return {
    ...about,
    syntax: "csv",
    records: recordsOf(rows, about.id),
    write: (changed) => bytesOf(`${columns.map(cell).join(",")}\r\n${changed.map(rowOf).join("")}`),
    lineOf: (changed, index) => 1 + changed.slice(0, index).map(rowOf).join("").split("\n").length,
  };
}

/* XML */

/** An extract, with one child element of each name in a record. */
function xmlFile(about: About, path: string, element: string): UpstreamFile {
  const found = realFile(path)
    .toString()
    .matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs"));
  const childrenOf = (text: string) => [...text.matchAll(/<(\w+)[^>]*>([^<]*)<\/\1>/g)];
  const escaped = (value: unknown) => (value instanceof Raw ? value.text : Bun.escapeHTML(String(value)));
  const elementOf = (record: unknown) => {
    const children = Object.entries(record as Fields).filter(([, value]) => value !== undefined);
    return `<${element}>${children.map(([name, value]) => `<${name}>${escaped(value)}</${name}>`).join("\n")}</${element}>\n`;
  };
  return {
    ...about,
    syntax: "xml",
    records: [...found.take(RECORDS)].map(([, text = ""]) =>
      Object.fromEntries(childrenOf(text).map(([, name = "", content = ""]) => [name, new Raw(content)])),
    ),
    write: (changed) => bytesOf(`<Grants>${changed.map(elementOf).join("")}</Grants>`),
    lineOf: (_, index) => index + 1,
  };
}

/* HTML */

/** The page of ROSES, with the cells of one row in a record. */
function rosesPage(): UpstreamFile {
  const page = realFile("nasa-roses/roses-2025-table3.html").toString("latin1");
  const row =
    /<div align="Center">([A-F]\.\d+)<\/div><\/td>\s*<td><a href="([^"]*)">\s*([^<]*)<\/a><\/td>\s*<td> <div align="Center">([\d/]*)<(.*?)<\/tr>/gs;
  const found = [...page.matchAll(row)].map(([, appendix, url, title, step1, rest = ""]) => ({
    appendix,
    url,
    title,
    step1,
    due: /\d\d\/\d\d\/\d{4}/.exec(rest)?.[0] ?? "TBD",
  }));
  const cell = (value: unknown) => `<td>${value instanceof Raw ? value.text : Bun.escapeHTML(String(value ?? ""))}</td>`;
  const rowOf = (record: unknown) => {
    const { appendix, url, title, step1, due } = record as Fields;
    const link = new Raw(`<a href="${Bun.escapeHTML(String(url ?? ""))}">${cell(title).slice(4, -5)}</a>`);
    return `<tr>${[appendix, link, step1, due].map(cell).join("")}</tr>\n`;
  };
  return {
    name: "NASA ROSES page",
    format: nasaRoses,
    id: "appendix",
    title: "title",
    syntax: "html",
    records: recordsOf(found, "appendix"),
    write: (changed) => bytesOf(`${page.slice(0, page.indexOf("<!--AAAA"))}${changed.map(rowOf).join("")}</table></html>`),
    lineOf: (_, index) => index + 1,
  };
}

/* All files */

export async function upstreamFiles(): Promise<UpstreamFile[]> {
  return [
    ...ownFiles(),
    ...grantsGovFiles(),
    ...(await samGovFiles()),
    ...(await sbirFiles()),
    ...(await agencyFiles()),
    ...(await otherFiles()),
  ];
}

/** Records that the events in the file of events belong to. */
export const recordsWithEvents = Array.from({ length: RECORDS }, (_, n) => ({
  source: { code: "OWN", opportunity_id: `N${n}` },
  title: "Storage pilots",
}));

function ownFiles(): UpstreamFile[] {
  const own = recordsWithEvents.map(({ source, title }, n) => ({
    source: { ...source, url: `https://example.gov/${n}` },
    title: `${title} ${n}`,
    description: "<p>Text</p>",
    organization: { agency: "Department of Energy" },
    program: { type: "GRANT", solicitation_id: `S-${n}` },
    funding: { amount_min: "1.50", amount_max: "2.50" },
    dates: { closes_at: "2026-12-18T17:00:00-05:00" },
    classifications: { keywords: ["a", "b"] },
    contacts: [{ name: "Ann", email: "ann@example.gov" }],
    attachments: [{ name: "a.pdf", url: "https://example.gov/a.pdf" }],
    questions: [{ question: "Why?", answer: "Because." }],
    lineage: `L${n}`,
    earlier_ids: [`M${n}`],
    id: "ignored",
  }));
  const events = recordsWithEvents.map(({ source }, n) => ({
    source,
    type: "date_changed",
    severity: "material",
    summary: `Moved ${n}`,
    changed_fields: ["dates.closes_at"],
    changes: [{ field: "dates.closes_at", previous: null, current: "2026-12-18T17:00:00-05:00" }],
    detected_at: "2026-01-01T00:00:00Z",
  }));
  return [
    ndjsonFile({ name: "records", format: records, id: "source.opportunity_id", title: "title" }, own),
    ndjsonFile({ name: "events", id: "source.opportunity_id", title: "summary" }, events),
  ];
}

function grantsGovFiles(): UpstreamFile[] {
  const search = realJson<{ data: { oppHits: Fields[] } }>("grants-gov/derived/search2-20260803.reconstructed.json");
  const details = realJson<Fields>("grants-gov/opportunity-details-358302.json");
  return [
    xmlFile(
      { name: "Grants.gov extract", format: grantsGov, id: "OpportunityID", title: "OpportunityTitle" },
      "grants-gov/derived/GrantsDBExtract20260803v2.reconstructed.xml",
      "OpportunitySynopsisDetail_1_0",
    ),
    xmlFile(
      { name: "Grants.gov extract before 2016", format: grantsGov, id: "FundingOppNumber", title: "FundingOppTitle" },
      "grants-gov/grants-extract-legacy-dtd.xml",
      "FundingOppSynopsis",
    ),
    jsonFile({ name: "Grants.gov search", format: grantsGov, id: "id", title: "title" }, search.data.oppHits, [
      '{"errorcode":0,"data":{"oppHits":[',
      "]}}",
    ]),
    jsonFile(
      { name: "Simpler.Grants.gov search", format: grantsGov, id: "legacy_opportunity_id", title: "opportunity_title" },
      simplerRecords(),
      ['{"data":[', '],"status_code":200}'],
    ),
    jsonFile(
      { name: "Simpler.Grants.gov extract", format: grantsGov, id: "legacy_opportunity_id", title: "opportunity_title" },
      simplerRecords(),
      ['{"metadata":{},"opportunities":[', "]}"],
    ),
    jsonFile({ name: "Grants.gov details", format: grantsGov, id: "id", title: "opportunityTitle" }, [details]),
  ];
}

async function samGovFiles(): Promise<UpstreamFile[]> {
  const rows = realJson<Fields[]>("sam-gov/daily/records-20260330.json");
  const response = realJson<{ opportunitiesData: Fields[] }>("sam-gov/v2-search-20260202.json");
  const found = realJson<{ _embedded: { results: Fields[] } }>("sam-gov-page/search-naics484110-20260923.json")._embedded.results;
  const details = ["18011fdf-naics561720", "2e20258d-combined", "be2e3210-naics484210"].map((name) => {
    const { id: _, ...detail } = realJson<Fields>(`sam-gov-page/detail-${name}-20260921.json`);
    return detail;
  });
  return [
    jsonFile({ name: "SAM.gov rows", format: samGov, id: "NoticeId", title: "Title" }, alone(rows)),
    await csvFile(
      { name: "SAM.gov CSV", format: samGov, id: "NoticeId", title: "Title" },
      "sam-gov/derived/ContractOpportunitiesFullCSV-20260330.reconstructed.csv",
      alone,
    ),
    jsonFile({ name: "SAM.gov API", format: samGov, id: "noticeId", title: "title" }, alone(response.opportunitiesData), [
      '{"opportunitiesData":[',
      "]}",
    ]),
    jsonFile({ name: "SAM.gov page search", format: samGov, id: "_id", title: "title" }, alone(found), [
      '{"_embedded":{"results":[',
      "]}}",
    ]),
    jsonFile({ name: "SAM.gov page details", format: samGov, id: "opportunityId", title: "data2.title" }, alone(details)),
  ];
}

/** Notices, some repeatedly, without what makes them versions of another: each becomes a record of its own. */
function alone(notices: readonly Fields[]): Fields[] {
  return Array.from({ length: RECORDS }, (_, n) => {
    const [id, number] = [`${n}`.padStart(32, "a"), `S${n}`];
    const notice: Fields = { ...notices[n % notices.length] };
    if ("NoticeId" in notice) return { ...notice, NoticeId: id, "Sol#": number };
    if ("noticeId" in notice) return { ...notice, noticeId: id, solicitationNumber: number };
    if ("_id" in notice) return { ...notice, _id: id, solicitationNumber: number, parentNoticeId: null };
    return { ...notice, opportunityId: id, parent: {}, _links: {} };
  });
}

async function sbirFiles(): Promise<UpstreamFile[]> {
  const solicitations = realJson<{ solicitation_topics: unknown[] }[]>("sbir-gov/solicitations-20250914.json");
  const short = solicitations.map((each) => ({ ...each, solicitation_topics: each.solicitation_topics.slice(0, 2) }));
  return [
    jsonFile({ name: "SBIR.gov API", format: sbirGov, id: "solicitation_number", title: "solicitation_title" }, short),
    await csvFile(
      { name: "SBIR.gov CSV", format: sbirGov, id: "Topic Number", title: "Topic Title" },
      "sbir-gov/topics_search-20250714.csv",
      (rows) => rows.filter(({ Agency }) => Agency !== "DOD"), // These are known by their page, which topics of the DoD are not.
    ),
  ];
}

async function agencyFiles(): Promise<UpstreamFile[]> {
  const feed = realJson<{ nid: string; field_body_with_summary: string }[]>("darpa/opportunity-20260905.json");
  const solicitations = realJson<{ aaData: Fields[] }>("nasa-nspires/solicitationsJSON-20261005.reconstructed.json");
  return [
    await csvFile({ name: "NSF CSV", format: nsf, id: "Program ID", title: "Title" }, "nsf/nsf_funding-20250717.csv", (rows) =>
      rows.filter((row) => row["Program ID"]),
    ),
    jsonFile(
      { name: "DARPA feed", format: darpa, id: "nid", title: "title" },
      feed.filter(({ field_body_with_summary }) => field_body_with_summary),
    ),
    rosesPage(),
    jsonFile({ name: "NASA NSPIRES list", format: nasaNspires, id: "sId", title: "title" }, solicitations.aaData, ['{"aaData":[', "]}"]),
  ];
}

async function otherFiles(): Promise<UpstreamFile[]> {
  const search = realJson<{ data: Fields[] }>("dod-dsip/raw_api_search_response.json");
  const enriched = realJson<{ topics: Fields[] }>("dod-dsip/cli_enrich_complete.json");
  // The instructions are 380 KB of text that is not imported.
  const [{ instructions, component_instructions, solicitation_instructions, ...topic } = {}] = enriched.topics;
  const topics = Array.from({ length: RECORDS }, (_, n) => ({ ...topic, topic_code: `A254-${n}`, topic_id: `${n}` }));
  const challenges = realJson<Fields[]>("challenge-gov/challenges-20210714T202743Z.json");
  return [
    jsonFile({ name: "DoD portal search", format: dsip, id: "topicCode", title: "topicTitle" }, search.data, ['{"data":[', "]}"]),
    await csvFile(
      { name: "DoD portal export", format: dsip, id: "topic_number_topiccode", title: "title_topictitle" },
      "dod-dsip/topics-export-20250809-chunk_06.csv",
    ),
    jsonFile({ name: "DoD portal, enriched topics", format: dsip, id: "topic_code", title: "title" }, topics, ['{"topics":[', "]}"]),
    await csvFile(
      { name: "Simpler.Grants.gov CSV", format: simplerGrantsGov, id: "opportunity_id", title: "opportunity_title" },
      "simpler-grants-gov/grants-search-20260617.csv",
    ),
    jsonFile({ name: "Challenge.gov list", format: challengeGov, id: "details_url", title: "name" }, challenges),
  ];
}
