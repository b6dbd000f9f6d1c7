/** The head of every response of the pages: HEAD as GET, compression, and what robots read. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { pageFiles } from "../../src/browse/response.tsx";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { dropScratch } from "../support/imports.ts";
import { sendRaw } from "../support/raw.ts";

setDefaultTimeout(300_000);

let site: BrowsedSite;
let paths: string[];

beforeAll(async () => {
  site = await browsed(await aDirectoryOfTheDemo());
  const [, page = ""] = /href="(\/opportunities\/[0-9a-f-]+)"/.exec(await (await fetch(`${site.origin}/?words=a`)).text()) ?? [];
  paths = [
    ...["/", "/?words=quantum", "/changes", "/deadlines", "/sources", "/sources/quality", "/sources/months", "/subscribe?words=a", page],
    ...["/find.json", "/find.csv?words=a", "/find.ics", "/changes.json", "/changes.csv", "/changes.atom", "/events.json?limit=5"],
    ...["/find.openapi.json", "/robots.txt", "/none", "/find.json?colour=red", "/?page=2&page=3", ...pageFiles.map(({ path }) => path)],
  ];
});
afterAll(async () => {
  await site.stop();
  expect(site.failures).toEqual([]);
  dropScratch();
});

/** Status and head of a response as it is sent, without what differs each time. */
async function headOf(method: string, path: string, more: readonly string[]): Promise<unknown> {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", "Connection: close", ...more];
  const response = await sendRaw(Number(new URL(site.origin).port), lines);
  const { date, etag, link, connection, ...head } = Object.fromEntries(response?.headers ?? []);
  expect([path, date]).toEqual([path, expect.stringMatching(/GMT$/)]);
  return { path, status: response?.status, ...head };
}

test.each([[[]], [["Accept-Encoding: gzip"]]])("HEAD of every path has the head of GET, its length and a date (%j)", async (more) => {
  for (const path of paths) expect(await headOf("HEAD", path, more)).toEqual(await headOf("GET", path, more));
});

describe("compression", () => {
  test("every response says what it depends on, and a long one is sent as the client prefers", async () => {
    for (const path of paths) {
      const plain = await fetch(site.origin + path, { headers: { "accept-encoding": "identity" } });
      const coded = await fetch(site.origin + path, { headers: { "accept-encoding": "gzip" }, decompress: false });
      const body = Buffer.from(await plain.arrayBuffer());
      expect([path, plain.headers.get("vary"), coded.headers.get("vary")]).toEqual([path, "Accept-Encoding", "Accept-Encoding"]);
      expect([path, coded.headers.get("content-encoding")]).toEqual([path, body.length > 1024 ? "gzip" : null]);
      if (body.length > 1024 && !/^\/(find|changes|events|sources|deadlines|\?|$)/.test(path))
        expect(gunzipSync(await coded.arrayBuffer()).toString()).toBe(body.toString());
    }
  });

  test("a client that has a page gets 304, whatever its coding", async () => {
    const { headers } = await fetch(`${site.origin}/find.csv`, { headers: { "accept-encoding": "gzip" } });
    const known = { "if-none-match": headers.get("etag") ?? "", "accept-encoding": "zstd" };
    expect((await fetch(`${site.origin}/find.csv`, { headers: known })).status).toBe(304);
  });
});

test("search engines read pages and no searches, and each page has a description for them", async () => {
  const robots = await fetch(`${site.origin}/robots.txt`);
  expect([robots.headers.get("content-type"), await robots.text()]).toEqual([
    "text/plain; charset=utf-8",
    expect.stringContaining("Disallow: /*?\n"),
  ]);
  expect(await (await fetch(site.origin)).text()).toMatch(/<meta name="description" content="[^"]{50,160}"\/>/);
});

test("the address of a feed in itself is a URI, whatever the client sent", async () => {
  const line = "GET /changes.atom?words={quantum}&since=all HTTP/1.1";
  const response = await sendRaw(Number(new URL(site.origin).port), [line, "Host: 127.0.0.1", "Connection: close"]);
  expect(await response?.text()).toContain('/changes.atom?words=%7Bquantum%7D&amp;since=all"/>');
});
