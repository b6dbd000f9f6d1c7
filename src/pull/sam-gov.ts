/** SAM.gov: the bulk CSV of all active notices, or recent notices from the Get Opportunities API, version 2. */
import { easternDate } from "../text/eastern.ts";
import { arrayOf, objectOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { savePages } from "./pages.ts";
import { type Fetched, fetchFile, jsonAt, type Visit } from "./visit.ts";

const DAY_MS = 86_400_000;
const CSV = "ContractOpportunitiesFullCSV.csv";
const CSV_BYTES_MAX = 4 * 1024 ** 3;
/** A basic key allows 10 requests a day, and about 1,500 notices are published each day. */
const API_DAYS = 3;
const API_LIMIT = 1000;

/** The bulk CSV, or `undefined` if it is unchanged since the last import. Throws if it is missing. */
export async function fetchSamGovCsv(visit: Visit): Promise<Fetched | undefined> {
  const url = new URL(`${CSV}?privacy=Public`, visit.base);
  const known = visit.known?.url === url.href ? visit.known : undefined;
  const types = ["text/csv", "application/csv", "application/octet-stream", "binary/octet-stream"];
  const result = await fetchFile(visit, CSV, { url, types, bytesMax: CSV_BYTES_MAX }, known);
  if (result.outcome === "missing") throw new Error(`Cannot find ${CSV} at ${publicUrl(visit.base)}`);
  return result.outcome === "saved" ? { files: [result.path], known: { url: url.href, ...result.validators } } : undefined;
}

/** The notices of the last three days. */
export async function fetchSamGovApi(visit: Visit): Promise<Fetched> {
  const [from, to] = [visit.net.now() - API_DAYS * DAY_MS, visit.net.now()].map(americanDate);
  const { files } = await savePages(visit, "notices", {
    request: (_, page) => {
      const query = new URLSearchParams({
        api_key: visit.key ?? "",
        postedFrom: `${from}`,
        postedTo: `${to}`,
        limit: `${API_LIMIT}`,
        offset: `${page}`,
      });
      return jsonAt(visit, `search?${query}`);
    },
    read: (response) => {
      const { opportunitiesData, totalRecords } = objectOf(response);
      return { records: arrayOf(opportunitiesData), total: totalRecords };
    },
    id: ({ noticeId }) => noticeId,
  });
  return { files };
}

function americanDate(ms: number): string {
  return easternDate(ms).replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1");
}
