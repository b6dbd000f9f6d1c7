/**
 * The way of a member in a real browser without JavaScript: from the invitation over a saved search, a followed opportunity
 * and a mail to the end of the mails. It is walked on a desktop and on a phone.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { aHome, dropHomes, type Home, type Server } from "../support/binary.ts";
import { hasChromium, launchChromium, newPage, scriptsOf } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { aMailSink, type MailSink } from "../support/mail-sink.ts";
import { waitFor } from "../support/wait-for.ts";

describe.skipIf(!hasChromium("the tests of members in a browser"))("the way of a member in a browser", () => {
  let home: Home;
  let sink: MailSink;
  let server: Server;
  let browser: Browser;
  let page: Page;
  let origin: string;
  let env: Record<string, string>;

  const ff = async (...args: string[]) => expect(await home.run(args, { env })).toMatchObject({ code: 0 });
  const importAll = async (closes: string) => {
    const records = Array.from({ length: 3 }, (_, n) => ({
      source: { code: "OWN", opportunity_id: `N-${n}` },
      title: n === 0 ? "Marine biology" : `Quantum research ${n}`,
      status: "open",
      dates: { closes_at: closes },
    }));
    await ff("import", "records", home.file("records.jsonl", records.map((record) => JSON.stringify(record)).join("\n")));
  };
  const press = async (name: string | RegExp) => {
    await page.getByRole("button", { name, exact: true }).click();
    await page.waitForLoadState();
  };
  const follow = async (name: string | RegExp) => {
    await page.getByRole("link", { name, exact: true }).first().click();
    await page.waitForLoadState();
  };
  const title = () => page.getByRole("heading", { level: 1 }).textContent();
  const newMail = async (before: number) => waitFor("a mail", () => sink.mails[before]);
  /** An address of a mail that begins so. */
  const addressIn = (text: string, path: string) => new RegExp(`${origin}${path}[\\w./-]*`).exec(text)?.[0] ?? "";

  beforeAll(async () => {
    [home, sink] = [aHome(), await aMailSink()];
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "fundfeed@feeds.example", FUNDFEED_PAGES_URL: origin };
    await importAll("2099-01-15T17:00:00Z");
    server = await home.serve(["up", "--port", `${port}`, "--pages", "key", "--pull", "none", "--watch-every", "none"], { env });
    browser = await launchChromium();
  }, 300_000);

  afterAll(async () => {
    await browser?.close();
    sink?.close();
    expect(await server?.stop()).toBe(0);
    await dropHomes();
  }, 300_000);

  test.each([
    ["a desktop", 1280, "2099-02-15T17:00:00Z"],
    ["a phone", 390, "2099-03-15T17:00:00Z"],
  ])(
    "leads from the invitation to the end of the mails on %s",
    async (_, width, moved) => {
      const address = `ann.${width}@uni.example`;
      page = await newPage(browser, { viewport: { width, height: 844 } });
      await (await scriptsOf(page))(false);
      /** The reason stands below its field, which has it as its description, and keeps what was typed. */
      const isRefused = async (label: string, typed: string, reason: string) => {
        const field = page.getByLabel(label);
        expect([await field.inputValue(), await field.getAttribute("aria-invalid")]).toEqual([typed, "true"]);
        const described = await field.getAttribute("aria-describedby");
        expect(await page.locator(`#${described}`).textContent()).toContain(reason);
        const [box, below] = [await field.boundingBox(), await page.locator(`#${described}`).boundingBox()];
        expect((below?.y ?? 0) - ((box?.y ?? 0) + (box?.height ?? 0))).toBeWithin(0, 24);
      };

      // Invited, she asks for a link; a wrong address comes back with the reason.
      await ff("members", "add", address);
      await page.goto(`${origin}/?words=quantum`);
      await page.evaluate("document.querySelector('form').noValidate = true"); // As a browser that checks no addresses.
      await page.getByLabel("Mail address").fill("ann");
      await press("Mail me a link");
      await isRefused("Mail address", "ann", "This is no mail address.");
      let before = sink.mails.length;
      await page.getByLabel("Mail address").fill(address);
      await press("Mail me a link");
      expect(await title()).toBe("Look into your mailbox");

      // The link works by its button, once, and leads where she wanted to go.
      const link = addressIn((await newMail(before)).text, "/sign-in/");
      await page.goto(link);
      await press("Sign in");
      expect(page.url()).toBe(`${origin}/?words=quantum`);
      await page.goto(link);
      expect(await page.getByRole("alert").textContent()).toStartWith("This link does not work anymore.");

      // She saves the search. What is refused keeps what was typed.
      await page.goto(`${origin}/?words=quantum`);
      await follow("Mail me what changes");
      expect(await page.locator(".lead").textContent()).toStartWith("Words quantum: 2 now");
      await page.getByLabel("Name").fill("Everything quantum");
      await page.getByLabel("When").selectOption("when something changes");
      await page.getByLabel("Reminders").fill("two weeks");
      await press("Save");
      await isRefused("Reminders", "two weeks", "numbers of days");
      expect(await page.getByLabel("Name").inputValue()).toBe("Everything quantum");
      expect(await page.getByLabel("When").inputValue()).toBe("now");
      await page.getByLabel("Reminders").fill("14, 3");
      await press("Save");
      expect([await title(), await page.getByRole("status").textContent()]).toEqual([
        "Everything quantum",
        expect.stringContaining("Saved."),
      ]);

      // She tests it, and changes its search.
      before = sink.mails.length;
      await press("Send me a test");
      expect((await newMail(before)).head).toContain("Subject: Test: Everything quantum");
      await follow("Change the search");
      await page.getByLabel("Words").fill("research");
      await press("Search");
      await press("Save this search");
      expect(await page.locator("main > .lead").textContent()).toStartWith("Words research.");

      // She follows an opportunity, leaves it out of her mails, and has it told again.
      await page.goto(`${origin}/?words=marine`);
      await follow("Marine biology");
      await press("Follow");
      await press("Leave out of my mails");
      await press("Report it in my mails again");
      await follow("Following");
      expect(await page.getByRole("link", { name: "Marine biology" }).count()).toBe(1);
      await follow("addresses to subscribe to");
      await follow("My watches");

      // One mail tells of both, and leads to the pages.
      before = sink.mails.length;
      await importAll(moved);
      await ff("watch", "run");
      const mails = sink.mails.slice(before).filter(({ to }) => to === address);
      expect(mails.map(({ head }) => /Subject: (.*)/.exec(head)?.[1])).toEqual(["2 watches: Following, Everything quantum"]);
      const text = mails[0]?.text ?? "";
      await page.goto(addressIn(text, "/opportunities/"));
      expect(await page.getByRole("heading", { name: "Dates changed" }).count()).toBeGreaterThan(0);

      // It stops by a page that asks, without a sign-in, and she can resume.
      const other = await browser.newPage({ viewport: { width, height: 844 } });
      await other.goto(addressIn(text, "/unsubscribe/"));
      await other.getByRole("button", { name: "Stop these mails" }).click();
      expect(await other.getByRole("heading", { level: 1 }).textContent()).toBe("No more mails");
      await other.close();
      await page.goto(addressIn(text, "/unsubscribe/"));
      await page.goto(`${origin}/watches`);
      expect(await page.locator(".card").textContent()).toContain("Paused: you stopped these mails.");
      await follow("Everything quantum");
      await press("Resume");
      await press("Remove");
      expect(await title()).toBe("My watches");

      // Signed out, she is asked for her address again.
      await follow("Sign out");
      await press("Sign out of this browser");
      await page.goto(`${origin}/watches`);
      expect(await title()).toBe("Sign in");
      await page.context().clearCookies();
      await page.close();
      await ff("members", "remove", address);
    },
    300_000,
  );
});
