/** What RFC 3986 does not let a URI contain, beside percent signs that encode nothing. */
const NOT_IN_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#[\]%]/g;

/**
 * An address that may be a link, in its normal form: http or https, and a URI, which feeds and calendars require and browsers do not.
 * `undefined` for anything else, such as `javascript:`.
 */
export function webAddress(text: string | null): string | undefined {
  const url = URL.parse(text ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(NOT_IN_A_URI, encodeURIComponent) : undefined;
}
