/** One request on its way through the service. Each step adds what it finds out. */

import type { Access, KnownKey } from "../accounts/access.ts";
import type { Log } from "../monitoring/log.ts";
import type { ReadModel } from "../opportunities/read-model.ts";
import type { Allowance } from "../quota/allowance.ts";
import type { EpochMs } from "../text/instant.ts";
import { partsOf } from "./query-text.ts";
import { currentTurn, type Turn } from "./turn.ts";

/** A file that is the same for everyone. `path` is below the base address; `headers` are added to the usual ones, or replace them. */
export type StaticFile = {
  path: `/${string}`;
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  etag: string;
};

export type Service = {
  model: ReadModel;
  access: Access;
  baseUrl: string;
  files: () => ReadonlyMap<string, StaticFile>;
  now: () => EpochMs;
  randomBytes: (count: number) => Uint8Array;
  log: Pick<Log, "request" | "failure" | "recurring">;
};

/** The variable parts of a path, decoded; `null` if one cannot be decoded. */
export type PathParameters = Readonly<Record<string, string | null | undefined>>;

export class ApiCall {
  readonly method: string;
  /** Path and query as they arrived, still percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly startedAt: EpochMs;
  readonly turn: Turn = currentTurn();
  /** Elysia's path of the route, such as `/v1/opportunities/:id`; `null` until one is found. */
  route: string | null = null;
  params: PathParameters = {};
  /** The key that was sent, also if it is refused; `null` if none was, or if it is unknown. */
  key: KnownKey | null = null;
  allowance: Allowance | null = null;

  constructor(
    readonly service: Service,
    readonly id: string,
    { url, method, headers }: Request,
  ) {
    const { path, query } = partsOf(url);
    this.method = method;
    this.path = path;
    this.query = query;
    this.headers = headers;
    this.startedAt = service.now();
  }
}

/** A new request id: 128 random bits in hexadecimal. A client cannot choose its id (D-19). */
export function newRequestId({ randomBytes }: { randomBytes: (count: number) => Uint8Array }): string {
  return randomBytes(16).toHex();
}
