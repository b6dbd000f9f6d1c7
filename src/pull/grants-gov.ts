/** Grants.gov: the daily XML extract, or a search of its API for everything forecast and posted. */
import { Failure, messageOf } from "../../db/reason.ts";
import { easternDateBefore } from "../text/eastern.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { beginningOfZip, wholeElements } from "./beginning.ts";
import type { DownloadRequest } from "./download.ts";
import { savePages } from "./pages.ts";
import { countOf, type Fetched, fetchFile, fileOf, jsonAt, readBeginning, readJson, type Sample, saveArray, type Visit } from "./visit.ts";

/** The extract of a day may be late or missing. */
const DAYS_BACK = 7;
const EXTRACT_BYTES_MAX = 1024 ** 3;
const ZIP_TYPES = ["application/zip", "application/x-zip-compressed", "application/octet-stream", "binary/octet-stream"];
const SEARCH_ROWS = 1000;
const SAMPLE_ROWS = 25;

/** The newest extract of the last week, or `undefined` if it was the last one imported. Throws if there is none. */
export async function fetchGrantsGovExtract(visit: Visit): Promise<Fetched | undefined> {
  for (let day = 0; day <= DAYS_BACK; day++) {
    const { name, url } = extractOf(visit, day);
    if (url.href < (visit.known?.url ?? "") && isExtract(visit, visit.known?.url)) return undefined; // Older than the imported one.
    const known = visit.known?.url === url.href ? visit.known : undefined;
    const result = await fetchFile(visit, name, { url, types: ZIP_TYPES, bytesMax: EXTRACT_BYTES_MAX }, known);
    if (result.outcome === "saved") return { files: [result.path], known: { url: url.href, ...result.validators } };
    if (known !== undefined) return undefined; // Unchanged or gone.
  }
  throw noExtract(visit);
}

function isExtract({ base }: Visit, url = ""): boolean {
  return url.startsWith(new URL("GrantsDBExtract", base).href);
}

/** The first opportunities of the newest extract of the last week. */
export async function sampleGrantsGovExtract(visit: Visit): Promise<Sample> {
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

/** The extract of a day, counted back from today. */
function extractOf({ net, base }: Visit, daysBack: number): { name: string; url: URL; date: string } {
  const date = easternDateBefore(net.now(), daysBack);
  const name = `GrantsDBExtract${date.replaceAll("-", "")}v2.zip`;
  return { name, url: new URL(name, base), date };
}

function noExtract({ base }: Visit): Error {
  return new Failure(`Cannot find an extract of the last ${DAYS_BACK} days at ${publicUrl(base)}`);
}

/** Every opportunity that is forecast or posted now, as search hits. */
export async function fetchGrantsGovSearch(visit: Visit): Promise<Fetched> {
  const { files } = await searchAll(visit);
  return { files };
}

/** The details of every opportunity that is forecast or posted. */
export async function fetchGrantsGovDetails(visit: Visit): Promise<Fetched> {
  const { records } = await searchAll(visit);
  return { files: [await saveArray(visit, "details.json", detailsOf(visit, [...records.keys()]))] };
}

/** The newest opportunities that are forecast or posted, as search hits. */
export async function sampleGrantsGovSearch(visit: Visit): Promise<Sample> {
  const { text, total } = await readHits(visit);
  return { files: [fileOf("hits.json", text)], total };
}

/** The details of one opportunity, posted if there is one. */
export async function sampleGrantsGovDetails(visit: Visit): Promise<Sample> {
  const { hits, total } = await readHits(visit);
  const hit = hits.find(({ docType }) => docType !== "forecast") ?? hits[0];
  if (hit === undefined) return { files: [], total };
  const { text, value } = await readJson(visit, detailsAt(visit, textOf(hit.id)));
  dataOf(value, "fetchOpportunity");
  return { files: [fileOf("details.json", text)], total };
}

async function readHits(visit: Visit): Promise<{ text: string; hits: readonly JsonObject[]; total: number | null }> {
  const { text, value } = await readJson(visit, searchAt(visit, SAMPLE_ROWS, 0));
  const { oppHits, hitCount } = dataOf(value, "search2");
  if (!Array.isArray(oppHits)) throw new Failure("Cannot use the response of search2: it has no oppHits");
  return { text, hits: oppHits.map(objectOf), total: countOf(hitCount) };
}

function searchAt(visit: Visit, rows: number, startRecordNum: number): DownloadRequest {
  return jsonAt(visit, "search2", { keyword: "", oppStatuses: "forecasted|posted", rows, sortBy: "openDate|desc", startRecordNum });
}

function detailsAt(visit: Visit, id: string): DownloadRequest {
  return jsonAt(visit, "fetchOpportunity", { opportunityId: Number(id) });
}

function searchAll(visit: Visit) {
  return savePages(visit, "hits", {
    request: (startRecordNum) => searchAt(visit, SEARCH_ROWS, startRecordNum),
    read: (response) => {
      const { oppHits, hitCount } = dataOf(response, "search2");
      return { records: arrayOf(oppHits), total: hitCount };
    },
    id: ({ id }) => id,
  });
}

async function* detailsOf(visit: Visit, ids: readonly string[]): AsyncIterable<string> {
  visit.planned = visit.requests + ids.length;
  for (const id of ids) {
    const { text, value } = await readJson(visit, detailsAt(visit, id));
    dataOf(value, "fetchOpportunity");
    yield text;
  }
}

/** The data of a response. Throws if `errorcode` reports a failure, which comes with status 200. */
function dataOf(response: unknown, call: string): JsonObject {
  const { errorcode, msg, data } = objectOf(response);
  if (errorcode !== 0) throw new Failure(`Cannot use the response of ${call}: it has the error code ${textOf(errorcode)} (${textOf(msg)})`);
  return objectOf(data);
}
