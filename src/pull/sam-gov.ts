/** SAM.gov: the bulk CSV of all active notices, or the notices of the last days from Get Opportunities v2. */
import { easternDate } from "../import/eastern.ts";
import { arrayOf, objectOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import { savePages } from "./pages.ts";
import { type Fetched, fetchFile, jsonAt, type Visit } from "./visit.ts";

const DAY_MS = 86_400_000;
const CSV = "ContractOpportunitiesFullCSV.csv";
const CSV_BYTES_MAX = 4 * 1024 ** 3;
/** A key of the lowest kind has 10 requests a day, and a day has some 1,500 notices. */
const API_DAYS = 3;
const API_LIMIT = 1000;

export async function fetchSamGovCsv(visit: Visit): Promise<Fetched | undefined> {
  const url = new URL(`${CSV}?privacy=Public`, visit.base);
  const known = visit.known?.url === url.href ? visit.known : undefined;
  const types = ["text/csv", "application/csv", "application/octet-stream", "binary/octet-stream"];
  const answer = await fetchFile(visit, CSV, { url, types, bytesMax: CSV_BYTES_MAX }, known);
  if (answer.outcome === "missing") throw new Error(`Cannot find ${CSV} at ${publicUrl(visit.base)}`);
  return answer.outcome === "saved" ? { files: [answer.path], known: { url: url.href, ...answer.validators } } : undefined;
}

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
    read: (answer) => {
      const { opportunitiesData, totalRecords } = objectOf(answer);
      return { records: arrayOf(opportunitiesData), total: totalRecords };
    },
    id: ({ noticeId }) => noticeId,
  });
  return { files };
}

function americanDate(ms: number): string {
  return easternDate(ms).replace(/(\d+)-(\d+)-(\d+)/, "$2/$3/$1");
}
