/**
 * Every page and mail of the pictures: valid HTML, nothing that axe finds, a focus that is seen, nothing but content on paper, and no need of a
 * script.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { HtmlValidate } from "html-validate/node";
import type { Browser, Page } from "playwright-core";
import { AXE, DROP_ROWS, findingsOf } from "../support/axe.ts";
import { hasChromium, launchChromium, newPage, overflowOf } from "../support/chromium.ts";
import { onPostgres } from "../support/database-locations.ts";
import { dropScratch } from "../support/imports.ts";
import { allPictured, fileOfPages, PICTURED_ORIGIN, type Pictured } from "../support/pictured.ts";

setDefaultTimeout(300_000);

let all: readonly Pictured[];
let pages: readonly Pictured[];
beforeAll(async () => {
  all = await allPictured();
  pages = all.filter(({ kind }) => kind === "page");
});
afterAll(dropScratch);

test("every page is valid HTML", async () => {
  const validator = new HtmlValidate({
    root: true,
    extends: ["html-validate:standard", "html-validate:a11y"],
    rules: { "no-inline-style": "error", "form-dup-name": ["error", { shared: ["checkbox", "button", "submit"] }] },
  });
  const found: string[] = [];
  for (const { name, html } of pages) {
    const { results } = await validator.validateString(html);
    found.push(...results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${name}: ${ruleId}: ${message}`)));
  }
  expect(found).toEqual([]);
});

// On PostgreSQL they are the same.
describe.skipIf(onPostgres || !hasChromium("the tests of every page in a browser"))("in a browser", () => {
  let browser: Browser;
  let page: Page;
  let current: Pictured | undefined;
  const open = async (pictured: Pictured) => {
    current = pictured;
    await page.goto(`${PICTURED_ORIGIN}/${pictured.name}`);
  };

  beforeAll(async () => {
    browser = await launchChromium();
    page = await newPage(browser);
    await page.route("**/*", (route) => {
      const file = fileOfPages(new URL(route.request().url()).pathname);
      return route.fulfill({ contentType: file?.contentType ?? "text/html; charset=utf-8", body: file?.text ?? current?.html ?? "" });
    });
  });
  afterAll(() => browser?.close());

  // Each width and each color scheme once: what axe finds in colors does not depend on the width.
  test.each([
    ["a light desktop", 1280, "light"],
    ["a dark phone", 390, "dark"],
  ] as const)("axe finds nothing on %s, and nothing is wider than the screen", async (_, width, colorScheme) => {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme, media: "screen" });
    const found: string[] = [];
    for (const pictured of all.filter(({ kind }) => kind !== "text")) {
      await open(pictured);
      const wider = await overflowOf(page);
      if (wider !== 0) found.push(`${pictured.name} is ${wider} px wider than the screen`);
      await page.evaluate(DROP_ROWS);
      await page.evaluate(AXE);
      // The size of a target is a rule that axe has off.
      for (const each of await findingsOf(page, { rules: { "target-size": { enabled: true } } })) found.push(`${pictured.name}: ${each}`);
    }
    expect(found).toEqual([]);
  });

  test("the focus is seen wherever it can be", async () => {
    await page.setViewportSize({ width: 1280, height: 844 });
    const found: string[] = [];
    for (const pictured of pages) {
      await open(pictured);
      await page.evaluate(DROP_ROWS);
      await page.keyboard.press("Tab"); // What is focused from now on, is so by keyboard.
      for (const each of await page.evaluate<string[]>(UNSEEN_FOCUS)) found.push(`${pictured.name}: ${each}`);
    }
    expect([...new Set(found)]).toEqual([]);
  });

  test("paper has the content without navigation, forms and buttons", async () => {
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    const found: string[] = [];
    for (const pictured of pages) {
      await open(pictured);
      for (const each of await page.evaluate<string[]>(ON_PAPER)) found.push(`${pictured.name}: ${each}`);
    }
    await page.emulateMedia({ media: "screen", colorScheme: "light" });
    expect(found).toEqual([]);
  });

  test("no page has a script, but for the buttons that copy, which are hidden without it", async () => {
    for (const { name, html } of all) {
      const copies = name.startsWith("subscribe");
      expect([name, html.match(/<script/g)?.length ?? 0]).toEqual([name, copies ? 1 : 0]);
      expect([name, / on\w+=|javascript:/.test(html)]).toEqual([name, false]);
      for (const [button] of html.matchAll(/<button[^>]*data-copies[^>]*>/g)) expect(button).toContain(" hidden");
    }
  });
});

/** What has the focus without an outline. */
const UNSEEN_FOCUS = `
  [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary")].filter((element) => {
    element.focus();
    if (document.activeElement !== element) return false;
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle === "none" || parseFloat(outlineWidth) < 2;
  }).map((element) => element.outerHTML.slice(0, 100))
`;

/** What nobody can use on paper, and a ground that is not white. */
const ON_PAPER = `
  [
    ...[...document.querySelectorAll("nav, form, button, .button, input, select")].filter((element) => element.getClientRects().length > 0 && element.closest("main, header") !== null).map((element) => element.outerHTML.slice(0, 100)),
    ...(getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" ? [] : ["a dark ground"]),
    ...(document.querySelector("main h1").getClientRects().length > 0 ? [] : ["no heading"]),
  ]
`;
