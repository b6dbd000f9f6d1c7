/** The pages in a real browser, Debian's Chromium, with and without JavaScript. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type BrowsedSite, browsed, storeVersions } from "../support/browse.ts";
import { hasChromium, launchChromium, newPage, overflowOf, scriptsOf } from "../support/chromium.ts";
import { aDirectoryOfTheDemo } from "../support/demo-data.ts";
import { dropScratch } from "../support/imports.ts";

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** An opportunity of the sample whose deadline and award changed. */
const LEGACY = "aad1016c-ae30-50c9-9f21-d86453bfc046";
const pages = [
  "/",
  "/?words=research&status=open,closing_soon,closed&min_amount=1000&sort=posted",
  "/?naics=x&closes_before=soon",
  "/?words=xyzzyx",
  `/opportunities/${LEGACY}`,
  "/changes?since=364d",
  "/changes?since=2026-05-05&until=2026-08-03&at_least=material&type=date_changed&agency=science",
  "/changes?since=1y&type=x&naics=x",
  "/deadlines",
  "/deadlines?from=1999-01-01",
  "/?sort=updated",
  "/sources",
  "/sources/quality",
  "/sources/months?month=2026-07",
  "/nowhere",
];

const MEGABYTE = "x".repeat(1_000_000);
const SCRIPT = `"><script>document.title = "hacked"</script><img src="https://example.com/x.png" onerror="document.title='hacked'">`;

describe.skipIf(!hasChromium("the tests of browse in a browser"))("the pages in a browser", () => {
  let browser: Browser;
  let site: BrowsedSite;
  /** Of all tests, with the errors that it logs and the requests that it sends to other hosts. */
  let page: Page;
  const [errors, foreign]: [string[], string[]] = [[], []];
  let setScripts: (isOn: boolean) => Promise<unknown>;
  let [hostile, huge]: string[] = [];
  let untouched: Map<string, string>;

  beforeAll(async () => {
    const data = await aDirectoryOfTheDemo();
    [hostile, huge] = await storeVersions(data, [
      [
        { source: { code: "OWN", opportunity_id: "1" }, title: `A ${SCRIPT}` },
        {
          source: { code: "OWN", opportunity_id: "1", url: "javascript:document.title='hacked'" },
          title: `B ${SCRIPT}\u202e`,
          description: SCRIPT,
        },
      ],
      [
        { source: { code: "OWN", opportunity_id: "2" }, title: MEGABYTE, description: MEGABYTE },
        { source: { code: "OWN", opportunity_id: "2" }, title: `${MEGABYTE}y`, description: `${MEGABYTE}y` },
      ],
    ]);
    site = await browsed(data);
    untouched = hashesOf(data);
    browser = await launchChromium();
    page = await newPage(browser);
    setScripts = await scriptsOf(page);
    const isExpected = /the server responded with a status of (400|404)/; // A wrong address is no error of the page.
    page.on("console", (message) => isExpected.test(message.text()) || errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("requestfailed", (request) => request.failure()?.errorText === "net::ERR_ABORTED" || errors.push(request.url())); // The next page was opened.
    page.on("request", (request) => request.url().startsWith(site.origin) || foreign.push(request.url()));
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    dropScratch();
  });

  test("log no error and load nothing from other hosts", async () => {
    await setScripts(true);
    for (const path of pages) await page.goto(site.origin + path);
    expect([errors, foreign]).toEqual([[], []]);
  }, 300_000);

  test("stay whole with a megabyte of one word, on a phone", async () => {
    await setScripts(false);
    await page.setViewportSize(sizes.phone);
    for (const path of [`/opportunities/${huge}`, "/?source=OTHER"]) {
      await page.goto(site.origin + path);
      expect([path.slice(0, 20), await overflowOf(page)]).toEqual([path.slice(0, 20), 0]);
      expect((await page.content()).length).toBeLessThan(400_000);
    }
    expect(errors).toEqual([]);
  }, 300_000);

  test("run no script of an upstream, and load nothing that it names", async () => {
    await setScripts(true);
    for (const path of [
      `/opportunities/${hostile}`,
      "/?source=OTHER",
      `/?words=${encodeURIComponent(SCRIPT)}`,
      `/?${encodeURIComponent(SCRIPT)}=1`,
    ]) {
      await page.goto(site.origin + path);
      expect(await page.title()).toEndWith("· fundfeed");
      expect(await page.locator('script, img[onerror], a[href^="javascript"]').count()).toBe(0);
    }
    expect(foreign).toEqual([]);
  }, 300_000);

  test("work by keyboard alone: skip to the content, search, filter, open a result", async () => {
    await setScripts(false);
    await page.setViewportSize(sizes.desktop);
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.goto(site.origin);
    await press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    await press("Enter", "Tab");
    await page.keyboard.type("research");
    await Promise.all([page.waitForURL(/words=research/), press("Enter")]);

    await page.getByText("Filters", { exact: true }).focus();
    await press("Enter", "Tab", "Tab", "Tab", "Space"); // Opens the filters; forecast, pre-release, open.
    await Promise.all([page.waitForURL(/status=open(&|$)/), press("Enter")]);
    expect(page.url()).toBe(`${site.origin}/?words=research&status=open`);
    expect(await page.locator(".active a").first().textContent()).toStartWith("status open");

    const link = page.locator(".result a").first();
    await link.focus();
    await Promise.all([page.waitForURL(/\/opportunities\//), press("Enter")]);
    expect(await page.getByRole("heading", { name: "History" }).count()).toBe(1);
  }, 300_000);

  test("show what changed word by word, with the same words for those who see no color", async () => {
    await setScripts(false);
    await page.setViewportSize(sizes.desktop);
    await page.goto(`${site.origin}/opportunities/${LEGACY}`);
    const entry = page.locator(".entry", { hasText: "Funding changed" }).first();
    expect(await entry.locator("del").first().textContent()).toBe("$30,000,000");
    expect(await entry.locator("ins").first().textContent()).toBe("$100,000,000");
    expect(await page.evaluate("getComputedStyle(document.querySelector('.entry del')).textDecorationLine")).toBe("line-through");
    expect(await entry.locator(".severity").textContent()).toBe("material");
    expect(await page.getByRole("link", { name: "Open at www.grants.gov" }).getAttribute("href")).toStartWith("https://www.grants.gov/");
  }, 300_000);

  test("show what changed as bars, and the same numbers as a table by keyboard", async () => {
    await setScripts(false);
    await page.setViewportSize(sizes.desktop);
    await page.goto(`${site.origin}/changes?since=2026-07-04&until=2026-08-04`);
    expect(await page.getByRole("img", { name: /^\d+ changes by day .* Most: \d+, Jul 26, 2026\./ }).count()).toBe(1);
    await page.getByText("The numbers as a table").focus();
    await page.keyboard.press("Enter");
    const row = page.getByRole("row", { name: /^Jul 26, 2026/ });
    const [critical = 0, material = 0, informational = 0, all] = (await row.getByRole("cell").allTextContents()).map(Number);
    expect(critical + material + informational).toBe(all ?? 0);
    expect(await page.locator("rect[fill^='url(#fill-critical)']").count()).toBeGreaterThan(0);
  }, 300_000);

  test("changed no byte of the data", () => {
    expect(hashesOf(site.data)).toEqual(untouched);
    expect(site.failures).toEqual([]);
  });
});

async function focused(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement?.textContent");
}

/** SHA-256 of each file of a data directory. */
function hashesOf(data: string): Map<string, string> {
  const names = readdirSync(data).filter((name) => !name.endsWith("-shm"));
  return new Map(names.map((name) => [name, Bun.CryptoHasher.hash("sha256", readFileSync(join(data, name)), "hex")]));
}
