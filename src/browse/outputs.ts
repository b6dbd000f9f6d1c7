/** The searches of the pages for other programs. They are not in `/v1`, a contract for copies, as the ranking of results may change at any time. */
import { type TSchema, Type } from "@sinclair/typebox";
import { foundCsvHeader, foundCsvLine } from "../export/csv.ts";
import { FoundPage, foundPage } from "../export/found.ts";
import { changesAtomPrinter } from "../feed/atom.ts";
import { CALENDAR_LIMIT, deadlinesCalendar } from "../feed/deadlines.ts";
import { csvPrinter, jsonPrinter, PrintedChanges } from "../feed/printers.ts";
import { describeFilter } from "../filter/filter.ts";
import { isNotModified } from "../http/etag.ts";
import { PAGE_BYTES_MAX } from "../opportunities/page.ts";
import { BadCursor } from "../search/cursor.ts";
import { type SearchPage, type Sort, search } from "../search/search.ts";
import { DAY_MS, formatInstant } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { integer } from "../text/value.ts";
import { changesFields, chosenChanges, endOfDay, feedFilterOf, readEntries } from "./change-list.ts";
import { addressOf, omit, opportunityAddress, type PageContext } from "./page.ts";
import { findFields, type OwnFields, readSearchForm, type SearchForm } from "./search-form.tsx";

type OutputContext = PageContext & { form: SearchForm; address: string };

type Written = { text: string; next?: string | null };

export type SearchOutput = {
  path: `/${string}`;
  contentType: string;
  operationId: string;
  summary: string;
  description: string;
  own: OwnFields;
  schema?: TSchema;
  write: (context: OutputContext) => Promise<Written>;
};

const [ROWS_DEFAULT, ROWS_MAX] = [100, 1000];
const limit = integer(1, ROWS_MAX, ROWS_DEFAULT, "The most rows. A page of long ones has fewer, about 4 MiB.");
const DEFAULT_DAYS = 30;
const READS = 30;
const STRICT = "With words, only what has all of them is there.";
const PERIOD = `Of the last 30 days, unless \`since\` says otherwise. ${STRICT}`;

export const outputs: readonly SearchOutput[] = [
  {
    path: "/find.json",
    contentType: "application/json",
    operationId: "findOpportunities",
    summary: "Find opportunities by words and filters",
    description:
      "What `fundfeed find --json` prints. With words, the best matches come first, unless `sort` says otherwise, and what has only some of the words follows.",
    own: { ...findFields, limit },
    schema: FoundPage,
    write: async (context) => {
      const page = await foundBy(context);
      return { text: JSON.stringify(foundPage(page, context.form.filter, context.now)), next: page.next };
    },
  },
  {
    path: "/find.csv",
    contentType: "text/csv; charset=utf-8; header=present",
    operationId: "findOpportunitiesAsCsv",
    summary: "The same as CSV",
    description: `What \`fundfeed find --format csv\` prints. ${STRICT}`,
    own: { ...findFields, limit },
    write: async (context) => {
      const { now } = context;
      const { results, next } = await foundBy(context, true);
      return {
        text: foundCsvHeader + results.map(({ opportunity, duplicates }) => foundCsvLine(opportunity, duplicates, now)).join(""),
        next,
      };
    },
  },
  {
    path: "/find.ics",
    contentType: "text/calendar; charset=utf-8",
    operationId: "getDeadlines",
    summary: "The deadlines of a search as a calendar",
    description: `Every due date of the last month and of the next two years, of the ${CALENDAR_LIMIT} opportunities that are due next. A deadline keeps its \`UID\`, and its \`SEQUENCE\` grows when it moves. ${STRICT}`,
    own: {},
    write: async ({ catalog, index, now, form, address }) => {
      const { resolved: filter, filter: shown, allSources } = form;
      const pageOf = (id: string) => new URL(opportunityAddress(id), address).href;
      return { text: await deadlinesCalendar(catalog, index, { filter, shown, allSources }, now, pageOf) };
    },
  },
  {
    path: "/changes.json",
    contentType: "application/json",
    operationId: "listChanges",
    summary: "What changed in the opportunities of a search",
    description: `What \`fundfeed changes --json\` prints, the newest first. ${PERIOD}`,
    own: { ...changesFields, limit },
    schema: object({
      ...PrintedChanges.properties,
      next_cursor: nullable(Type.String(), "Send it as `after` for what follows; null if nothing does."),
    }),
    write: async (context) => {
      const { entries, repeats, next, summary } = await changesOf(context);
      const printer = jsonPrinter();
      const end = { ...summary, has_more: next !== null, repeats, next_cursor: next };
      return { text: printer.begin + printer.entries(entries) + printer.end(end), next };
    },
  },
  {
    path: "/changes.csv",
    contentType: "text/csv; charset=utf-8; header=present",
    operationId: "listChangesAsCsv",
    summary: "The same as CSV",
    description: `What \`fundfeed changes --format csv\` prints, the newest first. ${PERIOD}`,
    own: { ...changesFields, limit },
    write: async (context) => {
      const { entries, next } = await changesOf(context);
      const printer = csvPrinter("");
      return { text: printer.begin + printer.entries(entries), next };
    },
  },
  {
    path: "/changes.atom",
    contentType: "application/atom+xml; charset=utf-8",
    operationId: "getChangesFeed",
    summary: "The same as an Atom feed",
    description: `The newest changes. ${PERIOD}`,
    own: (({ after, ...fields }) => ({ ...fields, limit }))(changesFields),
    write: async (context) => {
      const { entries, chosen } = await changesOf(context);
      const { types, atLeast } = chosen;
      const printer = await changesAtomPrinter(context.catalog, { types, atLeast, filter: context.form.filter }, context.address);
      return { text: printer.entries(entries) + printer.end({}) };
    },
  },
];

function foundBy({ catalog, index, now, form }: OutputContext, onlyMatching = false): Promise<SearchPage> {
  const { sort, after } = form.given;
  const { resolved: filter, allSources } = form;
  const order = sort as Sort | undefined;
  const request = { filter, sort: order, after, limit: limitOf(form), allSources, onlyMatching, bytesMax: PAGE_BYTES_MAX };
  return search(catalog, index, request, now);
}

async function changesOf({ catalog, index, now, form }: OutputContext) {
  const chosen = chosenChanges(form, now);
  const { until = endOfDay(now) } = chosen; // Whole days, so that the same changes have the same tag.
  const { since = until - DEFAULT_DAYS * DAY_MS } = chosen;
  const filter = feedFilterOf(index, chosen, { since, until }, now);
  const page = await readEntries(catalog, filter, form.given.after, { limit: limitOf(form), reads: READS }, now);
  const summary = {
    since: since === "all" ? null : formatInstant(since),
    until: formatInstant(until),
    at_least: chosen.atLeast,
    types: chosen.types ?? null,
    filter: form.filter,
    filter_in_words: describeFilter(form.filter, now),
  };
  return { ...page, next: page.next ?? null, summary, chosen };
}

function limitOf({ given }: SearchForm): number {
  return Number(given.limit ?? ROWS_DEFAULT);
}

/** An output as a response, or a problem (RFC 9457) that names every parameter that was refused. `address` is where the output is served. */
export async function outputResponse(
  request: Request,
  output: SearchOutput,
  context: PageContext & { address: string },
): Promise<Response> {
  const form = await readSearchForm(context, output.own);
  if (form.errors.size > 0) return refused(form.errors);
  const { pathname } = new URL(request.url);
  try {
    const { text, next = null } = await output.write({ ...context, form });
    const link = next === null ? {} : { Link: `<${addressOf(pathname, { ...omit(form.given, "after"), after: next })}>; rel="next"` };
    return unlessKnown(request, text, { "Content-Type": output.contentType, ...link }, next);
  } catch (error) {
    if (!(error instanceof BadCursor)) throw error;
    return refused([["after", error.message]]);
  }
}

/** The text, or 304 if the client has it. `cursor` differs each time and does not count. The tag is weak for that reason. */
export function unlessKnown(request: Request, text: string, headers: Record<string, string>, cursor: string | null = null): Response {
  const counting = cursor === null ? text : text.replace(cursor, "");
  const etag = `W/"${Bun.CryptoHasher.hash("sha256", counting, "base64url").slice(0, 22)}"`;
  const shared = { ETag: etag, "Cache-Control": "private, no-cache" };
  if (isNotModified(request.headers, { etag })) return new Response(null, { status: 304, headers: shared });
  return new Response(text, { headers: { ...shared, ...headers } });
}

export function refused(reasons: Iterable<readonly [field: string, reason: string]>): Response {
  const errors = Array.from(reasons, ([field, reason]) => ({ field, reason }));
  const detail = errors.map(({ field, reason }) => (field === "" ? reason : `${field}: ${reason}`)).join(" ");
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store" };
  return Response.json({ title: "Invalid parameter", status: 400, detail, errors }, { status: 400, headers });
}
