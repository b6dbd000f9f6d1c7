/** Grants.gov: the daily XML extract, or a search of its API for everything forecast and posted. */
import { easternDate } from "../text/eastern.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { savePages } from "./pages.ts";
import { type Fetched, fetchFile, jsonAt, readJson, saveArray, type Visit } from "./visit.ts";

const DAY_MS = 86_400_000;
/** The extract of a day may be late or missing. */
const DAYS_BACK = 7;
const EXTRACT_BYTES_MAX = 1024 ** 3;
const SEARCH_ROWS = 1000;

/** The newest extract of the last week, or `undefined` if it was the last one imported. Throws if there is none. */
export async function fetchGrantsGovExtract(visit: Visit): Promise<Fetched | undefined> {
  for (let day = 0; day <= DAYS_BACK; day++) {
    const name = `GrantsDBExtract${easternDate(visit.net.now() - day * DAY_MS).replaceAll("-", "")}v2.zip`;
    const url = new URL(name, visit.base);
    const known = visit.known?.url === url.href ? visit.known : undefined;
    const types = ["application/zip", "application/x-zip-compressed", "application/octet-stream", "binary/octet-stream"];
    const result = await fetchFile(visit, name, { url, types, bytesMax: EXTRACT_BYTES_MAX }, known);
    if (result.outcome === "saved") return { files: [result.path], known: { url: url.href, ...result.validators } };
    if (known !== undefined) return undefined; // Unchanged or gone. Extracts of earlier days are older than the imported one.
  }
  throw new Error(`Cannot find an extract of the last ${DAYS_BACK} days at ${publicUrl(visit.base)}`);
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

function searchAll(visit: Visit) {
  const search = { keyword: "", oppStatuses: "forecasted|posted", rows: SEARCH_ROWS, sortBy: "openDate|desc" };
  return savePages(visit, "hits", {
    request: (startRecordNum) => jsonAt(visit, "search2", { ...search, startRecordNum }),
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
    const { text, value } = await readJson(visit, jsonAt(visit, "fetchOpportunity", { opportunityId: Number(id) }));
    dataOf(value, "fetchOpportunity");
    yield text;
  }
}

/** The data of a response. Throws if `errorcode` reports a failure, which comes with status 200. */
function dataOf(response: unknown, call: string): JsonObject {
  const { errorcode, msg, data } = objectOf(response);
  if (errorcode !== 0) throw new Error(`Cannot use the response of ${call}: it has the error code ${textOf(errorcode)} (${textOf(msg)})`);
  return objectOf(data);
}
