/** Addresses of PostgreSQL databases. */
import { isPercentEncoded } from "../percent-encoded.ts";

export const POSTGRES_ADDRESS = "an address such as postgres://fundfeed:password@db.example.org:5432/fundfeed, percent-encoded";

export function isPostgresAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.host !== "" && url.pathname.length > 1 && isPercentEncoded(url);
}

/** The address for messages and logs, without user, password and parameters. */
export function shownAddress(address: string): string {
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}
