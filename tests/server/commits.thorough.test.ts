/** What a client committed, or knows to be committed, is in the response to its next request, however busy the server is. */
import { afterAll, expect, test } from "bun:test";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { createKey, revokeKey } from "../../src/accounts/key.ts";
import { aHome, dropHomes } from "../support/binary.ts";
import { NOON } from "../support/imports.ts";
import { startLoad } from "../support/load.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropHomes);

const COMMITS = 100;

test("each request sees every commit made before it was sent, and each revocation", async () => {
  const home = aHome();
  const key = await home.key();
  const catalog = await openCatalog(home.at("fundfeed-data"), NOON);
  const state = await openState(home.at("fundfeed-data"), NOON);
  const server = await home.serve();
  const load = startLoad(server, key, 32);
  const statusFor = async (other: string) => (await server.get("/sources", other)).status;

  for (let n = 0; n < COMMITS; n++) {
    const created = await createKey(state, { account: "Test" }, (count) => crypto.getRandomValues(new Uint8Array(count)), NOON);
    expect(await statusFor(created.key)).toBe(200);
    await revokeKey(state, created.id, NOON);
    expect(await statusFor(created.key)).toBe(401);

    await storeRecords(catalog, [anOpportunity({ source: { code: "SAM", opportunity_id: "one" }, title: `Title ${n}` })], NOON + n);
    const response = await server.get("/opportunities?limit=1", key);
    const { data } = (await response.json()) as { data: { id: string; title: string }[] };
    expect(data.map(({ title }) => title)).toEqual([`Title ${n}`]);
    const detail = (await (await server.get(`/opportunities/${data[0]?.id}`, key)).json()) as { data: { title: string } };
    expect(detail.data.title).toBe(`Title ${n}`);
  }
  await load.stop();
  expect([load.errors, [...load.statuses]]).toEqual([[], [200]]);
  expect(load.responses).toBeGreaterThan(COMMITS);
  expect(await server.stop()).toBe(0);
  await Promise.all([catalog.close(), state.close()]);
});
