/**
 * The sign-in of `up` in a real browser without JavaScript. The server is reached by plain HTTP under a name, as in the
 * network of an office: there Chromium does not say `Sec-Fetch-Site`, so that the form is known by its `Origin`.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { hasChromium, launchChromium, newPage, scriptsOf } from "../support/chromium.ts";
import { fundfeed } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";

const NAME = "fundfeed.test";

describe.skipIf(!hasChromium("the tests of the sign-in in a browser"))("the sign-in in a browser", () => {
  let home: Home;
  let server: Server;
  let browser: Browser;
  let [origin, key]: string[] = [];

  beforeAll(async () => {
    home = aHome();
    const record = { source: { code: "OWN", opportunity_id: "1" }, title: "Quantum sensing" };
    await fundfeed(["import", "records", home.file("records.jsonl", JSON.stringify(record)), "--data", home.at("fundfeed-data")]);
    key = await home.key();
    const port = await freePort();
    origin = `http://${NAME}:${port}`;
    server = await home.serve(["up", "--port", `${port}`, "--pull", "none", "--base-url", `${origin}/v1`]);
    browser = await launchChromium([`--host-resolver-rules=MAP ${NAME} 127.0.0.1`]);
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    expect(await server?.stop()).toBe(0);
    await dropHomes();
  }, 300_000);

  test("leads to the page that was asked for, from there to addresses to subscribe to, and out again", async () => {
    const page = await newPage(browser);
    await (await scriptsOf(page))(false);
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
});
