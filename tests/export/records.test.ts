/** `export` prints the same bytes on each engine. */
import { afterAll, describe, expect, test } from "bun:test";
import { BATCH_ROWS } from "../../db/engine.ts";
import { copyCatalog, engines } from "../support/engines.ts";
import { aCatalog, documentsOf, dropScratch, exportOf } from "../support/imports.ts";

afterAll(dropScratch);

const record = (code: string, id: string, fields: object = {}) => ({ source: { code, opportunity_id: id }, title: "é 😀", ...fields });

describe.each(engines)("exportLines() on %s", (_, isThere, emptyCatalog) => {
  test.if(isThere)("exports complete records with their earlier ids in order, least recently updated first", async () => {
    const { db: filled, clock, take } = await aCatalog();
    await take(Array.from({ length: BATCH_ROWS + 1 }, (_, n) => record("A", `N${n}`)));
    clock.now += 1000;
    await take([
      record("A", "N7", { lineage: "N7", title: "New" }),
      record("B", "last", { earlier_ids: ["z", "é", 'quote"\\', "B", "\u{1f600}", "\uffee"], status: "Paused", lineage: "L \u2028" }),
    ]);
    const db = await emptyCatalog();
    await copyCatalog(filled, db);

    const lines = await exportOf(db);
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.map(({ id }) => id)).toEqual((await documentsOf(filled)).map(({ id }) => id));
    expect(parsed).toHaveLength(BATCH_ROWS + 2);
    const [last] = await exportOf(db, ["B", "C"]);
    expect(lines).toContain(last as string);
    expect(last).toStartWith('{"id":"');
    expect(last).toEndWith(
      `"lineage":${JSON.stringify("L \u2028")},"earlier_ids":${JSON.stringify(["B", 'quote"\\', "z", "é", "\uffee", "\u{1f600}"])},"status_basis":"stated"}`,
    );
    expect(await exportOf(db, ["A"])).toHaveLength(BATCH_ROWS + 1);
    expect(await exportOf(db, [])).toEqual([]);
    expect(lines).toEqual(await exportOf(filled));
    await db.close();
  });
});
