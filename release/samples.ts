/** A few records of each upstream as it publishes them now, with one small request for each kind of response that `pull` reads. */
import { readFile, rm } from "node:fs/promises";
import { basename } from "node:path";
import { Failure, messageOf } from "../db/reason.ts";
import type { DownloadRequest } from "../src/pull/download.ts";
import { hasQuestions, readDetails, topicSearch } from "../src/pull/dsip.ts";
import { DAYS_BACK, dataOf, extractOf, grantsGovSearch, noExtract, opportunityAt, ZIP_TYPES } from "../src/pull/grants-gov.ts";
import { fetchRoses, solicitationsAt } from "../src/pull/nasa.ts";
import type { PagedSearch } from "../src/pull/pages.ts";
import { CSV, csvAt, samGovSearch } from "../src/pull/sam-gov.ts";
import { ask, detailsAt, EXTRACT_TYPES, foundBy, hasFiles, newestExtract, searchAt } from "../src/pull/simpler-grants-gov.ts";
import { countOf, fetchFile, jsonAt, listIn, readJson, type Visit } from "../src/pull/visit.ts";
import { easternDate } from "../src/text/eastern.ts";
import { type JsonObject, objectOf, textOf } from "../src/text/json-value.ts";
import { publicUrl } from "../src/text/request-failure.ts";
import { beginningOfZip, wholeElements, wholeItems, wholeRows } from "./beginning.ts";

export type ProbeSample = {
  /** Files for the format to read. */
  files: { name: string; bytes: Uint8Array }[];
  /** How many records there are in all, as the upstream states it; null if it does not. */
  total: number | null;
  /** The day of the data, if the upstream names it: `2026-08-03`. */
  publishedOn?: string;
  /** Records that come in responses of their own and belong to those of the files, by kind. */
  parts?: Readonly<Record<string, readonly unknown[]>>;
};

/** How each upstream is sampled, by its name. Throws as its `fetch` does. */
export const samples: Readonly<Record<string, (visit: Visit) => Promise<ProbeSample>>> = {
  "grants-gov": sampleGrantsGovExtract,
  "grants-gov-search": async (visit) => (await samplePage(visit, grantsGovSearch(visit), 25)).sample,
  "grants-gov-details": sampleGrantsGovDetails,
  "simpler-grants-gov": sampleSimplerGrantsGov,
  "sam-gov": sampleSamGovCsv,
  "sam-gov-api": async (visit) => (await samplePage(visit, samGovSearch(visit), 25)).sample,
  "sbir-gov": (visit) => sampleList(visit, jsonAt(visit, "solicitations?open=1&rows=5&start=0")),
  dsip: sampleDsip,
  darpa: sampleDarpa,
  "nasa-nspires": async (visit) => sampleList(visit, await solicitationsAt(visit), (value) => objectOf(value).aaData),
  "nasa-roses": sampleRoses,
};

/** Enough for some hundred records of an extract. */
const HEAD_BYTES = 256 * 1024;

/** The beginning of a file. Throws if the download fails; `undefined` if there is no such file. */
async function readBeginning(visit: Visit, request: Pick<DownloadRequest, "url" | "types">): Promise<Buffer | undefined> {
  const { outcome, path } = await fetchFile(visit, "beginning", { ...request, bytesMax: HEAD_BYTES, headBytes: HEAD_BYTES, isRange: true });
  if (outcome !== "saved") return undefined;
  const bytes = await readFile(path);
  await rm(path);
  return bytes;
}

function fileOf(name: string, text: string): ProbeSample["files"][number] {
  return { name, bytes: Buffer.from(text) };
}

/** A response that is or has a list of solicitations. Throws if it has none. */
async function sampleList(visit: Visit, request: DownloadRequest, list = (value: unknown): unknown => value): Promise<ProbeSample> {
  const { text, value } = await readJson(visit, request);
  listIn(visit, list(value), "solicitations");
  return { files: [fileOf("solicitations.json", text)], total: null };
}

/** The first page of a search, with this many records, and the records. Throws if it is none. */
async function samplePage(visit: Visit, search: PagedSearch, size: number): Promise<{ sample: ProbeSample; records: JsonObject[] }> {
  const { text, value } = await readJson(visit, search.request(size, 0, 0));
  const { records, total } = search.read(value);
  const list = listIn(visit, records, search.name);
  return { sample: { files: [fileOf(`${search.name}.json`, text)], total: countOf(total) }, records: list.map(objectOf) };
}

/** The first opportunities of the newest extract of the last week. */
async function sampleGrantsGovExtract(visit: Visit): Promise<ProbeSample> {
  for (let day = 0; day <= DAYS_BACK; day++) {
    const { name, url, date } = extractOf(visit, day);
    const bytes = await readBeginning(visit, { url, types: ZIP_TYPES });
    if (bytes === undefined) continue;
    const xml = wholeElements(textOfZip(bytes, url), /Opportunity(?:Synopsis|Forecast)Detail\w*/, "Grants");
    return { files: [fileOf(name, xml)], total: null, publishedOn: date };
  }
  throw noExtract(visit);
}

function textOfZip(bytes: Buffer, url: URL): string {
  try {
    return beginningOfZip(bytes).toString();
  } catch (error) {
    throw new Failure(`Cannot read the beginning of ${publicUrl(url)}: ${messageOf(error)}`);
  }
}

/** The details of one opportunity, posted if there is one. */
async function sampleGrantsGovDetails(visit: Visit): Promise<ProbeSample> {
  const { sample, records: hits } = await samplePage(visit, grantsGovSearch(visit), 25);
  const { total } = sample;
  const hit = hits.find(({ docType }) => docType !== "forecast") ?? hits[0];
  if (hit === undefined) return { files: [], total };
  const { text, value } = await readJson(visit, opportunityAt(visit, textOf(hit.id)));
  dataOf(value, "fetchOpportunity");
  return { files: [fileOf("details.json", text)], total };
}

/** The beginning of the newest extract, a page of the search, and the details of its first posted opportunity. */
async function sampleSimplerGrantsGov(visit: Visit): Promise<ProbeSample> {
  const extract = await newestExtract(visit);
  if (extract === undefined) throw new Failure(`Cannot use the response of ${visit.base.host}: it lists no extract of the last days`);
  const bytes = await readBeginning(visit, { url: extract.url, types: EXTRACT_TYPES });
  if (bytes === undefined) throw new Failure(`Cannot fetch ${publicUrl(extract.url)}: it returned 404`);
  const { text, value } = await ask(visit, "search.json", searchAt(visit, {}, 1, 25));
  const records = listIn(visit, objectOf(value).data, "opportunities").map(objectOf);
  const [posted] = records.filter(hasFiles);
  const details = posted === undefined ? [] : [await ask(visit, "details.json", detailsAt(visit, textOf(posted.opportunity_id)))];
  return {
    files: [
      fileOf("extract.json", wholeItems(bytes.toString())),
      fileOf("search.json", text),
      ...details.map((each) => fileOf("details.json", each.text)),
    ],
    total: foundBy(value) ?? null,
    publishedOn: easternDate(extract.createdAt),
  };
}

/** The first rows of the bulk CSV. */
async function sampleSamGovCsv(visit: Visit): Promise<ProbeSample> {
  const bytes = await readBeginning(visit, csvAt(visit));
  if (bytes === undefined) throw new Failure(`Cannot find ${CSV} at ${publicUrl(csvAt(visit).url)}`);
  // Latin-1 keeps each byte, whatever the encoding is.
  return { files: [{ name: CSV, bytes: Buffer.from(wholeRows(bytes.toString("latin1")), "latin1") }], total: null };
}

/** A few topics, and the details and questions of one of them. */
async function sampleDsip(visit: Visit): Promise<ProbeSample> {
  const { sample, records } = await samplePage(visit, await topicSearch(visit), 10);
  const topic = records.find(hasQuestions) ?? records[0];
  if (topic === undefined) return sample;
  const { details, questions } = await readDetails(visit, textOf(topic.topicId), topic);
  const file = fileOf("details.json", JSON.stringify([{ ...details, questions }]));
  return { ...sample, files: [...sample.files, file], parts: { details: [details], questions } };
}

/** The whole feed, because it has no pages. */
async function sampleDarpa(visit: Visit): Promise<ProbeSample> {
  const { text, value } = await readJson(visit, jsonAt(visit, "opportunity.json"));
  const today = easternDate(visit.net.now());
  const rows = listIn(visit, value, "opportunities");
  const opened = rows.map((row) => textOf(objectOf(row).field_open_date)).filter((date) => date !== "" && date <= today);
  const newest = opened.sort().at(-1);
  return { files: [fileOf("opportunity.json", text)], total: null, ...(newest !== undefined && { publishedOn: newest }) };
}

/** The whole table. */
async function sampleRoses(visit: Visit): Promise<ProbeSample> {
  const [path = ""] = (await fetchRoses(visit))?.files ?? [];
  return { files: [{ name: basename(path), bytes: await readFile(path) }], total: null };
}
