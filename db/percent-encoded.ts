/** Whether what an address says of a user, a password and a name can be decoded: clients would say no more than "URI error" of it. */
export function isPercentEncoded({ username, password, pathname }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
