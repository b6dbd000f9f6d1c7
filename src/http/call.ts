/** One request on its way through, and what each hook has learnt of it. */
import type { KnownKey } from "../accounts/access.ts";
import type { Allowance } from "../quota/allowance.ts";
import type { Turn } from "./turn.ts";

export type Call = {
  readonly id: string;
  readonly method: string;
  /** As it arrived; both are text in a URL's own encoding. */
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly startedAt: number;
  /** In which the request came. */
  readonly turn: Turn;
  /** The operation's path, once one is found. */
  route: string | null;
  /** The variable parts of the path, decoded; `null` is one that cannot be. */
  params: Readonly<Record<string, string | null>>;
  key: KnownKey | null;
  allowance: Allowance | null;
};

/** Where the path begins in the URL of a request: absolute, or a path alone where the Host line is missing or unusable. */
export function pathStart(url: string): number {
  if (url.charCodeAt(0) === 47) return 0;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? url.length : start;
}

const URI_CHARACTERS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
const NOT_IN_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu;

/** A path that begins with two slashes and would be read as a malformed `//user@host:port`. */
const READS_AS_A_HOST = /^\/\/[^/]*[:@%]/;

/** A request's path and query as a valid URI reference: what may not stand in one is percent-encoded. */
export function uriReference(path: string, query = ""): string {
  const reference = query === "" ? path : `${path}?${query}`;
  const encoded = URI_CHARACTERS.test(reference)
    ? reference
    : reference.replace(NOT_IN_A_URI, (character) => encodeURIComponent(character.toWellFormed()));
  return READS_AS_A_HOST.test(encoded) ? `/.${encoded}` : encoded;
}
