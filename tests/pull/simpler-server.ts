/**
 * A stand-in for Simpler.Grants.gov's API, written after HHS's OpenAPI description (`HHS/simpler-grants-gov` 32d9a12) and code: what it
 * accepts, its envelopes, paging, counts and errors. No answer of the live API was available. Invented are: the bodies of the gateway's own
 * errors, the address of the extract, the instants, `internal_request_id`, and whatever a test makes of the 24 real records.
 */
import { detailText, extractText, type SimplerRecord } from "../support/simpler-layouts.ts";
import { type Asked, type Played, play } from "./upstream.ts";

export const SIMPLER_KEY = "invented-key-of-25-chars-";

type Search = {
  filters?: { opportunity_status?: { one_of: string[] }; post_date?: { start_date: string; end_date: string } };
  pagination?: { page_offset: number; page_size: number; sort_order: { order_by: string; sort_direction: string }[] };
};

/** What it publishes. A test changes it between two pulls, or while one runs. */
export type Published = {
  records: SimplerRecord[];
  /** The newest extract; none if there is no text. */
  extract?: { name: string; text: string; createdAt: string; announcedBytes?: number };
  /** Called before each answer. What it returns is answered instead. */
  before?: (asked: Asked, turn: number) => Response | undefined;
};

/** The API and the host of its files at one address. */
export function playSimpler(published: Published): Played {
  const played: Played = play((asked, turn) => published.before?.(asked, turn) ?? answer(published, played.base, asked));
  return played;
}

/** The same answers to any key, with the text of each record changed. */
export function answerProbe(published: Published, asked: Asked, change: (text: string) => string): Promise<Response | undefined> {
  return changed(
    answer(published, `http://${asked.headers.get("host")}/`, asked, asked.headers.get("x-api-key") ?? undefined),
    asked,
    change,
  );
}

async function changed(response: Response | undefined, { path }: Asked, change: (text: string) => string): Promise<Response | undefined> {
  if (response === undefined || path === "/extracts") return response;
  const headers = { "content-type": "application/json" };
  return new Response(change(await response.text()), { headers });
}

/** The records as an extract of a day. */
export function simplerExtractOf(records: readonly SimplerRecord[], day: string): NonNullable<Published["extract"]> {
  return {
    name: `opportunity_data-${day}_05-00-12.json`,
    text: extractText(records, `${day}_05-00-12`),
    createdAt: `${day}T09:00:12+00:00`,
  };
}

function answer(published: Published, base: string, { method, path, headers, body }: Asked, key = SIMPLER_KEY): Response | undefined {
  if (path.startsWith("/files/")) return file(published, path, headers);
  if (headers.get("x-api-key") !== key) return gatewayError(403, "Forbidden");
  if (method === "POST" && path === "/extracts") return extracts(published, base);
  if (method === "POST" && path === "/opportunities/search") return search(published, body as Search);
  const [, id] = /^\/opportunities\/([0-9a-f-]{36})$/.exec(path) ?? [];
  const found = published.records.find(({ opportunity_id }) => opportunity_id === id);
  if (method === "GET" && found !== undefined) return json(detailText(found));
  return apiError(404, `Could not find Opportunity with ID ${id}`);
}

/* Errors */

export function apiError(status_code: number, message: string, errors: object[] = []): Response {
  return json(JSON.stringify({ data: {}, message, status_code, errors, internal_request_id: "0" }), status_code);
}

/** The gateway in front answers by itself. */
export function gatewayError(status: number, message: string): Response {
  return json(JSON.stringify({ message }), status);
}

function json(text: string, status = 200): Response {
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

/* Extracts */

function extracts({ extract }: Published, base: string): Response {
  const data = extract === undefined ? [] : [rowOf(extract, base)];
  return json(JSON.stringify({ data, message: "Success", pagination_info: {}, status_code: 200 }));
}

function rowOf({ name, text, createdAt, announcedBytes }: NonNullable<Published["extract"]>, base: string): object {
  return {
    extract_metadata_id: 1,
    extract_type: "opportunities_json",
    download_path: `${base}files/opportunity-data-extracts/${name}`,
    file_size_bytes: announcedBytes ?? Buffer.byteLength(text),
    created_at: createdAt,
    updated_at: createdAt,
  };
}

/** A file of which a range can be requested, without a key. */
function file({ extract }: Published, path: string, headers: Headers): Response | undefined {
  if (headers.has("x-api-key")) throw new Error("the host of the files was given the key");
  if (extract === undefined || !path.endsWith(`/${extract.name}`)) return undefined;
  const bytes = Buffer.from(extract.text);
  const common = { "content-type": "application/json", "accept-ranges": "bytes", etag: `"${extract.name}"` };
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.get("range") ?? "") ?? [];
  if (from === undefined) return new Response(bytes, { headers: common });
  const part = bytes.subarray(Number(from), to === "" ? undefined : Number(to) + 1);
  const range = `bytes ${from}-${Number(from) + part.length - 1}/${bytes.length}`;
  return new Response(part, { status: 206, headers: { ...common, "content-range": range } });
}

/* Search */

const STATUSES = ["forecasted", "posted", "closed", "archived"];
const ORDERS = ["relevancy", "opportunity_id", "opportunity_number", "opportunity_title", "post_date", "close_date", "agency_code"];
/** The index finds no more than this with one query. */
const FOUND_MAX = 10_000;

function search({ records }: Published, { filters = {}, pagination }: Search): Response {
  const { page_offset = 0, page_size = 0, sort_order = [] } = pagination ?? {};
  const statuses = filters.opportunity_status?.one_of ?? STATUSES;
  const isValid =
    page_offset >= 1 &&
    page_size >= 1 &&
    page_size <= 5000 &&
    sort_order.length >= 1 &&
    sort_order.every(({ order_by, sort_direction }) => ORDERS.includes(order_by) && /^(a|de)scending$/.test(sort_direction)) &&
    statuses.length > 0 &&
    statuses.every((status) => STATUSES.includes(status));
  if (!isValid) return apiError(422, "Validation error", [{ type: "invalid", message: "Not a valid request.", field: "pagination" }]);
  const { start_date = "", end_date = "9" } = filters.post_date ?? {};
  const found = records
    .filter((each) => statuses.includes(each.opportunity_status))
    .filter(({ summary: { post_date } }) => String(post_date) >= start_date && String(post_date) <= end_date)
    .sort(inOrder(sort_order, page_offset));
  const total_records = Math.min(found.length, FOUND_MAX);
  const start = (page_offset - 1) * page_size;
  const data = found.slice(start, Math.min(start + page_size, FOUND_MAX)).map(({ attachments: _, ...record }) => record);
  const opportunity_status = Object.fromEntries(
    [...Map.groupBy(found, (each) => each.opportunity_status)].map(([status, each]) => [status, each.length]),
  );
  const total_pages = Math.ceil(total_records / page_size);
  const pagination_info = { page_offset, page_size, total_records, total_pages, sort_order };
  return json(JSON.stringify({ data, facet_counts: { opportunity_status }, message: "Success", pagination_info, status_code: 200 }));
}

/** By the first of the orders. Equal ones come in another order on each page, as they may. */
function inOrder(sort_order: readonly { order_by: string; sort_direction: string }[], page: number) {
  const [{ order_by, sort_direction } = { order_by: "relevancy", sort_direction: "descending" }] = sort_order;
  const sign = sort_direction === "ascending" ? 1 : -1;
  const keyOf = ({ summary, ...record }: SimplerRecord) => String({ ...summary, ...record }[order_by]);
  const tieOf = ({ opportunity_id }: SimplerRecord) => Bun.hash.crc32(`${page} ${opportunity_id}`);
  return (one: SimplerRecord, other: SimplerRecord) => {
    const [first, second] = [keyOf(one), keyOf(other)];
    return first === second ? tieOf(one) - tieOf(other) : first < second ? -sign : sign;
  };
}
