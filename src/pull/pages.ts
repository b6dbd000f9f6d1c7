/** Saves all pages of a search, complete by the total that the upstream states. */
import { Failure } from "../../db/reason.ts";
import { arrayOf, isObject, type JsonObject, textOf } from "../text/json-value.ts";
import type { DownloadRequest } from "./download.ts";
import { countOf, fetchJson, shortened, type Visit } from "./visit.ts";

export type PagedSearch = {
  name: string;
  /** For a page by its index; the pages before it had `recordCount` records. */
  request: (size: number, recordCount: number, index: number) => DownloadRequest;
  size: number;
  /** A page's records, and the number of all as stated. Throws if the response reports a failure. */
  read: (response: unknown) => { records: unknown; total: unknown };
  id: (record: JsonObject) => unknown;
};

/** Returns the paths, and the records by id. Throws unless there are as many as stated. */
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
