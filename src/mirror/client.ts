/** The client with which a mirror reads a server. It accepts only what the schemas allow. It is the client that others use (`clients/typescript`). */
import {
  type ApiClient,
  type ApiClientOptions,
  ConnectionError,
  createClient,
  FundfeedError,
} from "../../clients/typescript/src/fundfeed.ts";
import { reasonOf } from "../../db/reason.ts";
import { version } from "../runtime/version.ts";
import { HOUR_MS } from "../text/instant.ts";
import { requestFailure } from "../text/request-failure.ts";
import { unexpectedMember } from "./expected.ts";

export type ServerOptions = Omit<ApiClientOptions, "check" | "headers" | "waitMaxMs">;

/** The longest wait: after that, a new daily window has begun. */
const WAIT_MAX_MS = 25 * HOUR_MS;

/** A client of the server. It accepts only responses that meet the schema of the API. */
export function clientOf(options: ServerOptions): ApiClient {
  return createClient({ ...options, waitMaxMs: WAIT_MAX_MS, headers: { "User-Agent": `fundfeed/${version}` }, check: unexpectedMember });
}

/** Why the server could not be read. A failed connection is described for people. */
export function mirrorReason(error: unknown): string {
  if (error instanceof DOMException && error.name === "AbortError") return "it was stopped";
  if (!(error instanceof ConnectionError) || error.cause === undefined) return reasonOf(error);
  return error.message.replace(/^the request failed( \(\w+\))?/, () => requestFailure(error.cause).reason);
}

/** Whether the same request would fail again, unless somebody changes something. */
export function isFinal(error: unknown): boolean {
  return error instanceof FundfeedError && !(error instanceof ConnectionError) && !error.isTemporary;
}
