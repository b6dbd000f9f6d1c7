/** Each upstream of `pull`, played from real files. */
import { realFile, realJson } from "../support/real-data.ts";
import { simplerRecords } from "../support/simpler-layouts.ts";
import { answerProbe, simplerExtractOf } from "./simpler-server.ts";
import { type Asked, extractOf } from "./upstream.ts";

/** Changes the text of a response with records. */
export type Change = (text: string) => string;

/** Returns the response of an upstream, with its records changed; `undefined` is 404. */
type Player = (asked: Asked, change: Change) => Response | undefined | Promise<Response | undefined>;

const json = (value: unknown, change: Change = (text) => text) =>
  new Response(change(JSON.stringify(value)), { headers: { "content-type": "application/json" } });

/** A file of which a range can be requested. */
function file(bytes: Uint8Array, type: string, { headers }: Asked): Response {
  const [, end] = /^bytes=0-(\d+)$/.exec(headers.get("range") ?? "") ?? [];
  const common = { "content-type": type, "last-modified": "Mon, 03 Aug 2026 06:00:00 GMT" };
  if (end === undefined) return new Response(bytes, { headers: common });
  const part = bytes.subarray(0, Number(end) + 1);
  return new Response(part, { status: 206, headers: { ...common, "content-range": `bytes 0-${part.length - 1}/${bytes.length}` } });
}

const hits = realJson<{ data: { oppHits: object[] } }>("grants-gov/derived/search2-20260803.reconstructed.json").data.oppHits;
const csv = realFile("sam-gov/derived/ContractOpportunitiesFullCSV-20260425.reconstructed.csv.gz").toString("latin1");
const notices = realJson<{ totalRecords: number; opportunitiesData: object[] }>("sam-gov/v2-search-20260202.json");
const solicitations = realJson<object[]>("sbir-gov/solicitations-20250914.json");
const details = realJson<{ topicId: string }>("dod-dsip/raw_api_details_response.json");
const topics = realJson<{ total: number; data: { topicId: string }[] }>("dod-dsip/raw_api_search_correct_format.json").data.map(
  (topic) => ({
    ...topic,
    noOfPublishedQuestions: topic.topicId === details.topicId ? 7 : 0,
  }),
);
const questions = realJson<object[]>("dod-dsip/raw_api_qa_response.json");

function search2({ body }: Asked, change: Change): Response {
  const { rows = 0 } = body as { rows?: number };
  return json(
    { errorcode: 0, msg: "Webservice Succeeds", token: "", data: { hitCount: hits.length, oppHits: hits.slice(0, rows) } },
    change,
  );
}

const feed = realJson<object[]>("darpa/opportunity-20260905.json");
const open = realJson<object>("nasa-nspires/solicitationsJSON-20261005.reconstructed.json");
const table = realFile("nasa-roses/roses-2025-table3.html").toString("latin1");

const simpler = { records: simplerRecords(), extract: simplerExtractOf(simplerRecords(), "2026-06-17") };

const page = (text: string, headers: Record<string, string> = {}) =>
  new Response(Buffer.from(text, "latin1"), { headers: { "content-type": "text/html", ...headers } });

export const players: Readonly<Record<string, Player>> = {
  "grants-gov": (asked, change) =>
    asked.path === "/GrantsDBExtract20260803v2.zip" ? file(extractOf("20260803", change), "application/zip", asked) : undefined,
  "grants-gov-search": (asked, change) => (asked.path === "/search2" ? search2(asked, change) : undefined),
  "grants-gov-details": (asked, change) => {
    if (asked.path === "/search2") return search2(asked, (text) => text);
    return json({ errorcode: 0, msg: "Webservice Succeeds", data: realJson<object>("grants-gov/opportunity-details-358302.json") }, change);
  },
  "simpler-grants-gov": (asked, change) => answerProbe(simpler, asked, change),
  "sam-gov": (asked, change) => file(Buffer.from(change(csv), "latin1"), "application/octet-stream", asked),
  "sam-gov-api": ({ query }, change) =>
    json({ ...notices, opportunitiesData: notices.opportunitiesData.slice(0, Number(query.get("limit"))) }, change),
  "sbir-gov": ({ query }, change) => {
    const [start, rows] = ["start", "rows"].map((name) => Number(query.get(name)));
    return json(solicitations.slice(start, (start ?? 0) + (rows ?? 0)), change);
  },
  dsip: ({ path, query }, change) => {
    if (path.endsWith("/lookup")) return json(["Closed", "Open", "Pre-Release"].map((label, id) => ({ label, value: `${700 + id}`, id })));
    const size = Number(query.get("size"));
    if (path.endsWith("/search")) return json({ total: topics.length, data: topics.slice(Number(query.get("page")) * size, size) }, change);
    return path.endsWith("/details") ? json({ ...details, topicId: path.split("/").at(-2) }, change) : json(questions, change);
  },
  darpa: ({ path }, change) => (path === "/opportunity.json" ? json(feed, change) : undefined),
  "nasa-nspires": ({ path }, change) => {
    if (path === "/solicitations.do") return page("<html>Solicitations", { "set-cookie": "JSESSIONID=abc; Path=/" });
    return path === "/solicitationsJSON.do" ? json(open, change) : undefined;
  },
  "nasa-roses": ({ path }, change) => (path === "/ROSES2025table3" ? page(change(table)) : undefined),
};
