/** One request on its way through the service, and what each step has learned about it. */
import type { Access, KnownKey } from "../accounts/access.ts";

import type { Log } from "../monitoring/log.ts";
import type { ReadModel } from "../opportunities/read-model.ts";
import type { Allowance } from "../quota/allowance.ts";
import { presentTurn, type Turn } from "./quirks.ts";
import type { StaticFile } from "./static-files.ts";

/** What requests are served from. */
export type Service = {
  model: ReadModel;
  access: Access;
  /** The public base address, with its version segment. */
  baseUrl: string;
  /** `/openapi.json`, `/docs` and the files that page loads, by path below the base address. */
  files: () => ReadonlyMap<string, StaticFile>;
  now: () => number;
  log: Pick<Log, "request" | "failure" | "recurring">;
};

/** The variable parts of a path, decoded; `null` is one that cannot be decoded. */
export type PathParameters = Readonly<Record<string, string | null | undefined>>;

export type ParameterValues = { params: Readonly<Record<string, unknown>>; query: Readonly<Record<string, unknown>> };

export class Call {
  readonly method: string;
  /** Path and query as they arrived, in a URL's own encoding. */
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly startedAt: number;
  /** The turn of the event loop in which the request arrived. */
  readonly turn: Turn = presentTurn();
  /** Elysia's path of the route, once one is found. */
  route: string | null = null;
  params: PathParameters = {};
  /** The values of the route's parameters, once they are read. */
  values: ParameterValues | null = null;
  key: KnownKey | null = null;
  allowance: Allowance | null = null;

  constructor(
    readonly service: Service,
    readonly id: string,
    { url, method, headers }: Request,
  ) {
    const start = pathStart(url);
    const mark = url.indexOf("?", start);
    this.method = method;
    this.path = mark < 0 ? url.slice(start) : url.slice(start, mark);
    this.query = mark < 0 ? "" : url.slice(mark + 1);
    this.headers = headers;
    this.startedAt = service.now();
  }
}

/** Where the path begins in the URL of a request. The URL is absolute, or a path alone where the Host line is missing or unusable. */
export function pathStart(url: string): number {
  if (url.charCodeAt(0) === 47) return 0;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? url.length : start;
}

const URI_CHARACTERS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
const NOT_IN_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu;

/** A path that begins with two slashes and would be read as a malformed `//user@host:port`. */
const READS_AS_A_HOST = /^\/\/[^/]*[:@%]/;

/** A request's path and query as a valid URI reference. Characters that a URI may not contain are percent-encoded. */
export function uriReference(path: string, query = ""): string {
  const reference = query === "" ? path : `${path}?${query}`;
  const encoded = URI_CHARACTERS.test(reference)
    ? reference
    : reference.replace(NOT_IN_A_URI, (character) => encodeURIComponent(character.toWellFormed()));
  return READS_AS_A_HOST.test(encoded) ? `/.${encoded}` : encoded;
}
