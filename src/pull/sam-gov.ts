/** SAM.gov: the bulk CSV of all active notices, or recent notices from the Get Opportunities API, version 2. */
import { easternDateBefore } from "../text/eastern.ts";
import { objectOf } from "../text/json-value.ts";
import type { DownloadRequest } from "./download.ts";
import type { PagedSearch } from "./pages.ts";
import { type Fetched, fetchOnlyFile, jsonAt, type Visit } from "./visit.ts";

export const CSV = "ContractOpportunitiesFullCSV.csv";
const CSV_BYTES_MAX = 4 * 1024 ** 3;
/** A basic key allows 10 requests a day, and about 1,500 notices are published each day. */
const API_DAYS = 3;

/** The bulk CSV, or `undefined` if it is unchanged since the last import. */
export function fetchSamGovCsv(visit: Visit): Promise<Fetched | undefined> {
  return fetchOnlyFile(visit, CSV, { ...csvAt(visit), bytesMax: CSV_BYTES_MAX }, CSV);
}

export function samGovSearch(visit: Visit): PagedSearch {
  return {
    name: "notices",
    request: (size, _, page) => noticesAt(visit, size, page),
    size: 1000,
    read: (response) => {
      const { opportunitiesData, totalRecords } = objectOf(response);
      return { records: opportunitiesData, total: totalRecords };
    },
    id: ({ noticeId }) => noticeId,
  };
}

/** The address of the bulk CSV, and its media types. */
export function csvAt({ base }: Visit): { url: URL; types: readonly string[] } {
  const types = ["text/csv", "application/csv", "application/octet-stream", "binary/octet-stream"];
  return { url: new URL(`${CSV}?privacy=Public`, base), types };
}

function noticesAt(visit: Visit, limit: number, page: number): DownloadRequest {
  const [postedFrom = "", postedTo = ""] = [API_DAYS, 0].map((days) =>
    easternDateBefore(visit.net.now(), days).replace(/^(\d+)-(\d+)-(\d+)$/, "$2/$3/$1"),
  );
  const query = { api_key: visit.key ?? "", postedFrom, postedTo, limit: `${limit}`, offset: `${page}` };
  return jsonAt(visit, `search?${new URLSearchParams(query)}`);
}
