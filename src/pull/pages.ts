/** Saves all pages of a search, and checks that they are complete by the total that the upstream states; or reads one page as a sample. */
import { Failure } from "../../db/reason.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../text/json-value.ts";
import type { DownloadRequest } from "./download.ts";
import { countOf, fetchJson, fileOf, listIn, type ProbeSample, readJson, shortened, type Visit } from "./visit.ts";

export type PagedSearch = {
  /** What is searched: `topics`. The files are named after it. */
  name: string;
  /** The request for the page with this index and so many records; the pages before it had `recordCount` records. */
  request: (size: number, recordCount: number, index: number) => DownloadRequest;
  /** Most records of a page, and those of a sample. */
  size: number;
  sampleSize: number;
  /** The list of a page's records, and the number of all records as the upstream states it. Throws if the response reports a failure. */
  read: (response: unknown) => { records: unknown; total: unknown };
  id: (record: JsonObject) => unknown;
};

/** How `pull` and `release/probe.ts` visit an upstream that publishes the pages of a search: all of them, and the first. */
export const visitsOf = (search: (visit: Visit) => PagedSearch) => ({
  fetch: async (visit: Visit) => ({ files: (await savePages(visit, search(visit))).files }),
  probe: async (visit: Visit) => (await samplePage(visit, search(visit))).sample,
});

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

/** The first page of a search, and its records. Throws if it is none. */
export async function samplePage(visit: Visit, search: PagedSearch): Promise<{ sample: ProbeSample; records: JsonObject[] }> {
  const { text, value } = await readJson(visit, search.request(search.sampleSize, 0, 0));
  const { records, total } = search.read(value);
  const list = listIn(visit, records, search.name);
  return { sample: { files: [fileOf(`${search.name}.json`, text)], total: countOf(total) }, records: list.map(objectOf) };
}
