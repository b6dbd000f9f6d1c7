/** A copy with histories follows its server's `redact`: it ends without contacts, in what it holds and in the bytes of its files. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { redactStored } from "../../src/changes/redact.ts";
import { syncOnce } from "../../src/mirror/sync.ts";
import { testApi } from "../support/api.ts";
import { aCatalog, DAY, dropScratch } from "../support/imports.ts";
import { aClient, aPlace, everything, served } from "./mirrored.ts";

afterAll(dropScratch);

const ann = { name: "Ann Zqx", email: "zqx@example.gov", phone: null, role: null };
const record = (id: string, fields: object = {}) => ({ source: { code: "OWN", opportunity_id: id }, title: `Title ${id}`, ...fields });
const filler = "A long text. ".repeat(2000); // What it held lies in pages of its own.

/** Some that name Ann, one whose history alone does, one that came by `import events`, and one that has nothing to do with her. */
async function servingAnn() {
  const api = await testApi();
  const catalog = await aCatalog(api.model.db);
  const many = Array.from({ length: 30 }, (_, n) => record(`many ${n}`, { description: filler, contacts: [ann] }));
  await catalog.take([...many, record("past", { contacts: [ann] }), record("imported"), record("none")]);
  await catalog.take([record("past", { contacts: [] })]);
  const [source, detected_at] = [{ code: "OWN", opportunity_id: "imported" }, "2020-01-01T00:00:00Z"];
  const changes = [{ field: "contacts.0.name", previous: "Old Zqx", current: "New Zqx" }];
  const event = {
    source,
    type: "field_updated",
    severity: "material",
    summary: "Zqx changed",
    changed_fields: ["contacts"],
    changes,
    detected_at,
  };
  await catalog.takeEvents([event]);
  return api;
}

const bytesOf = (path: string) =>
  readdirSync(dirname(path))
    .map((name) => readFileSync(join(dirname(path), name), "latin1"))
    .join("\n")
    .toLowerCase();

describe("a copy in SQLite", () => {
  test.each([
    ["that is opened for each poll", true],
    ["that stays open", false],
  ])("%s has no contacts after the first poll that follows a redaction", async (_, isClosed) => {
    const api = await servingAnn();
    const place = aPlace();
    let store = place.open();
    const poll = async () => {
      const summary = await syncOnce({ ...aClient(api), ...everything, store });
      if (isClosed) await store.close();
      if (isClosed) store = place.open();
      return summary;
    };
    await poll();
    expect(bytesOf(place.path)).toContain("zqx");

    api.clock.now += DAY;
    await redactStored(api.model.db, undefined, api.clock.now);
    expect(await poll()).toMatchObject({ records: 32 });
    expect(place.contents()).toEqual(await served(api));
    expect(bytesOf(place.path)).not.toContain("zqx");
    expect(await poll()).toMatchObject({ records: 0 });
    await store.close();
  });
});
