/**
 * The sign-in of `up` in a real browser, Debian's Chromium, without JavaScript. The server is reached by plain HTTP under a name, as in the
 * network of an office: there Chromium does not say `Sec-Fetch-Site`, so that the form is known by its `Origin`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { HtmlValidate } from "html-validate/node";
import { type Browser, chromium, type Page } from "playwright-core";
import { AXE, findingsOf } from "../support/axe.ts";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { fundfeed } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";

const CHROMIUM = "/usr/bin/chromium";
const isThere = existsSync(CHROMIUM);
if (!isThere) process.stderr.write(`SKIPPED: the tests of the sign-in in a browser need ${CHROMIUM} (apt-get install chromium)\n`);

/** Playwright's 30 s are too short on a busy machine. */
const TIMEOUT_MS = 240_000;
const NAME = "fundfeed.test";
const FLAGS = `--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --host-resolver-rules=MAP|${NAME}|127.0.0.1`;

describe.skipIf(!isThere)("the sign-in in a browser", () => {
  let home: Home;
  let server: Server;
  let browser: Browser;
  /** Of both tests: another one takes a second of processor time. */
  let page: Page;
  let setScripts: (isOn: boolean) => Promise<unknown>;
  let [origin, key]: string[] = [];

  beforeAll(async () => {
    home = aHome();
    const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing" };
    await fundfeed(["import", "records", home.file("records.jsonl", JSON.stringify(record)), "--data", home.at("fundfeed-data")]);
    key = await home.key();
    const port = await freePort();
    origin = `http://${NAME}:${port}`;
    server = await home.serve(["up", "--port", `${port}`, "--pull", "none", "--base-url", `${origin}/v1`]);
    const args = FLAGS.split(" ").map((flag) => flag.replaceAll("|", " "));
    browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: TIMEOUT_MS });
    page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    const session = await page.context().newCDPSession(page);
    setScripts = (isOn) => session.send("Emulation.setScriptExecutionDisabled", { value: !isOn });
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    expect(await server?.stop()).toBe(0);
    await dropHomes();
  }, 300_000);

  test("leads to the page that was asked for, from there to addresses to subscribe to, and out again", async () => {
    await setScripts(false);
    const submit = async (name: string) => {
      await page.getByRole("button", { name }).click();
      await page.waitForLoadState();
    };
    const here = () => page.url().slice(`${origin}`.length);
    await page.goto(`${origin}/?words=quantum`);
    expect(here()).toBe("/sign-in?to=%2F%3Fwords%3Dquantum");
    await page.getByLabel("API key").fill("ffk_live_wrong");
    await submit("Sign in");
    expect(await page.getByRole("alert").textContent()).toBe("This key is not valid.");
    await page.getByLabel("API key").fill(`${key}`);
    await submit("Sign in");
    expect(here()).toBe("/?words=quantum");
    expect(await page.getByRole("link", { name: "Quantum sensing" }).count()).toBe(1);
    await page.getByText("Take this search along").click();
    await page.getByRole("link", { name: "addresses to subscribe to" }).click();
    const [ics = "", atom = ""] = await page.locator(".address code").allTextContents();
    expect([ics, atom].map((address) => address.replace(/feeds\/[\w.-]+\./, "…"))).toEqual([`${origin}/…ics`, `${origin}/…atom`]);
    expect(await page.evaluate("document.cookie")).toBe(""); // No script can read it.
    await page.getByRole("link", { name: "Sign out" }).click();
    await submit("Sign out of this browser");
    await page.goto(`${origin}/`);
    expect(here()).toBe("/sign-in?to=%2F");
  }, 300_000);

  test("and what it leads to fits and pleases axe and html-validate, on a desktop and a phone", async () => {
    await setScripts(true);
    const validator = new HtmlValidate({ root: true, extends: ["html-validate:standard", "html-validate:a11y"] });
    const expectGood = async (path: string) => {
      const response = await page.goto(origin + path);
      const { results } = await validator.validateString((await response?.text()) ?? "");
      expect([path, results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`))]).toEqual([path, []]);
      await page.evaluate(AXE);
      for (const [width, rules] of [
        [1280, {}],
        [390, { runOnly: ["color-contrast", "target-size"] }], // Others find the same at any size.
      ] as const) {
        await page.setViewportSize({ width, height: 844 });
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        expect([path, width, await findingsOf(page, rules), overflow]).toEqual([path, width, [], 0]);
      }
    };
    await expectGood("/sign-in?to=%2Fdeadlines");
    await page.getByLabel("API key").fill(`${key}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${origin}/deadlines`);
    for (const path of ["/status", "/subscribe?words=quantum&status=open,closing_soon", "/sign-out"]) await expectGood(path);
  }, 300_000);
});
