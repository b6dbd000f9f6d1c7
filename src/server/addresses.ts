/** The addresses at which a server listens. */
import type { Listener } from "../http/listen.ts";

/** The origin under which a listener is reached: its loopback address if it listens on all addresses, else the host as it was given. */
export function originOf(scheme: "http" | "https", host: string, { address, port }: Listener): string {
  const name = loopbackFor(address) ?? host.replace(/^\[(.*)\]$/, "$1");
  return `${scheme}://${name.includes(":") ? `[${name}]` : name}:${port}`;
}

/** The loopback address for 0.0.0.0 or ::, which stand for all addresses of the machine; `undefined` for any other address. */
export function loopbackFor(address: string): string | undefined {
  const { hostname } = new URL(`http://${address.includes(":") ? `[${address}]` : address}`);
  return { "0.0.0.0": "127.0.0.1", "[::]": "::1" }[hostname];
}
