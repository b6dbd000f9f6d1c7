/** RFC 9110 validators and conditional requests: entity tags (§8.8.3), If-None-Match (§13.1.2), If-Modified-Since (§13.1.3). */
import { type EpochMs, MONTHS, parseInstantMs } from "../text/instant.ts";

/** The weak validator of a record: it changes whenever the record does (D-18). */
export function validatorsOf({ id, updated_at }: { id: string; updated_at: EpochMs }): { etag: string; lastModified: string } {
  return { etag: `W/"${id}.${updated_at}"`, lastModified: new Date(updated_at).toUTCString() };
}

/** Whether the client already has this version, so that the response is 304. If-None-Match takes precedence. */
export function isNotModified(headers: Headers, { etag, lastModified }: { etag: string; lastModified?: string }): boolean {
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) return ifNoneMatch === etag || matches(ifNoneMatch, etag);
  const ifModifiedSince = lastModified === undefined ? null : headers.get("if-modified-since");
  if (ifModifiedSince === null || lastModified === undefined) return false;
  const since = parseHttpDate(ifModifiedSince);
  return since !== undefined && Date.parse(lastModified) <= since;
}

/** One element of a list, after any empty ones: `etag = [ "W/" ] DQUOTE *etagc DQUOTE`. */
const ELEMENT = /[ \t,]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/y;

/** Weak comparison with each tag of the list. A malformed list matches nothing. */
function matches(list: string, etag: string): boolean {
  if (list.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  let found = false;
  ELEMENT.lastIndex = 0;
  for (let end = 0; /[^ \t,]/.test(list.slice(end)); end = ELEMENT.lastIndex) {
    const element = ELEMENT.exec(list);
    if (element === null) return false;
    found ||= element[1] === opaque;
  }
  return found;
}

const DAYS = "Sun|Mon|Tue|Wed|Thu|Fri|Sat";
const LONG_DAYS = "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday";
const MONTH = MONTHS.join("|");
const TIME = "(?<time>\\d\\d:\\d\\d:\\d\\d)";

/** The three forms of an HTTP-date (§5.6.7), with named groups for their parts. */
const IMF_FIXDATE = new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) (?<month>${MONTH}) (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^(?:${LONG_DAYS}), (?<day>\\d\\d)-(?<month>${MONTH})-(?<year>\\d\\d) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^(?:${DAYS}) (?<month>${MONTH}) (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`);

/** The instant of an HTTP-date; `undefined` if the text is none, and the header is to be ignored. */
export function parseHttpDate(text: string): EpochMs | undefined {
  const match = IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text);
  if (match?.groups === undefined) return undefined;
  const { day = "", month = "", year = "", time = "" } = match.groups;
  const fullYear = year.length === 4 ? year : String((Number(year) < 70 ? 2000 : 1900) + Number(year));
  const twoDigits = (number: string | number) => String(number).trim().padStart(2, "0");
  return parseInstantMs(`${fullYear}-${twoDigits(MONTHS.indexOf(month) + 1)}-${twoDigits(day)}T${time}Z`);
}
