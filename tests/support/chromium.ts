/** Debian's Chromium, which CI installs. */
import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

export const CHROMIUM = "/usr/bin/chromium";

/** Playwright's 30 s are too short on a busy machine. */
const TIMEOUT_MS = 240_000;
const FLAGS =
  "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(
    " ",
  );

/** Whether Chromium is there. If not, says which tests are skipped. */
export function hasChromium(tests: string): boolean {
  const isThere = existsSync(CHROMIUM);
  if (!isThere) process.stderr.write(`SKIPPED: ${tests} need ${CHROMIUM} (apt-get install chromium)\n`);
  return isThere;
}

/** The first start after an installation reads 300 MB from a cold disk. */
export function launchChromium(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags], timeout: TIMEOUT_MS });
}

/** A page of its own, which takes a second of processor time. */
export async function newPage(browser: Browser, options: Parameters<Browser["newPage"]>[0] = {}): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(TIMEOUT_MS);
  return page;
}

/** Turns the scripts of a page on and off. */
export async function scriptsOf(page: Page): Promise<(isOn: boolean) => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  return (isOn) => session.send("Emulation.setScriptExecutionDisabled", { value: !isOn });
}

/** How much wider than the screen the page is, in pixels. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - innerWidth");
}
