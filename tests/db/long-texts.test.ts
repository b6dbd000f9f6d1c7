/** Texts as long as imports let through, none of which can be compressed, fit into the indexes of both engines. */
import { afterAll, describe, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { engines } from "../support/engines.ts";
import { aCatalog, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

/** Characters of four bytes in UTF-8. */
const long = (length: number) =>
  String.fromCodePoint(...Array.from({ length }, (_, n) => 0x20000 + Number(Bun.hash(`${n}`, length) % 40_000n)));

/** A source code is ASCII. */
const LONG_CODE = Array.from({ length: 64 }, (_, n) => String.fromCharCode(65 + ((n * 7) % 26))).join("");

const record = {
  source: { code: LONG_CODE, opportunity_id: long(256) },
  lineage: long(512),
  earlier_ids: [long(255)],
  title: "Long",
  status: long(64),
  organization: { agency: long(500) },
  program: { type: long(63), solicitation_id: long(254) },
};
const event = { source: record.source, type: long(64), severity: long(63), detected_at: "2026-01-01T00:00:00Z" };

describe.each(engines)("on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("a record and an event with texts of the greatest length are stored, changed and found", async () => {
    const { db, take, takeEvents } = await aCatalog(await emptyCatalog());
    const linked = { ...record, source: { code: "GRANTS_GOV", opportunity_id: long(256) } };
    expect(await take([record, linked])).toMatchObject({ added: 2, rejected: 0 });
    expect(await take([{ ...record, title: "Longer" }, linked])).toMatchObject({ changed: 1, unchanged: 1 });
    expect(await takeEvents([event])).toMatchObject({ events: 1, rejected: 0 });
    expect(await checkCatalog(db)).toEqual([]);
  });
});
