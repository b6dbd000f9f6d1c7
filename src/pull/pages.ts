/** Searches that answer in pages, whose completeness the upstream's own total proves. */
import { isObject, type JsonObject, textOf } from "../text/json-value.ts";
import type { Wanted } from "./download.ts";
import { fetchJson, type Visit } from "./visit.ts";

/** What one page holds, and how many records the upstream says there are. */
export type Page = { records: readonly unknown[]; total: unknown };

export type Search = {
  /** The page after `page` others, with `have` records. */
  request: (have: number, page: number) => Wanted;
  /** Throws when the answer is not a page. */
  read: (answer: unknown) => Page;
  /** What tells a record from the others. */
  id: (record: JsonObject) => unknown;
};

/** Saves every page as a file. Throws unless the distinct records come to the total. */
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
      throw new Error(
        `Cannot take the ${name} of ${visit.base.host}: there are said to be ${textOf(page.total)}, and its pages hold ${records.size}`,
      );
  }
}
