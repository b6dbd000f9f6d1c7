/** The page in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { descriptionFiles } from "../../src/http/docs.ts";
import { type Listener, listen } from "../../src/http/listen.ts";
import { type ProblemCode, problemAnchor, problems } from "../../src/http/problem.ts";
import { testApi } from "../support/api.ts";
import { hasChromium, launchChromium, newPage, overflowOf, scriptsOf } from "../support/chromium.ts";

const widths = { desktop: { width: 1360, height: 900 }, phone: { width: 390, height: 844 } };

describe.skipIf(!hasChromium("the tests of /docs in a browser"))("/docs in a browser", () => {
  let browser: Browser;
  /** Of all tests, with the errors that it logs and the requests that it sends to other hosts. */
  let page: Page;
  const [errors, foreign]: [string[], string[]] = [[], []];
  let server: Listener;
  let origin: string;

  beforeAll(async () => {
    server = await listen({ fetch: (request) => app.fetch(request) }, { hostname: "127.0.0.1", port: 0 });
    origin = `http://127.0.0.1:${server.port}`;
    const app = await testApi({ files: descriptionFiles(`${origin}/v1`)() });
    browser = await launchChromium();
    page = await newPage(browser);
    page.on("console", (message) => /error|warning/.test(message.type()) && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("requestfailed", (request) => errors.push(request.url()));
    page.on(
      "request",
      (request) => /^(data:|about:)/.test(request.url()) || request.url().startsWith(origin) || foreign.push(request.url()),
    );
  });

  afterAll(async () => {
    await browser?.close();
    await server?.stop(true);
  });

  // Each width and each color scheme once: what fits does not depend on colors.
  test.each([
    ["desktop", "light"],
    ["phone", "dark"],
  ] as const)(
    "logs no error, loads nothing from other hosts, and is readable before its scripts: %s, %s",
    async (device, colorScheme) => {
      await page.setViewportSize(widths[device]);
      await page.emulateMedia({ colorScheme });
      const painted = () => until(page, 'performance.getEntriesByName("first-contentful-paint").length > 0');
      await page.route("**/*.js", (route) => painted().then(() => route.continue()));
      await page.goto(`${origin}/v1/docs`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);

      await page.getByRole("link", { name: "Operations", exact: true }).first().click();
      await page.locator("#operation-listOpportunities ~ details").first().locator("summary").click();
      expect(await page.getByText('"has_more": true').first().isVisible()).toBe(true);
      expect(await page.locator("input, textarea").count()).toBe(0);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);

      expect(await page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length")).toBe(0);
      expect(errors).toEqual([]);
      expect(foreign).toEqual([]);
      await page.unroute("**/*.js");
    },
    300_000,
  );

  test("shows the description of a problem at the address of its type", async () => {
    await page.setViewportSize(widths.phone);
    for (const [n, code] of (Object.keys(problems) as ProblemCode[]).entries()) {
      if (n < 3) await page.goto("about:blank"); // Loads the page again. For the other ones it only scrolls.
      await page.goto(`${origin}/v1/docs#${problemAnchor(code)}`);
      const entry = page.locator(`#${problemAnchor(code)}`);
      expect(await entry.textContent()).toBe(code);
      const top = (await entry.boundingBox())?.y ?? -1;
      expect(top).toBeGreaterThan(50); // Below the bar.
      expect(top).toBeLessThan(widths.phone.height - 50);
    }
  }, 300_000);

  test("is usable by keyboard", async () => {
    await page.setViewportSize(widths.desktop);
    await page.goto(`${origin}/v1/docs`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement?.className")).toBe("skip");
    const tab = page.getByRole("tab", { name: "curl" }).first();
    await tab.focus();
    await page.keyboard.press("ArrowRight");
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("TypeScript");
    expect(await page.getByRole("tab", { name: "TypeScript", selected: true }).count()).toBe(
      await page.locator(".samples [role=tablist]").count(),
    );
  }, 300_000);

  test("is readable without JavaScript", async () => {
    await page.setViewportSize(widths.desktop);
    await (await scriptsOf(page))(false);
    await page.goto(`${origin}/v1/docs`);
    expect(await page.getByRole("heading", { name: "Errors" }).isVisible()).toBe(true);
    expect(await page.getByText("async function sync").isVisible()).toBe(true);
  }, 300_000);
});

/** Polls, because the page's security policy forbids Playwright's own way of waiting. The test's time limit ends it. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(expression))) await Bun.sleep(20);
}
