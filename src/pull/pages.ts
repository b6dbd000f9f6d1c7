/** Saves all pages of a search, and checks that they are complete by the total that the upstream states. */
import { Failure } from "../../db/reason.ts";
import { arrayOf, isObject, type JsonObject, textOf } from "../text/json-value.ts";
import type { DownloadRequest } from "./download.ts";
import { countOf, fetchJson, shortened, type Visit } from "./visit.ts";

export type PagedSearch = {
  /** What is searched: `topics`. The files are named after it. */
  name: string;
  /** The request for the page with this index, of at most `size` records; the pages before it had `recordCount` records. */
  request: (size: number, recordCount: number, index: number) => DownloadRequest;
  size: number;
  /** The list of a page's records, and the number of all records as the upstream states it. Throws if the response reports a failure. */
  read: (response: unknown) => { records: unknown; total: unknown };
  id: (record: JsonObject) => unknown;
};

/** Saves every page as a file. Returns the paths, and the records by id. Throws unless the number of distinct records equals the total. */
export async function savePages(visit: Visit, search: PagedSearch): Promise<{ files: string[]; records: Map<string, JsonObject> }> {
  const { name } = search;
  const files: string[] = [];
  const records = new Map<string, JsonObject>();
  for (;;) {
    const { path, value } = await fetchJson(
      visit,
      `${name}-${files.length + 1}.json`,
      search.request(search.size, records.size, files.length),
    );
    const page = search.read(value);
    const total = countOf(page.total);
    const before = records.size;
    files.push(path);
    for (const record of arrayOf(page.records)) if (isObject(record)) records.set(textOf(search.id(record)), record);
    if (records.size === total) return { files, records };
    if (records.size === before || total === null || records.size > total)
      throw new Failure(
        `Cannot use the ${name} of ${visit.base.host}: it states a total of ${shortened(page.total)}, but its pages have ${records.size}`,
      );
  }
}
