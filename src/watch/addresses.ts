/** Which addresses a message may be sent to: those of the public internet, unless the watch allows private ones. */
import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/** IANA's special-purpose addresses (RFC 6890) and multicast. */
const PRIVATE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Within the global unicast addresses 2000::/3: special purposes with Teredo, documentation and 6to4, which hold an IPv4 address.
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
];

const blocked = new BlockList();
for (const range of PRIVATE) {
  const [network = "", bits] = range.split("/");
  blocked.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
}
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address belongs to the public internet. An IPv4 address within IPv6 does not. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !blocked.check(address, "ipv4");
  return version === 6 && globalUnicast.check(address, "ipv6") && !blocked.check(address, "ipv6");
}

export const PRIVATE_ADDRESS = "EPRIVATEADDRESS";

type Resolve = (host: string, options: { all: true }, done: (error: Error | null, found: LookupAddress[]) => void) => void;

/** Finds public addresses only, and connects to those: a name server that answers differently the second time gains nothing. */
export function publicLookup(resolve: Resolve = lookup): LookupFunction {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, "");
      const allowed = found.filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (first === undefined) return done(Object.assign(new Error("private address"), { code: PRIVATE_ADDRESS }), "");
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}
