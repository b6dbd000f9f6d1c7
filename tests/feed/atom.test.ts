/** The Atom feed, checked with the grammar of RFC 4287 by libxml2. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RelaxNGValidator, XmlDocument } from "libxml2-wasm";
import { openCatalog } from "../../db/sqlite/open.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { copyCatalog } from "../support/engines.ts";
import { takeGrantsGovDates } from "../support/grants-gov-dates.ts";
import { aCatalog, aDirectory, DAY, dropScratch, NOON, SECOND } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const grammar = RelaxNGValidator.fromDoc(XmlDocument.fromString(readFileSync(join(import.meta.dir, "../data/atom/atom.rng"), "utf8")));
const ATOM = { a: "http://www.w3.org/2005/Atom" };

/** Throws if the document is not Atom. Also checks what the grammar cannot say: RFC 4287, sections 4.1.1, 4.1.2 and 4.2.6. */
function parsed(text: string) {
  const document = XmlDocument.fromString(text);
  grammar.validate(document);
  const all = (path: string) => document.find(path, ATOM).map((node) => node.content);
  const [entries, ids] = [all("//a:entry"), all("//a:id")];
  expect(all("/a:feed/a:author/a:name")).toEqual(["fundfeed"]);
  expect(all("//a:entry[not(a:content)]")).toEqual([]);
  expect(new Set(ids).size).toBe(entries.length + 1);
  for (const id of ids) expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  for (const address of all("//a:link/@href")) expect(new URL(address).href).toBe(address);
  return { all, entries };
}

async function feedOf(directory: string, args: readonly string[] = [], now = NOON + DAY): Promise<string> {
  let out = "";
  const code = await runCommandLine(["changes", "--since", "all", "--format", "atom", ...args, "--data", directory], {
    ...machineOf({}, { printLine: () => undefined, printError: () => undefined }),
    printText: (text) => {
      out += text;
    },
    now: () => now,
  });
  expect(code).toBe(0);
  return out;
}

test("the grammar refuses what is not Atom", () => {
  const feed = (inner: string) => () =>
    grammar.validate(XmlDocument.fromString(`<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>${inner}</feed>`));
  const whole = "<id>urn:x</id><updated>2026-03-01T12:00:00Z</updated>";
  expect(feed(whole)).not.toThrow();
  expect(feed("<id>urn:x</id>")).toThrow();
  expect(feed("<id>urn:x</id><updated>today</updated>")).toThrow();
  expect(feed(`${whole}<entry>${whole}</entry>`)).toThrow();
  expect(feed(`${whole}<title>Twice</title>`)).toThrow();
});

describe("the feed", () => {
  test("of a real history is valid", async () => {
    const directory = aDirectory();
    const db = openCatalog(directory, NOON);
    await takeGrantsGovDates(db);
    await db.close();
    const { all, entries } = parsed(await feedOf(directory, ["--limit", "100000", "--feed-url", "https://example.org/feed.xml"]));
    expect(entries.length).toBeGreaterThan(200);
    expect(all('/a:feed/a:link[@rel="self"]/@href')).toEqual(["https://example.org/feed.xml"]);
  });

  test("in a file says where it is published, or a reminder is printed", async () => {
    const [data, file] = [aDirectory(), join(aDirectory(), "feed.xml")];
    await openCatalog(data, NOON).close();
    const write = (...args: string[]) => fundfeed(["changes", "--format", "atom", "-o", file, ...args, "--data", data]);
    const reminder = `${file} does not say where it is published, which feeds should; --feed-url adds that\n`;
    expect(await write()).toEqual({ code: 0, out: "", err: reminder });
    expect(parsed(readFileSync(file, "utf8")).all("/a:feed/a:link")).toEqual([]);
    expect(await write("--feed-url", "https://example.org/feed.xml")).toEqual({ code: 0, out: "", err: "" });
    expect(parsed(readFileSync(file, "utf8")).all('/a:feed/a:link[@rel="self"]/@href')).toEqual(["https://example.org/feed.xml"]);
    expect((await fundfeed(["changes", "--format", "atom", "--data", data])).err).toBe("");
  });

  test("shows hostile text as text", async () => {
    const directory = aDirectory();
    const db = openCatalog(directory, NOON);
    const { take, clock } = await aCatalog(db);
    const titles = [
      '</title><script>alert("&amp;")</script>',
      "]]> <![CDATA[ <!-- --> <?xml ?> &nosuch; &#0;",
      "a\u0001b\u001b[31m\u007f\u0085\u202eevil\u2066\u2028\ufffe\uffff",
      "tab\tand \u00e9 \ud83d\ude80 'quotes' \"double\"",
    ];
    const urls = ["javascript:alert(1)", "https://example.org/?a=1&b=<2>\"'", "not an address", "https://example.org/\u202e x"];
    const records = titles.map((title, n) => ({ source: { code: "OWN", opportunity_id: `${n}`, url: urls[n] }, title }));
    expect(await take(records)).toMatchObject({ added: titles.length });
    clock.now += SECOND;
    await take(records.map((record) => ({ ...record, title: `${record.title} again`, organization: { agency: record.title } })));
    await db.close();
    const { all, entries } = parsed(await feedOf(directory, ["--at-least", "noise"]));
    expect(entries.length).toBeGreaterThanOrEqual(2 * titles.length);
    const shown = all("//a:entry/a:title").join("\n");
    expect(shown).toContain(`${titles[0]} again`);
    expect(shown).toContain("]]> <![CDATA[ <!-- --> <?xml ?> &nosuch; &#0;");
    expect(shown).toContain("a\\u0001b\\u001b[31m\\u007f\\u0085\\u202eevil\\u2066\\u2028\ufffd\ufffd");
    expect(shown).toContain(titles[3] ?? "");
    for (const content of all("//a:entry/a:content")) expect(content).not.toMatch(/<script|<!|javascript:/);
    expect(all('//a:entry/a:link[@rel="alternate"]/@href').every((address) => address.startsWith("https://example.org/"))).toBe(true);
  });

  test("is the same for the same data, on any day, in any copy, and has the same id tomorrow", async () => {
    const [directory, other] = [aDirectory(), aDirectory()];
    const db = openCatalog(directory, NOON);
    const { take, clock } = await aCatalog(db);
    expect(parsed(await feedOf(directory)).entries).toEqual([]);
    await take([{ source: { code: "OWN", opportunity_id: "1" }, title: "One", dates: { closes_at: "2026-04-01T17:00:00-04:00" } }]);
    const copy = openCatalog(other, NOON);
    await copyCatalog(db, copy);
    await copy.close();
    const feed = await feedOf(directory);
    expect(await feedOf(directory, [], NOON + 3 * DAY)).toBe(feed);
    expect(await feedOf(other)).toBe(feed);
    clock.now += SECOND;
    await take([{ source: { code: "OWN", opportunity_id: "1" }, title: "One", dates: { closes_at: "2026-05-01T17:00:00-04:00" } }]);
    await db.close();
    const [before, after] = [parsed(feed), parsed(await feedOf(directory))];
    expect(after.all("/a:feed/a:id")).toEqual(before.all("/a:feed/a:id"));
    expect(after.all("//a:entry/a:id").slice(1)).toEqual(before.all("//a:entry/a:id"));
    expect(after.all("//a:entry/a:title")[0]).toBe("Deadline moved from Apr 1 to May 1, 2026 (30 days later): One");
    expect(after.all("/a:feed/a:updated")).toEqual(["2026-03-01T12:00:01.000Z"]);
    const filtered = parsed(await feedOf(directory, ["--at-least", "critical"]));
    expect(filtered.all("/a:feed/a:id")).not.toEqual(before.all("/a:feed/a:id"));
  });
});
