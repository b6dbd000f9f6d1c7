/** Grants.gov: the daily XML extract, or a search of its API for everything forecast and posted. */
import { Failure } from "../../db/reason.ts";
import { easternDateBefore } from "../text/eastern.ts";
import { type JsonObject, objectOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import type { DownloadRequest } from "./download.ts";
import { type PagedSearch, savePages } from "./pages.ts";
import { type Fetched, fetchKnownFile, jsonAt, readJson, saveDetailsFile, shortened, type Visit } from "./visit.ts";

export const DAYS_BACK = 7;
const EXTRACT_BYTES_MAX = 1024 ** 3;
export const ZIP_TYPES = ["application/zip", "application/x-zip-compressed", "application/octet-stream", "binary/octet-stream"];

/** The newest extract of the last week, or `undefined` if it was imported. */
export async function fetchGrantsGovExtract(visit: Visit): Promise<Fetched | undefined> {
  for (let day = 0; day <= DAYS_BACK; day++) {
    const { name, url } = extractOf(visit, day);
    const { url: imported = "" } = visit.known ?? {};
    if (url.href < imported && imported.startsWith(new URL("GrantsDBExtract", visit.base).href)) return undefined; // Older than the imported one.
    const fetched = await fetchKnownFile(visit, name, { url, types: ZIP_TYPES, bytesMax: EXTRACT_BYTES_MAX });
    if (fetched !== "missing") return fetched;
    if (visit.known?.url === url.href) return undefined; // The imported one is gone.
  }
  throw noExtract(visit);
}

/** The extract of a day, counted back from today. */
export function extractOf({ net, base }: Visit, daysBack: number): { name: string; url: URL; date: string } {
  const date = easternDateBefore(net.now(), daysBack);
  const name = `GrantsDBExtract${date.replaceAll("-", "")}v2.zip`;
  return { name, url: new URL(name, base), date };
}

export function noExtract({ base }: Visit): Error {
  return new Failure(`Cannot find an extract of the last ${DAYS_BACK} days at ${publicUrl(base)}`);
}

export async function fetchGrantsGovDetails(visit: Visit): Promise<Fetched> {
  const { records } = await savePages(visit, grantsGovSearch(visit));
  return { files: [await saveDetailsFile(visit, detailsOf(visit, [...records.keys()]))] };
}

export function opportunityAt(visit: Visit, id: string): DownloadRequest {
  return jsonAt(visit, "fetchOpportunity", { opportunityId: Number(id) });
}

/** The search for all that is forecast or posted now, the newest first. */
export function grantsGovSearch(visit: Visit): PagedSearch {
  return {
    name: "hits",
    request: (rows, startRecordNum) =>
      jsonAt(visit, "search2", { keyword: "", oppStatuses: "forecasted|posted", rows, sortBy: "openDate|desc", startRecordNum }),
    size: 1000,
    read: (response) => {
      const { oppHits, hitCount } = dataOf(response, "search2");
      return { records: oppHits, total: hitCount };
    },
    id: ({ id }) => id,
  };
}

async function* detailsOf(visit: Visit, ids: readonly string[]): AsyncIterable<string> {
  visit.planned = visit.requests + ids.length;
  for (const id of ids) {
    const { text, value } = await readJson(visit, opportunityAt(visit, id));
    dataOf(value, "fetchOpportunity");
    yield text;
  }
}

/** The data of a response. Throws if `errorcode` reports a failure, which comes with status 200. */
export function dataOf(response: unknown, call: string): JsonObject {
  const { errorcode, msg, data } = objectOf(response);
  if (errorcode !== 0)
    throw new Failure(`Cannot use the response of ${call}: it has the error code ${shortened(errorcode)} (${shortened(msg)})`);
  return objectOf(data);
}
