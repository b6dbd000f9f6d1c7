/** How long a mailed link to sign in works, and that it belongs to its installation. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { allowMembers } from "../../src/accounts/members.ts";
import { sealedTokens } from "../../src/accounts/sealed.ts";
import { createSignInLinks } from "../../src/team/sign-in-link.tsx";
import { MINUTE_MS } from "../../src/text/instant.ts";
import { type TestApi, testApi } from "../support/api.ts";

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
});
afterEach(() => api.state.close());

/** The links of an installation with this secret. `mailed` has the path of the next link. */
function linksOf(secret: number) {
  const mailed = Promise.withResolvers<string>();
  const links = createSignInLinks({
    state: api.state,
    tokens: sealedTokens(new Uint8Array(32).fill(secret), "link"),
    now: () => api.clock.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    mail: async (_, path) => mailed.resolve(path.replace("/sign-in/", "")),
    onTooMany: () => expect.unreachable(),
    onFailure: (error) => mailed.reject(error),
  });
  return { links, mailed: mailed.promise };
}

test.each([
  [15 * MINUTE_MS - 1, 200],
  [15 * MINUTE_MS, 410],
])("a link that is opened %i ms after it was asked for has the status %i", async (laterMs, status) => {
  await allowMembers(api.state, ["ann@lab.example"], api.clock.now);
  const { links, mailed } = linksOf(1);
  links.ask("ann@lab.example", "/");
  const token = await mailed;
  api.clock.now += laterMs;
  expect((await links.show(token)).status).toBe(status);
  const used = await links.use(token);
  expect(used instanceof Response ? used.status : 200).toBe(status);
  expect((await links.show(token)).status).toBe(410);
});

test("a link of another installation does not work", async () => {
  await allowMembers(api.state, ["ann@lab.example"], api.clock.now);
  const { links, mailed } = linksOf(1);
  links.ask("ann@lab.example", "/");
  expect((await linksOf(2).links.show(await mailed)).status).toBe(410);
});
