/** SAM.gov: the bulk CSV of all active notices, or recent notices from the Get Opportunities API, version 2. */
import { Failure } from "../../db/reason.ts";
import { easternDateBefore } from "../text/eastern.ts";
import { arrayOf, objectOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { wholeRows } from "./beginning.ts";
import type { DownloadRequest } from "./download.ts";
import { savePages } from "./pages.ts";
import { countOf, type Fetched, fetchFile, fileOf, jsonAt, readBeginning, readJson, type Sample, type Visit } from "./visit.ts";

const CSV = "ContractOpportunitiesFullCSV.csv";
const CSV_BYTES_MAX = 4 * 1024 ** 3;
/** A basic key allows 10 requests a day, and about 1,500 notices are published each day. */
const API_DAYS = 3;
const API_LIMIT = 1000;
const SAMPLE_LIMIT = 25;

/** The bulk CSV, or `undefined` if it is unchanged since the last import. Throws if it is missing. */
export async function fetchSamGovCsv(visit: Visit): Promise<Fetched | undefined> {
  const { url, types } = csvAt(visit);
  const known = visit.known?.url === url.href ? visit.known : undefined;
  const result = await fetchFile(visit, CSV, { url, types, bytesMax: CSV_BYTES_MAX }, known);
  if (result.outcome === "missing") throw new Failure(`Cannot find ${CSV} at ${publicUrl(visit.base)}`);
  return result.outcome === "saved" ? { files: [result.path], known: { url: url.href, ...result.validators } } : undefined;
}

/** The notices of the last three days. */
export async function fetchSamGovApi(visit: Visit): Promise<Fetched> {
  const { files } = await savePages(visit, "notices", {
    request: (_, page) => noticesAt(visit, API_LIMIT, page),
    read: (response) => {
      const { opportunitiesData, totalRecords } = objectOf(response);
      return { records: arrayOf(opportunitiesData), total: totalRecords };
    },
    id: ({ noticeId }) => noticeId,
  });
  return { files };
}

/** The first rows of the bulk CSV. */
export async function sampleSamGovCsv(visit: Visit): Promise<Sample> {
  const bytes = await readBeginning(visit, csvAt(visit));
  if (bytes === undefined) throw new Failure(`Cannot find ${CSV} at ${publicUrl(visit.base)}`);
  // Latin-1 keeps each byte, whatever the encoding is.
  return { files: [{ name: CSV, bytes: Buffer.from(wholeRows(bytes.toString("latin1")), "latin1") }], total: null };
}

function csvAt({ base }: Visit): { url: URL; types: readonly string[] } {
  const types = ["text/csv", "application/csv", "application/octet-stream", "binary/octet-stream"];
  return { url: new URL(`${CSV}?privacy=Public`, base), types };
}

/** A few notices of the last three days. */
export async function sampleSamGovApi(visit: Visit): Promise<Sample> {
  const { text, value } = await readJson(visit, noticesAt(visit, SAMPLE_LIMIT, 0));
  const { opportunitiesData, totalRecords } = objectOf(value);
  if (!Array.isArray(opportunitiesData)) throw new Failure(`Cannot use the response of ${visit.base.host}: it is not a list of notices`);
  return { files: [fileOf("notices.json", text)], total: countOf(totalRecords) };
}

function noticesAt(visit: Visit, limit: number, page: number): DownloadRequest {
  const [postedFrom = "", postedTo = ""] = [API_DAYS, 0].map((days) => americanDate(easternDateBefore(visit.net.now(), days)));
  const query = { api_key: visit.key ?? "", postedFrom, postedTo, limit: `${limit}`, offset: `${page}` };
  return jsonAt(visit, `search?${new URLSearchParams(query)}`);
}

/** `07/31/2026` of `2026-07-31`. */
function americanDate(date: string): string {
  return date.replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1");
}
