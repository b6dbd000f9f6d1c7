/** The searches for other programs: what they contain, how they are paged, refused and described. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import ICAL from "ical.js";
import { XmlDocument } from "libxml2-wasm";
import { openCatalog } from "../../db/sqlite/open.ts";
import { eventsOutput } from "../../src/browse/events-output.ts";
import { fieldNames } from "../../src/filter/filter.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectoryOfTheDemo, SAMPLE_NOW } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

setDefaultTimeout(300_000);

let site: BrowsedSite;

beforeAll(async () => {
  site = await browsed(await aDirectoryOfTheDemo());
});
afterAll(async () => {
  await site.stop();
  expect(site.failures).toEqual([]);
  dropScratch();
});

const get = (path: string, init: RequestInit = {}) => fetch(site.origin + path, { redirect: "manual", ...init });
const text = async (path: string) => (await get(path)).text();
// biome-ignore lint/suspicious/noExplicitAny: JSON of another program.
const json = async (path: string): Promise<any> => (await get(path)).json();
const run = async (...args: string[]) => (await fundfeed([...args, "--data", site.data], {}, () => SAMPLE_NOW)).out;

describe("a page of long opportunities", () => {
  let long: BrowsedSite;
  beforeAll(async () => {
    const data = aDirectory();
    const db = openCatalog(data, SAMPLE_NOW);
    const records = Array.from({ length: 4 }, (_, n) =>
      anOpportunity({ title: `Sail ${n}`, description: "word ".repeat(300_000), source: { code: "OWN", opportunity_id: `${n}` } }),
    );
    await storeRecords(db, records, SAMPLE_NOW - 1000);
    await db.close();
    long = await browsed(data);
  });
  afterAll(() => long.stop());

  test.each(["json?words=sail", "json?sort=closes", "csv?sort=posted&limit=5"])(
    "/find.%s ends with the one that reaches 4 MiB, and the next page goes on after it",
    async (output) => {
      const titles: string[] = [];
      const sizes: number[] = [];
      for (let next: string | undefined = `/find.${output}`; next !== undefined; ) {
        const response: Response = await fetch(new URL(next, long.origin));
        const found = [...(await response.text()).matchAll(/\bSail \d/g)].map(([title]) => title);
        titles.push(...new Set(found));
        sizes.push(new Set(found).size);
        next = /<([^>]+)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
      }
      expect(sizes).toEqual([3, 1]); // Of 1.5 MB each.
      expect(titles.sort()).toEqual(Array.from({ length: 4 }, (_, n) => `Sail ${n}`));
    },
  );
});

type Described = { paths: Record<string, { get: DescribedOutput }> };
type DescribedOutput = { parameters: { name: string }[]; responses: Record<string, { content: Record<string, { schema: object }> }> };

describe("an output", () => {
  test("of results has what find prints, and of changes what changes prints", async () => {
    const { sources: _, ...found } = JSON.parse(await run("find", "research", "--source", "NSF", "--json", "--limit", "3"));
    const { next_cursor, ...served } = await json("/find.json?words=research&source=NSF&limit=3");
    expect({ ...served, next_cursor: found.next_cursor }).toEqual(found);
    expect(await text("/find.csv?words=research&source=NSF&limit=3")).toBe(
      await run("find", "research", "--source", "NSF", "--format", "csv", "--limit", "3"),
    );
    const changes = JSON.parse(await run("changes", "--since", "364d", "--source", "NSF", "--json"));
    const servedChanges = await json("/changes.json?since=364d&source=NSF&limit=1000");
    expect(servedChanges.data.map(({ id }: { id: string }) => id).sort()).toEqual(changes.data.map(({ id }: { id: string }) => id).sort());
    expect(servedChanges.data.length).toBeGreaterThan(10);
  });

  test.each(["/find.json?words=research&limit=7", "/find.json?sort=closes&limit=100", "/changes.json?since=364d&limit=100"])(
    "%s leads through all pages, each row once",
    async (first) => {
      const all = await json(first.replace(/limit=\d+/, "limit=1000"));
      expect(all.data.length).toBeGreaterThan(10);
      const ids: string[] = [];
      for (let next: string | undefined = first; next !== undefined; ) {
        const response = await get(next);
        const page = (await response.json()) as typeof all;
        ids.push(...page.data.map(({ id }: { id: string }) => id));
        const [, link] = /^<(\/[^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
        expect(link === undefined).toBe(page.next_cursor === null);
        next = link;
      }
      expect(ids).toEqual(all.data.map(({ id }: { id: string }) => id));
    },
  );

  test("as CSV is paged by the same links", async () => {
    const response = await get("/find.csv?words=research&limit=5");
    const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "") ?? [];
    const [header, ...rows] = (await response.text()).split("\r\n");
    const [nextHeader, ...nextRows] = (await text(next)).split("\r\n");
    expect(nextHeader).toBe(header ?? "");
    expect(rows).not.toContain(nextRows[0] ?? "");
  });

  test("is 304 for whom knows it, and not for whom knows another one", async () => {
    const paths = ["/find.json?words=research&limit=2", "/find.csv", "/find.ics", "/changes.json", "/changes.csv", "/changes.atom"];
    for (const path of [...paths, "/find.openapi.json"]) {
      const etag = (await get(path)).headers.get("etag") ?? "";
      const again = await get(path, { headers: { "If-None-Match": etag } });
      expect([path, again.status, await again.text(), again.headers.get("etag")]).toEqual([path, 304, "", etag]);
      expect((await get(path, { headers: { "If-None-Match": 'W/"other"' } })).status).toBe(200);
    }
    expect((await get("/find.ics?source=NSF")).headers.get("etag")).not.toBe((await get("/find.ics")).headers.get("etag"));
  });

  test("takes blanks around the items of a list", async () => {
    const changes = (type: string) => json(`/changes.json?since=364d&limit=5&type=${type}`);
    expect((await changes("date_changed,%20funding_changed")).data).toEqual((await changes("date_changed,funding_changed")).data);
  });

  test("are refused to pages of other sites that embed them", async () => {
    const embedded = { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" };
    expect((await get("/find.ics", { headers: embedded })).status).toBe(403);
  });

  test.each([
    ["/find.json?limit=0", "limit", "It must be a whole number from 1 to 1000."],
    ["/find.csv?limit=1001", "limit", "It must be a whole number from 1 to 1000."],
    ["/find.json?status=opne", "status", expect.stringContaining('did you mean "open"')],
    ["/find.json?source=NOWHERE", "source", expect.stringContaining("No source has this code.")],
    ["/find.json?min_amount=500&min_amount=600", "min_amount", "It takes one value, and must be given once."],
    ["/find.json?limit=5&limit=6", "limit", "It takes one value, and must be given once."],
    ["/find.json?as_of=2026-03-01", "", "Lists are as of now: as_of is for the page of one opportunity; see /help/past."],
    ["/find.ics?sort=posted", "", 'There is no filter "sort".'],
    ["/find.json?wrods=x", "", 'There is no filter "wrods" (did you mean "words"?).'],
    ["/changes.json?until=2026-02-30", "until", expect.stringContaining("It must be a time ago such as 7d or 12h, ")],
    ["/changes.atom?after=x", "", 'There is no filter "after".'],
    ["/find.json?after=x", "after", "It must be a cursor that a search returned."],
    ["/changes.json?after=x", "after", "It must be a cursor that a search returned."],
  ])("%s is refused with a problem that names what is wrong", async (path, field, reason) => {
    const response = await get(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([400, "application/problem+json"]);
    expect(await response.json()).toMatchObject({ status: 400, errors: [{ field, reason }] });
  });

  test("as calendar leads to the pages", async () => {
    const events = new ICAL.Component(ICAL.parse(await text("/find.ics"))).getAllSubcomponents("vevent");
    expect(events.length).toBeGreaterThan(20);
    const address = `${events[0]?.getFirstPropertyValue("url")}`;
    expect(address).toStartWith(`${site.origin}/opportunities/`);
    expect((await fetch(address)).status).toBe(200);
  });

  test("as Atom says where it is, and is another feed for another search", async () => {
    const idOf = (feed: string) => XmlDocument.fromString(feed).get("/a:feed/a:id", { a: "http://www.w3.org/2005/Atom" })?.content;
    const [one, other] = [await text("/changes.atom?since=364d&source=NSF"), await text("/changes.atom?since=364d&source=DSIP")];
    expect(one).toContain(`<link rel="self" type="application/atom+xml" href="${site.origin}/changes.atom?since=364d&amp;source=NSF"/>`);
    expect(idOf(one)).not.toBe(idOf(other) as string);
  });
});

describe("the description", () => {
  test("is valid OpenAPI", async () => {
    const { valid, errors } = await new Validator().validate(await json("/find.openapi.json"));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  test("has every parameter that is read, and nothing else", async () => {
    const { paths }: Described = await json("/find.openapi.json");
    for (const [path, { get: operation }] of Object.entries(paths)) {
      const names = operation.parameters.map(({ name }) => name);
      if (path === eventsOutput.path) expect(names).toEqual(["opportunity", "after", "limit"]);
      else expect(names).toEqual(expect.arrayContaining([...fieldNames, "all_sources"]));
      for (const name of ["sort", "after", "limit", "since", "until", "type", "at_least"]) {
        const { errors = [] } = await json(`${path}?${name}=%20x`).catch(() => ({}));
        const isUnknown = errors.some(({ reason }: { reason: string }) => /^There is no (filter|parameter)/.test(reason));
        expect([path, name, isUnknown]).toEqual([path, name, !names.includes(name)]);
      }
    }
  });

  test("describes the JSON that is served", async () => {
    const { paths }: Described = await json("/find.openapi.json");
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    for (const [path, query] of [
      ["/find.json", "?words=quantum+sensing&limit=20"],
      ["/find.json", "?sort=closes&limit=500"],
      ["/find.json", "?words=nosuchwordatall&status=open"],
      ["/changes.json", "?since=364d&limit=1000"],
      ["/events.json", "?limit=1000"],
    ] as const) {
      const schema = paths[path]?.get.responses[200]?.content["application/json"]?.schema ?? {};
      const validate = ajv.compile(schema);
      validate(await json(path + query));
      expect(validate.errors).toBeNull();
    }
    const validate = ajv.compile(paths["/find.json"]?.get.responses[400]?.content["application/problem+json"]?.schema ?? {});
    validate(await json("/find.json?limit=0"));
    expect(validate.errors).toBeNull();
  });
});

describe("a page", () => {
  const hrefs = (page: string) => [...page.matchAll(/href="([^"]+)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));

  test.each([
    ["/?words=quantum&status=open,closing_soon&sort=closes&all_sources=yes", "find"],
    ["/deadlines?words=research&source=NSF", "find"],
    ["/changes?source=NSF&since=364d&at_least=material", "changes"],
  ])("%s leads to its search in each form, and names the command that watches it", async (path, of) => {
    const page = await text(path);
    const found = hrefs(page).filter((href) => /^\/\w+\.(csv|json|ics|atom)\b/.test(href));
    expect(found.map((href) => href.replace(/\?.*/, ""))).toEqual([`/${of}.csv`, `/${of}.json`, "/find.ics", "/changes.atom"]);
    for (const href of found) expect([href, (await get(href)).status]).toEqual([href, 200]);
  });

  test("names a command that a shell passes on as it is", async () => {
    const words = `it's "a phrase" $HOME -optical`;
    const page = await text(`/?words=${encodeURIComponent(words)}&agency=NSF&all_sources=yes`);
    const [, shown = ""] = /<code>(fundfeed watch add [^<]+)<\/code>/.exec(page) ?? [];
    const command = shown.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
    const shell = Bun.spawn(["sh", "-c", command.replace(/^fundfeed/, "printf '%s\\n'")]);
    const args = (await shell.stdout.text()).trimEnd().split("\n");
    expect(args).toEqual([
      "watch",
      "add",
      "it-s-a-phrase-home-optical",
      "--words",
      words,
      "--agency",
      "NSF",
      "--all-sources",
      "--to",
      "stdout",
    ]);
    const { code, out, err } = await fundfeed([...args, "--data", site.data], {}, () => SAMPLE_NOW);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Added watch it-s-a-phrase-home-optical");
  });
});
