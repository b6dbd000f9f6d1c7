/** What a server has in memory, and commits of others. */
import { afterAll, expect, test } from "bun:test";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { findKey, updateAccess } from "../../src/accounts/access.ts";
import { createKey, revokeKey } from "../../src/accounts/key.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { openStores } from "../../src/server/stores.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

test("each request sees every commit before it, although the event loop has come to nothing but requests meanwhile", async () => {
  const data = aDirectory();
  const { access, model, close } = await openStores({ data }, NOON, () => undefined);
  const [catalog, state] = [openCatalog(data, NOON), openState(data, NOON)]; // As another process has them.
  let cameToOthers = false;
  setImmediate(() => {
    cameToOthers = true;
  });

  for (let n = 0; n < 5; n++) {
    const { id, key } = await createKey(state, { account: "Test" }, (count) => new Uint8Array(count).fill(n), NOON);
    await updateAccess(access);
    expect(findKey(access, key)).toMatchObject({ id, revoked_at: null });
    await revokeKey(state, id, NOON);
    await updateAccess(access);
    expect(findKey(access, key)).toMatchObject({ id, revoked_at: NOON });

    await storeRecords(catalog, [anOpportunity({ source: { code: "OWN", opportunity_id: "1" }, title: `Title ${n}` })], NOON + n);
    const { documents } = await listOpportunities(model, {}, 10, null);
    expect(documents.map((document) => JSON.parse(Buffer.from(document).toString()).title)).toEqual([`Title ${n}`]);
  }
  expect(cameToOthers).toBe(false);
  await Promise.all([catalog.close(), state.close(), close()]);
});
