/** Instants of an export are restored into an empty catalog only where they have passed: every later change must follow them (D-31). */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { openCatalog } from "../../db/sqlite/open.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { fundfeed } from "../support/command-line.ts";
import { aCatalog, aDirectory, aFile, documentsOf, dropScratch, inScratch, NOON, SECOND } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

const EARLIER = "2026-01-01T00:00:00.000Z";
const record = (id: string, fields: object) => ({ source: { code: "OWN", opportunity_id: id }, title: "T", ...fields });
const after = (seconds: number) => formatInstant(NOON + seconds * SECOND);

describe("a first import", () => {
  test.each([
    ["updated_at", "9999-12-31T23:59:59.999Z"],
    ["updated_at", "2099-01-01T00:00:00.000Z"],
    ["updated_at", after(61)],
    ["created_at", after(61)],
  ])("rejects a record whose %s is %s, and restores the others", async (name, instant) => {
    const catalog = await aCatalog();
    const rejects = inScratch("future.ndjson");
    const future = { created_at: EARLIER, updated_at: name === "created_at" ? after(62) : EARLIER, [name]: instant };
    const restored = record("2", { created_at: EARLIER, updated_at: EARLIER });
    expect(await catalog.take([record("1", future), restored], { rejects })).toMatchObject({ added: 1, rejected: 1 });
    expect(readFileSync(rejects, "utf8")).toStartWith(`{"line":1,"reason":"${name} must not lie in the future, not ${instant}"`);
    expect((await documentsOf(catalog.db)).map(({ updated_at }) => updated_at)).toEqual([EARLIER]);

    expect(await catalog.take([record("3", {})])).toMatchObject({ added: 1 });
    const next = NOON + 1; // The restored record was stored at NOON (E-56).
    expect((await documentsOf(catalog.db)).at(-1)).toMatchObject({ updated_at: formatInstant(next) });
  });

  test("allows for a clock that is a minute ahead", async () => {
    const catalog = await aCatalog();
    expect(await catalog.take([record("1", { created_at: EARLIER, updated_at: after(60) })])).toMatchObject({ added: 1, rejected: 0 });
    expect(await checkCatalog(catalog.db, undefined, NOON)).toEqual([]);
  });
});

test("a later import ignores both instants, whatever they are", async () => {
  const catalog = await aCatalog();
  await catalog.take([record("1", {})]);
  expect(await catalog.take([record("2", { created_at: EARLIER, updated_at: "9999-12-31T23:59:59Z" })])).toMatchObject({
    added: 1,
    rejected: 0,
  });
});

test("an import of events rejects those of the future, which nobody could copy", async () => {
  const catalog = await aCatalog();
  await catalog.take([record("1", {})]);
  const event = { source: { code: "OWN", opportunity_id: "1" }, type: "merged", severity: "x" };
  const rejects = inScratch("future-events.ndjson");
  const events = [60, 61].map((seconds) => ({ ...event, detected_at: after(seconds) }));
  expect(await catalog.takeEvents(events, { rejects })).toMatchObject({ events: 1, rejected: 1 });
  expect(readFileSync(rejects, "utf8")).toStartWith(`{"line":2,"reason":"detected_at must not lie in the future, not ${after(61)}"`);
});

describe("check", () => {
  test("finds a record that was updated in the future", async () => {
    const catalog = await aCatalog();
    await catalog.take([record("1", { created_at: EARLIER, updated_at: after(60) })]);
    const [fault, ...others] = await checkCatalog(catalog.db, undefined, NOON - SECOND);
    expect(fault?.what).toBe(`its updated_at lies in the future: ${after(60)} (D-31)`);
    expect(others).toEqual([]);
  });

  test("uses the clock of the import", async () => {
    const place = ["--data", aDirectory()];
    await fundfeed(["import", "records", aFile([record("1", {})]), ...place]);
    expect((await fundfeed(["check", ...place])).code).toBe(0);
    const db = openCatalog(place[1] ?? "", NOON);
    await db.run(rawSql("update opportunities set updated_at = 4102444800000"));
    await db.close();
    const { code, out } = await fundfeed(["check", ...place]);
    expect([code, out]).toEqual([1, expect.stringContaining("its updated_at lies in the future: 2100-01-01T00:00:00.000Z")]);
  });
});
