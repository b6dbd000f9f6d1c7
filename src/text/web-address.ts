/** What RFC 3986 does not let a URI contain, beside percent signs that encode nothing. */
const NOT_IN_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#[\]%]/g;

/** A web address that may be a link: http(s), and a URI, as feeds and calendars require. Undefined for others, such as `javascript:`. */
export function webAddress(text: string | null): string | undefined {
  const url = URL.parse(text ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(NOT_IN_A_URI, encodeURIComponent) : undefined;
}
