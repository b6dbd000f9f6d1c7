/** @jsxImportSource hono/jsx */
/** The pages as an HTTP app: which requests it accepts, and which page each gets. */
import { Elysia } from "elysia";
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { pathAndQuery, uriReference } from "../http/query-text.ts";
import { urlForRouter } from "../http/quirks.ts";
import { headOf, inPreferredCoding } from "../http/respond.ts";
import { BadCursor } from "../search/cursor.ts";
import { openEmptySearchFile, type SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import { followedBy } from "../watch/member-watches.ts";
import { testMessage } from "../watch/test-message.ts";
import { changesFields } from "./change-list.ts";
import { changesPage } from "./changes-page.tsx";
import { deadlinesPage } from "./deadlines-page.tsx";
import { eventsOutput, eventsResponse } from "./events-output.ts";
import { findPage } from "./find-page.tsx";
import { plainResponse, robotsText, SECURITY_HEADERS } from "./headers.ts";
import { helpPage } from "./help-page.tsx";
import { homePage } from "./home-page.tsx";
import { hostNameOf, isEmbedded, isServedHost } from "./host.ts";
import { type IndexProgress, isProgress, noIndexYet, progressInWords, RETRY_SECONDS } from "./index-being-built.tsx";
import {
  followingPage,
  type MemberContext,
  NO_ID,
  newWatchPage,
  searchStart,
  watchesPage,
  watchPage,
  watchSearchPage,
  withWatch,
} from "./member-pages.tsx";
import { MONTHS_PATH, monthsPage } from "./months-page.tsx";
import { opportunityPage } from "./opportunity-page.tsx";
import { outputResponse, outputs, type SearchOutput, unlessKnown } from "./outputs.ts";
import { outputsDescription } from "./outputs-description.ts";
import {
  ADDRESS_HEADER,
  addressOf,
  type BrowsePage,
  DESCRIPTION_PATH,
  FORM_HEADER,
  MEMBER_HEADER,
  omit,
  type PageContext,
} from "./page.ts";
import { qualityPage } from "./quality-page.tsx";
import { pageFiles, pageResponse } from "./response.tsx";
import { sourcesPage } from "./sources-page.tsx";
import { outputsFor, subscribePage } from "./subscribe-page.tsx";
import { sentForm } from "./watch-fields.tsx";

export type BrowseOptions = {
  /** Opens the catalog for one page, so that a page shows the current data even after the files were replaced. */
  openCatalog: (signal?: AbortSignal) => Promise<CatalogDb>;
  /** Returns the search index, which may lack the newest changes, or how far it is while it is built. */
  searchIndex: () => Promise<SearchFile | IndexProgress>;
  now: () => EpochMs;
  host: string;
  onFailure: (error: unknown) => void;
  /** On `up`: whether its pages ask for a sign-in. It sends the public address of each request in `ADDRESS_HEADER`. */
  up?: UpPages | undefined;
};

type UpPages = {
  hasSignIn: boolean;
  openWatches?: (() => Promise<WatchDb>) | undefined;
  hosts?: readonly string[];
};

/** `fetch` returns a response to every request, and never throws. */
export function createBrowseApp(options: BrowseOptions): { fetch: (request: Request) => Promise<Response> } {
  const respond = routerOf(options);
  return {
    fetch: async (request) => {
      const { url, headers, signal } = request;
      const plain = refusalOf(request, options.host) ?? (await respond(new Request(urlForRouter(url), { headers, signal })));
      const response = await inPreferredCoding(plain, headers.get("accept-encoding"));
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!response.headers.has(name)) response.headers.set(name, value);
      if (memberOf(options, request) !== undefined) response.headers.set("Referrer-Policy", "same-origin"); // Their forms send an origin then.
      return request.method === "HEAD" ? headOf(response, options.now()) : response;
    },
  };
}

/** Refuses other host names: a page of another site can make its name lead here (DNS rebinding), and then sends that name. */
function refusalOf(request: Request, host: string): Response | undefined {
  const name = hostNameOf(request.headers.get("host"));
  if (!isServedHost(name, [host]))
    return plainResponse(
      421,
      "This address is not served here. Open http://127.0.0.1 with the port, or start fundfeed browse with --host.",
    );
  if (isEmbedded(request.headers))
    return plainResponse(403, "A page of another site asked for this by itself. Open the address or follow a link.");
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  return plainResponse(405, "These pages only read: send GET or HEAD.", { Allow: "GET, HEAD" });
}

/** The signed-in member. The header is trusted only from `up`, because anyone can send it. */
function memberOf({ up }: BrowseOptions, { headers }: Request): string | undefined {
  return (up?.openWatches && headers.get(MEMBER_HEADER)) ?? undefined;
}

function routerOf(options: BrowseOptions): (request: Request) => Promise<Response> {
  const respondPage = (request: Request, page: BrowsePage, building?: IndexProgress) => {
    const up = options.up && { hasSignIn: options.up.hasSignIn, isMember: memberOf(options, request) !== undefined };
    return pageResponse(page, up, building && progressInWords(building));
  };
  let empty: SearchFile | undefined;
  const router = new Elysia({ strictPath: true, normalize: false })
    .onError(({ code, error, request }) => {
      if (code === "NOT_FOUND") return respondPage(request, notFound());
      return request.signal.aborted ? plainResponse(503, "The client has left.") : failed(request, error);
    })
    .get("/", ({ request }) => pageOf(request, (context) => (context.query.size > 0 ? findPage : homePage)(context), always))
    .get("/opportunities/:id", ({ request, params: { id } }) =>
      pageOf(request, async (context) => (await opportunityPage(context, id)) ?? notFound("There is no opportunity with this id.")),
    )
    .get("/watches", ({ request }) => memberPage(request, watchesPage))
    .get("/watches/new", ({ request }) => memberPage(request, newWatchPage, always))
    .get("/watches/start", ({ request }) => memberJson(request, searchStart))
    .get("/watches/:name", ({ request, params: { name } }) => memberPage(request, withWatch(name, watchPage)))
    .get("/watches/:name/search", ({ request, params: { name } }) => memberPage(request, withWatch(name, watchSearchPage), always))
    .get("/watches/:name/start", ({ request, params: { name } }) => memberJson(request, withWatch(name, searchStart)))
    .get("/watches/:name/test", ({ request, params: { name } }) => memberJson(request, withWatch(name, testMessage)))
    .get("/following", ({ request }) => memberPage(request, followingPage, always))
    .get("/following.ics", ({ request }) => followingOutput(request, "/find.ics"))
    .get("/following.csv", ({ request }) => followingOutput(request, "/find.csv", { limit: "1000", sort: "closes" }))
    .get("/following.atom", ({ request }) => followingOutput(request, "/changes.atom"))
    .get("/changes", ({ request }) => pageOf(request, changesPage, isFiltered))
    .get("/deadlines", ({ request }) => pageOf(request, deadlinesPage, always))
    .get("/sources", ({ request }) => pageOf(request, sourcesPage))
    .get("/sources/quality", ({ request }) => pageOf(request, qualityPage))
    .get(MONTHS_PATH, ({ request }) => pageOf(request, monthsPage, always))
    .get("/robots.txt", () => new Response(robotsText(options.up?.hasSignIn === true), { headers: ROBOTS }))
    .get("/help", ({ request }) => respondPage(request, helpPage() ?? notFound()))
    .get("/help/:topic", ({ request, params: { topic } }) => respondPage(request, helpPage(topic) ?? notFound(NO_TOPIC)))
    .get("/subscribe", ({ request }) =>
      pageOf(request, async ({ query }) => subscribePage(outputsFor(query, new URL(publicAddress(request)).origin))),
    )
    .get(DESCRIPTION_PATH, ({ request }) =>
      unlessKnown(request, JSON.stringify(outputsDescription()), { "Content-Type": "application/json" }),
    );
  router.get(eventsOutput.path, async ({ request }) => {
    await using catalog = await options.openCatalog(request.signal);
    return await eventsResponse(request, catalog);
  });
  for (const output of outputs) router.get(output.path, ({ request }) => outputOf(request, output));
  for (const { path, contentType, text } of pageFiles) {
    const headers = { "Content-Type": contentType, "Cache-Control": "public, max-age=31536000, immutable" };
    router.get(path, () => new Response(text, { headers }));
  }
  return async (request) => router.fetch(request);

  /** `needsIndex`: the page would be wrong without the index. */
  async function pageOf(
    request: Request,
    make: (context: PageContext) => Promise<BrowsePage>,
    needsIndex: (query: URLSearchParams) => boolean = never,
  ): Promise<Response> {
    try {
      return await withContext(request, async (context, building) => {
        const page =
          building !== undefined && needsIndex(context.query)
            ? noIndexYet(pathAndQuery(request.url) === "/" ? 200 : 503)
            : await make(context);
        return respondPage(request, page, building);
      });
    } catch (error) {
      if (!(error instanceof BadCursor)) throw error;
      const { pathname, searchParams } = new URL(request.url);
      // A person cannot correct a cursor, so the list starts again.
      return respondPage(request, { location: addressOf(pathname, omit(Object.fromEntries(searchParams), "after")) });
    }
  }

  function outputOf(request: Request, output: SearchOutput): Promise<Response> {
    const address = uriReference(publicAddress(request)); // A client may send characters that a URI may not contain.
    return withContext(request, async (context, building) =>
      building === undefined ? outputResponse(request, output, { ...context, address }) : notYet(building),
    );
  }

  async function withContext<T>(
    request: Request,
    make: (context: PageContext, building: IndexProgress | undefined) => Promise<T>,
  ): Promise<T> {
    const { openCatalog, searchIndex, now, up } = options;
    const found = await searchIndex();
    request.signal.throwIfAborted();
    const building = isProgress(found) ? found : undefined;
    if (building !== undefined) empty ??= openEmptySearchFile();
    const index = isProgress(found) ? (empty ?? openEmptySearchFile()) : found;
    await using catalog = await openCatalog(request.signal);
    const id = memberOf(options, request);
    await using watches = id === undefined ? undefined : await up?.openWatches?.();
    const member = id !== undefined && watches !== undefined ? { id, watches } : undefined;
    return await make({ catalog, index, now: now(), query: new URL(request.url).searchParams, member }, building);
  }

  function memberContext({ headers }: Request, { member, ...context }: PageContext): MemberContext | undefined {
    if (member === undefined) return undefined; // Before the form is read: without `up`, anyone can send one.
    const form = headers.get(FORM_HEADER);
    const sent = form === null ? undefined : sentForm(form);
    return { ...context, member: member.id, watches: member.watches, sent, hosts: options.up?.hosts ?? [] };
  }

  function memberPage(
    request: Request,
    make: (context: MemberContext) => Promise<BrowsePage | undefined>,
    needsIndex = never,
  ): Promise<Response> {
    const page = async (context: PageContext) => {
      const own = memberContext(request, context);
      return (own && (await make(own))) ?? notFound();
    };
    return pageOf(request, page, needsIndex);
  }

  function memberJson(request: Request, make: (context: MemberContext) => Promise<object | undefined>): Promise<Response> {
    return withContext(request, async (context, building) => {
      const own = memberContext(request, context);
      if (own !== undefined && building !== undefined) return notYet(building);
      const value = own && (await make(own));
      return value === undefined ? new Response(null, { status: 404 }) : Response.json(value);
    });
  }

  async function followingOutput(request: Request, path: string, others: Readonly<Record<string, string>> = {}): Promise<Response> {
    const ids = await withContext(request, async ({ member }) => member && followedBy(member.watches, member.id));
    const output = outputs.find((each) => each.path === path);
    if (ids === undefined || output === undefined) return respondPage(request, notFound());
    const url = new URL(request.url);
    url.search = `${new URLSearchParams({ id: ids.length === 0 ? NO_ID : ids.join(","), ...others })}`;
    return outputOf(new Request(url.href, request), output);
  }

  function publicAddress({ url, headers }: Request): string {
    const sent = options.up && headers.get(ADDRESS_HEADER);
    if (!sent) return url;
    return new URL(sent).pathname === "/" ? sent + pathAndQuery(url) : sent;
  }

  function failed(request: Request, error: unknown): Response {
    options.onFailure(error);
    const body = (
      <>
        <h1>This page cannot be shown</h1>
        <p>Nothing is lost. Try it again in a minute.</p>
        <p>
          If it stays so: {options.up ? "the log of this server says why." : "the terminal in which these pages were started says why."}
        </p>
      </>
    );
    return respondPage(request, { title: "Cannot be shown", status: 500, body });
  }
}

const ROBOTS = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" };

const [never, always] = [() => false, () => true];
/** Only which opportunities changed comes from the index, not when or what. */
const isFiltered = (query: URLSearchParams) => [...query.keys()].some((name) => !Object.hasOwn(changesFields, name));

function notYet(building: IndexProgress): Response {
  const problem = { title: "Not yet", status: 503, detail: `${progressInWords(building)}.` };
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", "Retry-After": `${RETRY_SECONDS}` };
  return Response.json(problem, { status: 503, headers });
}

const NO_TOPIC = "The manual has no such page: Help, at the foot of each page, lists all.";

function notFound(reason = "There is no such page."): BrowsePage {
  const body = (
    <>
      <h1>Not found</h1>
      <p>{reason} Perhaps its address was cut or mistyped.</p>
      <ul>
        <li>
          <a href="/">Find opportunities</a> by words, a number or an agency
        </li>
        <li>
          <a href="/changes">What changed</a> lately
        </li>
        <li>
          <a href="/deadlines">Deadlines</a> of the next weeks
        </li>
      </ul>
    </>
  );
  return { title: "Not found", status: 404, body };
}
