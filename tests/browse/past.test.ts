/** Pages as of an earlier moment say which one, and what is not known. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { HtmlValidate } from "html-validate/node";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createBrowseApp } from "../../src/browse/app.tsx";
import { PastNotReady } from "../../src/past/kept-past.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { SAMPLE_NOW } from "../support/demo-data.ts";
import { aCatalog, aDirectory, aFile, DAY, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);

const ago = (days: number) => SAMPLE_NOW - days * DAY;
const dayOf = (days: number) => formatInstant(ago(days)).slice(0, 10);
let site: BrowsedSite;
let id = "";

beforeAll(async () => {
  const data = aDirectory();
  const run = (days: number, ...args: string[]) => fundfeed([...args, "--data", data], {}, () => ago(days));
  const record = (n: number, title: string) => ({
    source: { code: n === 1 ? "GRANTS_GOV" : "SIMPLER_GRANTS_GOV", opportunity_id: `10000${n}` },
    title,
    program: { solicitation_id: "AB-12345" },
    contacts: [{ name: "Ann", email: "ann@example.org" }],
  });
  const { db, clock, take } = await aCatalog(openCatalog(data, ago(90)));
  for (let n = 0; n < 60; n++) {
    clock.now = ago(90 - n);
    await take([record(1, `Title ${n}`), record(2, `Title ${n}`)]);
  }
  await db.close();
  await run(5, "redact");
  id = JSON.parse((await run(0, "show", "100001", "--json")).out).id;
  site = await browsed(data);
});
afterAll(async () => {
  await site.stop();
  expect(site.failures).toEqual([]);
  dropScratch();
});

const get = (path: string) => fetch(site.origin + path, { redirect: "manual" });

test("shows what it said, leads to the present page, and its links stay in the past", async () => {
  const response = await get(`/opportunities/${id}?as_of=${dayOf(50)}`);
  const html = await response.text();
  expect(response.status).toBe(200);
  expect(html).toContain(">Title 39</h1>");
  expect(html).not.toContain("Title 41");
  expect(html).toMatch(/<p class="past" role="note">As it was on .*its contacts were erased on .*, and are not known/);
  expect(html).toContain(`<a href="/opportunities/${id}">Show it as it is now</a>`);
  expect(html).not.toContain("Ann");
  expect(html).toContain(`<a href="/?source=GRANTS_GOV&amp;as_of=${dayOf(50)}">`);
  expect(await isValid(html)).toBe(true);
  const now = await (await get(`/opportunities/${id}`)).text();
  expect(now).toContain(">Title 59</h1>");
  expect(now).not.toContain('class="past"');
});

test("has the whole history until then, page by page", async () => {
  const seen: string[] = [];
  let path: string | undefined = `/opportunities/${id}?as_of=${dayOf(32)}`;
  while (path !== undefined) {
    const html = await (await get(path)).text();
    expect(html).toContain('class="past"');
    seen.push(
      ...html
        .slice(html.indexOf('class="timeline"'))
        .matchAll(/id="([^"]*)"/g)
        .map(([, n]) => n ?? ""),
    );
    path = /href="([^"#]*)#history">Earlier changes/.exec(html)?.[1]?.replaceAll("&amp;", "&");
  }
  expect(seen.length).toBeGreaterThan(50);
  expect(new Set(seen).size).toBe(seen.length);
});

test("says what is no moment of the past, and what is not known", async () => {
  for (const [text, status, said] of [
    ["2099-01-01", 400, "is no day of the past"],
    ["<script>", 400, "is no day of the past"],
    [dayOf(100), 404, "it was first stored on"],
  ] as const) {
    const response = await get(`/opportunities/${id}?as_of=${encodeURIComponent(text)}`);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(said)]);
  }
});

const isValid = async (html: string) =>
  (await new HtmlValidate({ extends: ["html-validate:standard"], rules: { "long-title": "off" } }).validateString(html)).valid;

test("a list says of which instant it is and what is not known, and its links stay there", async () => {
  const day = dayOf(50);
  const html = await (await get(`/?words=title&sort=updated&as_of=${day}`)).text();
  expect(html).toContain(">Title 39</bdi>");
  expect(html).toContain(`href="/opportunities/${id}?as_of=${day}"`);
  expect(html).toMatch(/<p class="past" role="note">As it was on .*<a href="\/\?words=title&amp;sort=updated">Show it as it is now/);
  expect(html).toContain("The contacts of 1 record were erased since then and are not known.");
  expect(html).toContain(`<input id="as_of" name="as_of" type="date" value="${day}"`);
  for (const path of ["/", "/changes", "/deadlines", "/sources"]) expect(html).toContain(`<a href="${path}?as_of=${day}"`);
  expect(html).toContain(`href="/find.json?words=title&amp;sort=updated&amp;as_of=${day}&amp;limit=1000"`);
  expect(await isValid(html)).toBe(true);
  const now = await (await get("/?words=title&sort=updated")).text();
  expect(now).toContain(">Title 59</bdi>");
  expect(now).not.toContain("as_of=");
});

test("programs get the same, without contacts that were erased, also after the records of then were made", async () => {
  const data = aDirectory();
  const run = (days: number, ...args: string[]) => fundfeed([...args, "--data", data], {}, () => ago(days));
  const contacts = [{ name: "Ann", email: "ann@example.org" }];
  const record = (title: string) => [{ source: { code: "OWN", opportunity_id: "1" }, title, contacts }];
  await run(9, "import", "records", aFile(record("Before")));
  await run(5, "import", "records", aFile(record("After")));
  const other = await browsed(data);
  const found = async () => (await fetch(`${other.origin}/find.json?as_of=${dayOf(7)}`)).json();
  expect(await found()).toMatchObject({ data: [{ title: "Before", contacts }], as_of: expect.stringContaining(dayOf(7)) });
  await run(4, "redact");
  expect(await found()).toMatchObject({ data: [{ title: "Before", contacts: [] }], contacts_erased: 1 });
  await other.stop();
  expect(other.failures).toEqual([]);
});

test("pages that are only of now say so", async () => {
  for (const path of ["/changes", "/sources/quality", "/sources/months"]) {
    const html = await (await get(`${path}?as_of=${dayOf(50)}`)).text();
    expect(html).toMatch(/<p class="past" role="note">This page is as of now, not of /);
    expect(html).toContain(`<a href="/?as_of=${dayOf(50)}">Opportunities as they were then</a>`);
    expect(await isValid(html)).toBe(true);
  }
});

test("a list of no moment of the past, or of one that is not known, says so and asks for another day", async () => {
  for (const [text, status, said] of [
    ["2099-01-01", 400, "is no day of the past"],
    ["7d", 400, "is no day of the past"],
    [dayOf(100), 404, "nothing was stored then: the first record came on"],
  ] as const) {
    const response = await get(`/?words=title&as_of=${text}`);
    const html = await response.text();
    expect([response.status, html]).toEqual([status, expect.stringContaining(said)]);
    expect(html).toContain('<input type="hidden" name="words" value="title"');
    expect(html).toContain('<a href="/?words=title">Show it as it is now</a>');
    expect(await isValid(html)).toBe(true);
    const problem = await get(`/find.csv?as_of=${text}`);
    expect([problem.status, await problem.json()]).toMatchObject([400, { errors: [{ field: "as_of" }] }]);
  }
  expect((await get(`/find.ics?as_of=${dayOf(50)}`)).status).toBe(400);
});

test("a time ago leads to the address of its instant, so that all links mean the same", async () => {
  const { status, headers } = await get("/?words=title&as_of=-7d");
  expect([status, headers.get("location")]).toEqual([303, `/?words=title&as_of=${formatInstant(ago(7))}`]);
});

test("a page whose records are still being made loads itself again", async () => {
  const now = () => SAMPLE_NOW;
  const past = { use: () => Promise.reject(new PastNotReady("the records of then are being put together")), close: async () => undefined };
  const openToRead = async () => openCatalog(site.data, SAMPLE_NOW, { mode: "read" });
  const index = openSearchFile(site.data);
  const searchIndex = async () => index;
  const app = createBrowseApp({ openCatalog: openToRead, searchIndex, past, now, host: "127.0.0.1", onFailure: () => undefined });
  const ask = (path: string) => app.fetch(new Request(`http://127.0.0.1${path}`, { headers: { host: "127.0.0.1" } }));
  const page = await ask(`/?words=title&as_of=${dayOf(50)}`);
  expect([page.status, page.headers.get("retry-after")]).toEqual([503, "3"]);
  const html = await page.text();
  expect(html).toContain('<meta http-equiv="refresh" content="3"/>');
  expect(html).toContain("the records of then are being put together");
  const problem = await ask(`/find.json?as_of=${dayOf(50)}`);
  expect([problem.status, problem.headers.get("retry-after")]).toEqual([503, "3"]);
  expect(await problem.json()).toMatchObject({ title: "Not ready", detail: "The records of then are being put together." });
  index.close();
});
