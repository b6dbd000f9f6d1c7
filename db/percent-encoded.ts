/** Returns whether user, password and path of a URL can be decoded. A client would only report "URI error". */
export function isPercentEncoded({ username, password, pathname }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
