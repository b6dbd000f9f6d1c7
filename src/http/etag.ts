/** RFC 9110 validators and conditional requests: entity tags (§8.8.3), If-None-Match (§13.1.2), If-Modified-Since (§13.1.3). */
import { type EpochMs, MONTHS, parseInstantMs, SECOND_MS } from "../text/instant.ts";

/** How long after the second of its last change a record may still change within that second: a commit or a clock may be late. */
const SETTLED_AFTER_MS = 60_000;

type Validators = {
  /** The weak entity tag of a record. It changes whenever the record does (D-18). */
  etag: string;
  /** An HTTP-date, in whole seconds. */
  lastModified: string;
  /** The first whole second at which the record was as it is. */
  unmodifiedFrom: EpochMs;
};

/**
 * The validators of a record at `now`. `Last-Modified` is the end of the second of the last change. Until that second is settled, it is the
 * beginning of it, which `isNotModified` treats as older than the record: the client may have missed a change within the second (§8.8.2.2).
 */
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

/** One element of a list, after any empty ones: `etag = [ "W/" ] DQUOTE *etagc DQUOTE`. */
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

const DAYS = "Sun|Mon|Tue|Wed|Thu|Fri|Sat";
const LONG_DAYS = "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday";
const MONTH = MONTHS.join("|");
const TIME = "(?<time>\\d\\d:\\d\\d:\\d\\d)";

/** The three forms of an HTTP-date (§5.6.7), with named groups for their parts. */
const IMF_FIXDATE = new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) (?<month>${MONTH}) (?<year>\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^(?:${LONG_DAYS}), (?<day>\\d\\d)-(?<month>${MONTH})-(?<year>\\d\\d) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^(?:${DAYS}) (?<month>${MONTH}) (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`);

/** The instant of an HTTP-date; `undefined` for any other text: the header is then ignored. */
export function parseHttpDate(text: string): EpochMs | undefined {
  const match = IMF_FIXDATE.exec(text) ?? RFC_850.exec(text) ?? ASCTIME.exec(text);
  if (match?.groups === undefined) return undefined;
  const { day = "", month = "", year = "", time = "" } = match.groups;
  const fullYear = year.length === 4 ? year : String((Number(year) < 70 ? 2000 : 1900) + Number(year));
  const twoDigits = (number: string | number) => String(number).trim().padStart(2, "0");
  return parseInstantMs(`${fullYear}-${twoDigits(MONTHS.indexOf(month) + 1)}-${twoDigits(day)}T${time}Z`);
}
