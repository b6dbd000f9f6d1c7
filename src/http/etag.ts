/** RFC 9110 validators and conditional requests: entity tags (§8.8.3), If-None-Match (§13.1.2), If-Modified-Since (§13.1.3). */
import { type EpochMs, SECOND_MS } from "../text/instant.ts";

/** How long after the second of its last change a record may still change within that second: a commit or a clock may be late. */
const SETTLED_AFTER_MS = 60_000;

type Validators = {
  /** The weak entity tag of a record. It changes whenever the record does (D-18). */
  etag: string;
  lastModified: string;
  /** The first whole second at which the record was as it is. */
  unmodifiedFrom: EpochMs;
};

/** The validators of a record. `Last-Modified` ends the second of the last change, but begins it, and never matches, until it is settled (§8.8.2.2). */
export function validatorsOf({ id, updated_at }: { id: string; updated_at: EpochMs }, now: EpochMs): Validators {
  const unmodifiedFrom = Math.ceil(updated_at / SECOND_MS) * SECOND_MS;
  const isSettled = now >= unmodifiedFrom + SETTLED_AFTER_MS;
  const lastModified = new Date(isSettled ? unmodifiedFrom : unmodifiedFrom - SECOND_MS).toUTCString();
  return { etag: `W/"${id}.${updated_at}"`, lastModified, unmodifiedFrom };
}

/** Whether the client already has this version, so that the response is 304. If-None-Match takes precedence. */
export function isNotModified(headers: Headers, { etag, unmodifiedFrom }: Partial<Validators> & Pick<Validators, "etag">): boolean {
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) return ifNoneMatch === etag || matches(ifNoneMatch, etag);
  const ifModifiedSince = unmodifiedFrom === undefined ? null : headers.get("if-modified-since");
  if (ifModifiedSince === null || unmodifiedFrom === undefined) return false;
  const since = parseHttpDate(ifModifiedSince);
  return since !== undefined && unmodifiedFrom <= since;
}

const LISTED_TAG = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** Weak comparison with each tag of the list. A malformed list matches nothing. */
function matches(list: string, etag: string): boolean {
  if (list.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  let found = false;
  LISTED_TAG.lastIndex = 0;
  for (let end = 0; /[^ \t,]/.test(list.slice(end)); end = LISTED_TAG.lastIndex) {
    const element = LISTED_TAG.exec(list);
    if (element === null) return false;
    found ||= element[1] === opaque;
  }
  return found;
}

/** The three forms of an HTTP-date (§5.6.7): "Sun, 06 Nov 1994 08:49:37 GMT", with "Sunday, 06-Nov-94", and "Sun Nov  6 08:49:37 1994". */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, (\d\d) [A-Z][a-z]{2} \d{4} (?:\d\d:){2}\d\d GMT|[A-Z][a-z]+day, (\d\d)-[A-Z][a-z]{2}-\d\d (?:\d\d:){2}\d\d GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} ([ \d]\d) (?:\d\d:){2}\d\d \d{4})$/;

/** The instant of an HTTP-date; `undefined` for any other text: the header is then ignored. */
export function parseHttpDate(text: string): EpochMs | undefined {
  const [, ...days] = HTTP_DATE.exec(text) ?? [];
  const inFullYear = text.replace(/-(?=[0-6]\d )/, "-20"); // `Date.parse` takes 51 for 1951, which is less than 50 years ahead.
  const ms = Date.parse(text.endsWith("GMT") ? inFullYear : `${text} GMT`);
  const isInMonth = days.some((day) => Number(day) === new Date(ms).getUTCDate()); // `Date.parse` takes Nov 31 for Dec 1.
  return isInMonth ? ms : undefined;
}
