/**
 * Simpler.Grants.gov's API: its extract once a day, the search for everything forecast and posted, and single opportunities for their
 * files. The API cannot be asked what changed, limits a search to 10,000 and shows files one by one.
 */
import { rm, stat } from "node:fs/promises";
import { Failure, messageOf } from "../../db/reason.ts";
import { TOTAL_MAX } from "../import/formats/grants-gov/simpler.ts";
import { easternDate } from "../text/eastern.ts";
import { DAY_MS, dateAt, parseInstantMs } from "../text/instant.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../text/json-value.ts";
import { publicUrl } from "../text/request-failure.ts";
import type { DownloadRequest } from "./download.ts";
import { type Fetched, fetchFile, fetchJson, findJson, jsonAt, type Known, listIn, saveDetailsFile, type Visit } from "./visit.ts";

/** A key may send 60 requests a minute. */
export const SIMPLER_PACE_MS = 1000;
/** A response of 429 does not say when to try again. */
const MINUTE_OVER_MS = 60_000;
/** More would exceed what the API's gateway passes on. */
const PAGE_SIZE = 1000;
/** The index may be replaced between two pages. */
const SEARCHES_MAX = 3;
/** In one visit. A key may send 10,000 requests a day. */
const DETAILS_MAX = 300;
const EXTRACT_BYTES_MAX = 4 * 1024 ** 3;
export const EXTRACT_TYPES = ["application/json", "application/octet-stream", "binary/octet-stream"];
const STATUSES = ["posted", "forecasted"];
const FIRST_DAY = Date.UTC(1990, 0, 1);

export async function fetchSimplerGrantsGov(visit: Visit): Promise<Fetched> {
  const extract = await newestExtract(visit);
  const isNew = extract !== undefined && publicUrl(extract.url) !== visit.known?.url;
  const extracts = isNew ? [await saveExtract(visit, extract)] : [];
  const { files, records } = await searchAll(visit);
  const { file, seen, warning } = await saveDetails(visit, records);
  const known: Known = {
    url: extract === undefined ? (visit.known?.url ?? "") : publicUrl(extract.url),
    etag: null,
    last_modified: null,
    seen,
  };
  return {
    files: [...extracts, ...files, file], // In this order: each is newer than the one before.
    known,
    ...(isNew ? {} : { isPart: true }),
    ...(warning === undefined ? {} : { warning }),
  };
}

/* Requests */

export function ask(visit: Visit, name: string, request: DownloadRequest): ReturnType<typeof fetchJson> {
  return fetchJson(visit, name, request).catch(explain);
}

/** The API refuses a key without a reason. */
function explain(error: unknown): never {
  if (!/it returned 40[13]\b/.test(messageOf(error))) throw error;
  throw new Failure(`${messageOf(error)}: the key may be wrong, or disabled because it was not used for 30 days`);
}

function requestAt(visit: Visit, path: string, body?: object): DownloadRequest {
  return { ...jsonAt(visit, path, body), keyHeader: "x-api-key", busyMs: MINUTE_OVER_MS };
}

export function detailsAt(visit: Visit, id: string): DownloadRequest {
  return requestAt(visit, `opportunities/${encodeURIComponent(id)}`);
}

/* The extract */

type Extract = { url: URL; bytes: number | undefined; createdAt: number };

export async function newestExtract(visit: Visit): Promise<Extract | undefined> {
  const newest = [{ order_by: "created_at", sort_direction: "descending" }];
  const body = { filters: { extract_type: "opportunities_json" }, pagination: { page_offset: 1, page_size: 1, sort_order: newest } };
  const { path, value } = await ask(visit, "extracts.json", requestAt(visit, "extracts", body));
  await rm(path);
  const [extract] = listIn(visit, objectOf(value).data, "extracts").map(objectOf);
  if (extract === undefined) return undefined;
  const url = URL.parse(textOf(extract.download_path));
  const createdAt = parseInstantMs(textOf(extract.created_at));
  if (url === null || createdAt === undefined)
    throw new Failure(`Cannot use the response of ${visit.base.host}: its newest extract has no address or no day`);
  return { url, createdAt, bytes: typeof extract.file_size_bytes === "number" ? extract.file_size_bytes : undefined };
}

/** Saves the extract. The host of the files gets no key. */
async function saveExtract(visit: Visit, { url, bytes }: Extract): Promise<string> {
  const { outcome, path } = await fetchFile(visit, "extract.json", { url, types: EXTRACT_TYPES, bytesMax: EXTRACT_BYTES_MAX });
  if (outcome !== "saved") throw new Failure(`Cannot fetch ${publicUrl(url)}: it returned 404`);
  const { size } = await stat(path);
  if (bytes !== undefined && size !== bytes)
    throw new Failure(`Cannot use ${publicUrl(url)}: it has ${size} bytes, not ${bytes} as announced`);
  return path;
}

/* The search */

type Period = { first?: number; last?: number };

/** Returns the paths of the pages, and the records by id. Throws unless these are as many as the search says. */
async function searchAll(visit: Visit): Promise<{ files: string[]; records: Map<string, JsonObject> }> {
  for (let attempt = 1; ; attempt++) {
    const files: string[] = [];
    const records = new Map<string, JsonObject>();
    let total: number | undefined;
    for await (const { path, value } of pagesOf(visit, {}, attempt)) {
      const data = listIn(visit, objectOf(value).data, "opportunities");
      total ??= foundBy(value);
      if (data.length === 0) continue;
      files.push(path);
      for (const record of data.map(objectOf)) records.set(textOf(record.opportunity_id), record);
    }
    if (records.size === total) return { files, records };
    if (attempt === SEARCHES_MAX)
      throw new Failure(`Cannot use the search of ${visit.base.host}: it states a total of ${total}, but its pages have ${records.size}`);
  }
}

/** A period that is too long for a search is asked for in halves; its own page has the total, and no records. */
async function* pagesOf(visit: Visit, period: Period, attempt: number): AsyncIterable<{ path: string; value: unknown }> {
  const page = (index: number) => ask(visit, `search-${attempt}-${visit.requests}.json`, searchAt(visit, period, index, PAGE_SIZE));
  const first = await page(1);
  const found = foundBy(first.value) ?? 0;
  if (found < TOTAL_MAX) {
    yield first;
    for (let index = 2; index <= Math.ceil(found / PAGE_SIZE); index++) yield await page(index);
    return;
  }
  await rm(first.path);
  yield { ...first, value: { ...objectOf(first.value), data: [] } };
  const { first: from = FIRST_DAY, last: to = visit.net.now() + DAY_MS } = period;
  const middle = from + Math.floor((to - from) / DAY_MS / 2) * DAY_MS;
  if (dateAt(from) === dateAt(to))
    throw new Failure(`Cannot use the search of ${visit.base.host}: ${found} opportunities were posted on ${dateAt(from)}`);
  yield* pagesOf(visit, { first: from, last: middle }, attempt);
  yield* pagesOf(visit, { first: middle + DAY_MS, last: to }, attempt);
}

/** Sorted by id, because other orders have ties, and pages would overlap. */
export function searchAt(visit: Visit, { first, last }: Period, page_offset: number, page_size: number): DownloadRequest {
  const days = first === undefined || last === undefined ? undefined : { start_date: dateAt(first), end_date: dateAt(last) };
  const sort_order = [{ order_by: "opportunity_id", sort_direction: "ascending" }];
  return requestAt(visit, "opportunities/search", {
    filters: { opportunity_status: { one_of: STATUSES }, ...(days && { post_date: days }) },
    pagination: { page_offset, page_size, sort_order },
  });
}

/** How many opportunities a search found, by its counts of each status: the total ends at 10,000. */
export function foundBy(value: unknown): number | undefined {
  const { facet_counts, pagination_info } = objectOf(value);
  const counts = objectOf(objectOf(facet_counts).opportunity_status);
  const byStatus = STATUSES.map((status) => counts[status]).filter((count) => typeof count === "number");
  if (byStatus.length > 0) return byStatus.reduce((sum, count) => sum + count, 0);
  const total = objectOf(pagination_info).total_records;
  return typeof total === "number" && total < TOTAL_MAX ? total : undefined;
}

/* Details */

/**
 * Saves details of new and changed records, then of those asked for longest ago: the search does not show that only a file changed. `seen`
 * says for the next visit what was asked for, and when.
 */
async function saveDetails(
  visit: Visit,
  records: ReadonlyMap<string, JsonObject>,
): Promise<{ file: string; seen: Record<string, string>; warning?: string }> {
  const before = visit.known?.seen ?? {};
  const today = easternDate(visit.net.now());
  const posted = [...records].filter(([, record]) => hasFiles(record)).map(([id, record]) => ({ id, digest: digestOf(record) }));
  const isChanged = ({ id, digest }: (typeof posted)[number]) => before[id]?.split(" ")[0] !== digest;
  const dayOf = ({ id }: { id: string }) => before[id]?.split(" ")[1] ?? "";
  const older = posted.filter((each) => !isChanged(each) && dayOf(each) < today).sort((one, other) => (dayOf(one) < dayOf(other) ? -1 : 1));
  const due = [...posted.filter(isChanged), ...older].slice(0, DETAILS_MAX);
  const seen = Object.fromEntries(posted.flatMap(({ id }) => (before[id] === undefined ? [] : [[id, before[id]]])));
  let warning: string | undefined;
  visit.planned = visit.requests + due.length;
  async function* texts(): AsyncIterable<string> {
    for (const { id, digest } of due) {
      try {
        const found = await findJson(visit, `details-${visit.requests}.json`, detailsAt(visit, id)).catch(explain);
        // One that is missing was withdrawn meanwhile.
        if (found !== undefined && textOf(objectOf(objectOf(found.value).data).opportunity_id) !== id)
          throw new Failure(`Cannot use the response of ${visit.base.host}: it is not the opportunity ${id}`);
        seen[id] = `${digest} ${today}`;
        if (found === undefined) continue;
        await rm(found.path);
        yield found.text;
      } catch (error) {
        if (visit.net.stop.aborted) throw error;
        warning = `${messageOf(error)}; the next pull asks for the details that are left`;
        return;
      }
    }
  }
  const file = await saveDetailsFile(visit, texts());
  return { file, seen, ...(warning === undefined ? {} : { warning }) };
}

/** Whether a record may have files: forecasts have none. */
export function hasFiles({ summary }: JsonObject): boolean {
  return objectOf(summary).is_forecast !== true;
}

function digestOf(record: JsonObject): string {
  const text = JSON.stringify(record, (_, value) =>
    Array.isArray(value)
      ? arrayOf(value)
          .map((each) => JSON.stringify(each))
          .sort()
      : value,
  );
  return Bun.hash(text).toString(36);
}
