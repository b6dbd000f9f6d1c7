/** Admission of all requests but those of `/v1`: key, place in a queue, body, quota, turn, each within its limits. (E-170) */
import type { Access, KnownKey } from "../accounts/access.ts";
import { admitUse } from "../http/admission.ts";
import { Problem, problems } from "../http/problem.ts";
import { partsOf } from "../http/query-text.ts";
import { sleep } from "../runtime/run-every.ts";
import type { EpochMs } from "../text/instant.ts";
import { createPlaces, KEYLESS, type PLACES, type Place } from "./places.ts";
import { MCP_PATH } from "./reader-process.ts";

/** A request outside the API, with the data for its log line. */
export type Arrival = {
  request: Request;
  /** GET for a HEAD request; the front removes the body from the response. */
  method: string;
  path: string;
  query: string;
  route: Route;
  from: string;
  /** The key that was sent, even if it is refused; null if none was sent, or if it is unknown. */
  key: KnownKey | null;
};

/** Responds with a path of the reader, for this public address and the key of the arrival. `form` is a member's form that was refused. */
export type Forward = (path: string, arrival: Arrival, address: string, signal: AbortSignal, form?: string) => Promise<Response>;

export function arrivalOf(request: Request, from = ""): Arrival {
  const { path, query } = partsOf(request.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return { request, method, path, query, route: routeOf(path), from, key: null };
}

/** Why a request is not served. The gates render it for people or for programs. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** The refusal that was thrown; undefined for an error of the server. */
export function refusedOf(error: unknown): Refused | undefined {
  if (error instanceof Refused) return error;
  if (!(error instanceof Problem) || problems[error.code].status === 500) return undefined;
  return new Refused(problems[error.code].status, error.detail, error.extra.headers);
}

export const ADMISSION = {
  bodyBytes: 128 * 1024,
  bodyMs: 10_000,
  /** The longest time from the arrival of the request. The listener closes a connection on which nothing is sent for 30 seconds. */
  responseMs: 25_000,
  /** How long a refusal is held back. A client that retries at once would otherwise keep this process busy with new connections. */
  refusalMs: 250,
};

export type AdmissionLimits = Partial<typeof ADMISSION & typeof PLACES>;

type Asked = {
  uses?: (body: Buffer) => number;
  bodyBytes?: number;
  /** The queue of a request without a key. Each client address has its own. */
  line?: "pages" | "files" | "sign-in";
  /** Whether it needs no turn, because it is made in this process or costs the reader nothing. */
  isCheap?: boolean;
  work: (body: Buffer, signal: AbortSignal) => Promise<Response>;
};

export type Admission = (arrival: Arrival, asked: Asked) => Promise<Response>;

type AdmissionDeps = {
  access: Access;
  now: () => EpochMs;
  settled: () => Promise<void>;
  limits?: AdmissionLimits | undefined;
};

/** Nobody reads this response; the log names it. */
const GONE = 499;
const RETRY_SECONDS = "2";

/** The admission of one server. It throws a `Problem` or `Refused`. */
export function createAdmission({ access, now, settled, limits }: AdmissionDeps): Admission {
  const { bodyBytes, bodyMs, responseMs, refusalMs, ...places } = { ...ADMISSION, ...limits };
  const placeIn = createPlaces(places);
  const busy = (message: string) => new Refused(503, message, { "Retry-After": RETRY_SECONDS });

  const inTurn = async (
    { request }: Arrival,
    place: Place,
    isCheap: boolean,
    work: (signal: AbortSignal) => Promise<Response>,
  ): Promise<Response> => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(responseMs)]);
    const { promise, resolve, reject } = Promise.withResolvers<Response | undefined>();
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    const turn = async () => {
      const response = await work(signal);
      const ended = Promise.withResolvers<void>();
      resolve(withEnd(response, ended.resolve));
      signal.addEventListener("abort", () => ended.resolve());
      await ended.promise;
    };
    const whole = async () => {
      try {
        await turn();
      } finally {
        if (signal.aborted) await settled();
      }
    };
    const run = isCheap ? whole() : place.run(signal, whole);
    void run.then(() => resolve(undefined), reject).finally(place.leave);
    const response = await promise;
    if (request.signal.aborted) throw gone();
    if (response === undefined || signal.aborted) throw busy("The response took too long.");
    return response;
  };

  const refuse = async ({ request }: Arrival, error: unknown): Promise<never> => {
    if (!request.bodyUsed) void request.body?.cancel().catch(() => undefined); // Else Bun keeps what arrives of it.
    await sleep(refusalMs, request.signal);
    throw error;
  };

  return async (arrival, { bodyBytes: own, line = "pages", uses, isCheap = false, work }) => {
    const { request, key, from } = arrival;
    const bytes = Math.min(own ?? 0, bodyBytes);
    if (own !== undefined && Number(request.headers.get("content-length")) > bytes) return refuse(arrival, tooLong(bytes));
    const place = placeIn(key?.id ?? `${KEYLESS}${line} ${from}`);
    if (place === undefined) return refuse(arrival, busy("The server is busy."));
    let body: Buffer = Buffer.alloc(0);
    try {
      if (own !== undefined) body = await readBody(request, bytes, bodyMs);
      if (key !== null && uses !== undefined) await admitUse(access, key, now(), uses(body));
    } catch (error) {
      place.leave();
      return refuse(arrival, error);
    }
    return inTurn(arrival, place, isCheap, (signal) => work(body, signal));
  };
}

const gone = () => new Refused(GONE, "The client has left.");
const tooLong = (bytes: number) => new Refused(413, `A message may have ${bytes} bytes.`, { Connection: "close" }); // The rest is not read.

/** The body, within limits of bytes and time: its Content-Length is not trusted. */
async function readBody({ body }: Request, most: number, ms: number): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined); // Its reads then end.
  const late = AbortSignal.timeout(ms);
  late.addEventListener("abort", cancel);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const piece = await reader.read().catch(() => undefined);
    if (late.aborted) throw new Refused(408, "The message took too long.", { Connection: "close" });
    if (piece === undefined) throw gone();
    if (piece.done) return Buffer.concat(pieces);
    bytes += piece.value.length;
    if (bytes > most) {
      cancel();
      throw tooLong(most);
    }
    pieces.push(piece.value);
  }
}

function withEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null || response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    cancel: (reason) => {
      onEnd();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** A route of `up` outside the API: its name in log and metrics, and its cost in uses of a key. */
type Route = {
  name: string | null;
  /** Measured at 100,000 records, in multiples of the time for a page of results. */
  uses: number;
  isForPrograms: boolean;
  isOpen: boolean;
};

const page = { uses: 1, isForPrograms: false, isOpen: false };
const output = { ...page, isForPrograms: true };

const OUTPUT_USES = 5;
/** Up to 1,000 events, or 4 MiB: they are read in order, without a search. */
const EVENTS_USES = 2;

const table: readonly [pattern: RegExp, route: Route & { name: string }][] = [
  [/^\/$/, { ...page, name: "pages:/" }],
  [/^\/opportunities\/[^/]+$/, { ...page, name: "pages:/opportunities/{id}" }],
  [/^\/(?:changes|deadlines|sources|sources\/quality|sources\/months|subscribe|status|sign-in|sign-out)$/, { ...page, name: "pages:$&" }],
  [/^\/(?:find\.(?:json|csv|ics)|changes\.(?:json|csv|atom))$/, { ...output, name: "pages:$&", uses: OUTPUT_USES }],
  [/^\/find\.openapi\.json$/, { ...output, name: "pages:$&" }],
  [/^\/events\.json$/, { ...output, name: "pages:$&", uses: EVENTS_USES }],
  [/^\/feeds\/.*\.(ics|csv|atom)$/, { ...output, name: "pages:/feeds/{token}.$1", uses: OUTPUT_USES }],
  [/^\/following\.(?:ics|csv|atom)$/, { ...output, name: "pages:$&", uses: OUTPUT_USES }],
  [/^\/(?:watches(?:\/new)?|follow(?:ing)?)$/, { ...page, name: "pages:$&" }],
  [/^\/watches\/[\w-]+(\/search)?$/, { ...page, name: "pages:/watches/{name}$1" }],
  [/^\/(sign-in|unsubscribe)\/[\w.-]+$/, { ...page, name: "pages:/$1/{token}" }],
  [/^\/(style|icon|copy)-[0-9a-f]{12}\.(css|svg|js)$/, { ...page, name: "pages:/$1.$2", isOpen: true }],
  [/^\/robots\.txt$/, { ...page, name: "pages:$&", isOpen: true }],
  [/^\/mcp$/, { ...output, name: MCP_PATH }],
];

/** The route of a path; one without a name if there is none. */
function routeOf(path: string): Route {
  for (const [pattern, route] of table) if (pattern.test(path)) return { ...route, name: path.replace(pattern, route.name) };
  return { ...page, isForPrograms: /\.(json|csv|ics|atom)$/.test(path), name: null };
}
