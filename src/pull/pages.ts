/** Saves all pages of a search, and checks that they are complete by the total that the upstream states. */
import { Failure } from "../../db/reason.ts";
import { isObject, type JsonObject, textOf } from "../text/json-value.ts";
import type { DownloadRequest } from "./download.ts";
import { fetchJson, type Visit } from "./visit.ts";

/** The records of one page, and the number of all records as the upstream states it. */
export type Page = { records: readonly unknown[]; total: unknown };

export type Search = {
  /** The request for the page with this index; the pages before it had `recordCount` records. */
  request: (recordCount: number, index: number) => DownloadRequest;
  /** Throws if the response is not a page. */
  read: (response: unknown) => Page;
  /** The id that identifies a record. */
  id: (record: JsonObject) => unknown;
};

/** Saves every page as a file. Returns the paths, and the records by id. Throws unless the number of distinct records equals the total. */
export async function savePages(
  visit: Visit,
  name: string,
  search: Search,
): Promise<{ files: string[]; records: Map<string, JsonObject> }> {
  const files: string[] = [];
  const records = new Map<string, JsonObject>();
  for (;;) {
    const { path, value } = await fetchJson(visit, `${name}-${files.length + 1}.json`, search.request(records.size, files.length));
    const page = search.read(value);
    const total = Number(textOf(page.total) || Number.NaN);
    const before = records.size;
    files.push(path);
    for (const record of page.records) if (isObject(record)) records.set(textOf(search.id(record)), record);
    if (records.size === total) return { files, records };
    if (records.size === before || !(records.size < total))
      throw new Failure(
        `Cannot use the ${name} of ${visit.base.host}: it states a total of ${textOf(page.total)}, but its pages have ${records.size}`,
      );
  }
}
