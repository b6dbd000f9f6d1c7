/** robots.txt (RFC 9309) of hosts that serve pages and feeds. Bulk files and APIs are published for programs. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { publicUrl } from "../text/request-failure.ts";
import { download, mediaType, type Net } from "./download.ts";
import { PACE_MS } from "./visit.ts";

/** A crawler must read at least 500 KiB, and may ignore the rest (RFC 9309 §2.5). */
const ROBOTS_BYTES_MAX = 512 * 1024;

const AGENT = "fundfeed";

/** Fetches nothing that robots.txt disallows, if the upstream has one for its pages. */
export function permitted(net: Net, { asksRobots }: { asksRobots?: true }, directory: string): Net {
  return asksRobots ? { ...net, requirePermission: createRobots(net, directory) } : net;
}

/** Throws if a host's robots.txt, asked once, disallows an address, or cannot be fetched though there is one. */
function createRobots(net: Net, directory: string): (url: URL) => Promise<void> {
  const hosts = new Map<string, Promise<(url: URL) => boolean>>();
  return async (url) => {
    const read = () => readRules(net, new URL("/robots.txt", url), join(directory, `robots-${hosts.size + 1}.txt`));
    const isAllowed = await hosts.getOrInsertComputed(url.host, read);
    if (!isAllowed(url)) throw new Error(`the robots.txt of ${url.host} does not allow programs to fetch ${publicUrl(url)}`);
  };
}

async function readRules(net: Net, url: URL, path: string): Promise<(url: URL) => boolean> {
  // Without a robots.txt, or with a page in its place, nothing is disallowed (RFC 9309 §2.3.1.3).
  const request = { url, types: [], bytesMax: ROBOTS_BYTES_MAX, headBytes: ROBOTS_BYTES_MAX, isMissing: isUnavailable };
  const { outcome } = await download({ ...net, progress: () => undefined }, request, path);
  await net.wait(PACE_MS, net.stop);
  if (outcome !== "saved") return () => true;
  const bytes = await readFile(path);
  await rm(path);
  // The last line may be cut, too: "Disallow: /" of "Disallow: /search".
  const end = bytes.length < ROBOTS_BYTES_MAX ? bytes.length : Math.max(bytes.lastIndexOf("\n"), bytes.lastIndexOf("\r")) + 1;
  const text = bytes.toString("utf8", 0, end);
  const { default: parse } = await import("robots-parser");
  const rules = parse(url.href, text);
  return ({ href }) => rules.isAllowed(href, AGENT) !== false;
}

function isUnavailable(response: Response): boolean {
  const { status } = response;
  const isPage = status === 200 && mediaType(response).includes("html");
  return isPage || (status >= 400 && status < 500 && status !== 408 && status !== 425 && status !== 429);
}
