/** The page of an opportunity as of an earlier moment says which one, and what is not known. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { type BrowsedSite, browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { SAMPLE_NOW } from "../support/demo-data.ts";
import { aCatalog, aDirectory, DAY, dropScratch } from "../support/imports.ts";

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
  expect(html).toMatch(/<p class="past-note" role="note">As it was on .*its contacts were erased on .*, and are not known/);
  expect(html).toContain(`<a href="/opportunities/${id}">Show it as it is now</a>`);
  expect(html).not.toContain("Ann");
  expect(html).toMatch(new RegExp(`<a href="/opportunities/[^"?]*\\?as_of=${dayOf(50)}">`));
  expect(html).toContain(`<a href="/?source=GRANTS_GOV">`);
  const now = await (await get(`/opportunities/${id}`)).text();
  expect(now).toContain(">Title 59</h1>");
  expect(now).not.toContain('class="past-note"');
});

test("has the whole history until then, page by page", async () => {
  const seen: string[] = [];
  let path: string | undefined = `/opportunities/${id}?as_of=${dayOf(32)}`;
  while (path !== undefined) {
    const html = await (await get(path)).text();
    expect(html).toContain('class="past-note"');
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
    ["2099-01-01", 400, "must be in the past"],
    ["<script>", 400, "must be a time ago such as 7d"],
    [dayOf(100), 404, "it was first stored on"],
  ] as const) {
    const response = await get(`/opportunities/${id}?as_of=${encodeURIComponent(text)}`);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(said)]);
  }
});

test("a time ago leads to the address of its instant, so that all links mean the same", async () => {
  const { status, headers } = await get(`/opportunities/${id}?as_of=-7d`);
  expect([status, headers.get("location")]).toEqual([303, `/opportunities/${id}?as_of=${formatInstant(ago(7))}`]);
});

test("a list is only of now, and says where the past is", async () => {
  for (const path of ["/?", "/deadlines?", "/changes?", "/?words=title&"]) {
    const response = await get(`${path}as_of=${dayOf(50)}`);
    const said = "Lists are as of now: as_of is for the page of one opportunity; see /help/past.";
    expect([path, response.status, await response.text()]).toEqual([path, 400, expect.stringContaining(said)]);
  }
});
