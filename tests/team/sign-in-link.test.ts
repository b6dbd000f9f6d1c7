/** How long a mailed link to sign in works, and that it belongs to its installation. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowMembers } from "../../src/accounts/members.ts";
import { sealedTokens } from "../../src/accounts/sealed.ts";
import { createSignInLinks } from "../../src/team/sign-in-link.ts";
import { MINUTE_MS } from "../../src/text/instant.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { aMailSink, type MailSink } from "../support/mail-sink.ts";
import { waitFor } from "../support/wait-for.ts";

let api: TestApi;
let sink: MailSink;
beforeEach(async () => {
  [api, sink] = await Promise.all([testApi(), aMailSink()]);
  await allowMembers(api.state, ["ann@lab.example"], api.clock.now);
});
afterEach(() => {
  sink.close();
  return api.state.close();
});

/** The links of an installation with this secret. */
function linksOf(secret: number) {
  const env = { FUNDFEED_SMTP_URL: sink.url, FUNDFEED_MAIL_FROM: "f@feeds.example", FUNDFEED_PAGES_URL: "https://feeds.example" };
  const fail = (error?: unknown) => {
    throw error ?? new Error("too many");
  };
  return createSignInLinks({
    state: api.state,
    tokens: sealedTokens(new Uint8Array(32).fill(secret), "link"),
    machine: { env, now: () => api.clock.now, randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)) },
    onTooMany: fail,
    onFailure: fail,
  });
}

/** The token of the link in the mail. */
async function mailed(): Promise<string> {
  await waitFor("a mail", () => sink.mails.length > 0);
  return /^https:\/\/feeds\.example\/sign-in\/([\w-]+)\r?$/m.exec(sink.mails[0]?.text ?? "")?.[1] ?? "";
}

test.each([
  [15 * MINUTE_MS - 1, true],
  [15 * MINUTE_MS, false],
])("of a link that is opened %i ms after it was asked for, it is %p that it works", async (laterMs, works) => {
  const links = linksOf(1);
  expect(links.ask("ann@lab.example", "/x")).toBe(true);
  const token = await mailed();
  api.clock.now += laterMs;
  expect(await links.addressOf(token)).toBe(works ? "ann@lab.example" : undefined);
  expect((await links.use(token))?.to).toBe(works ? "/x" : undefined);
  expect(await links.addressOf(token)).toBeUndefined();
});

test("a link of another installation does not work", async () => {
  linksOf(1).ask("ann@lab.example", "/");
  expect(await linksOf(2).addressOf(await mailed())).toBeUndefined();
});
