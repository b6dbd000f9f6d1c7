/** One import at a time, whatever the engine. */
import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { openCatalog } from "../../db/sqlite/open.ts";
import { withStaging } from "../../src/import/context.ts";
import { engines } from "../support/engines.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

describe.each(engines)("withStaging() on %s", (kind, isThere, emptyCatalog) => {
  const testIf = test.if(isThere);

  /** A catalog that others can reach: not one in memory. */
  async function aContext() {
    const directory = aDirectory();
    const db = kind === "SQLite" ? openCatalog(directory, NOON) : await emptyCatalog();
    const notices: string[] = [];
    return { db, directory, notices, notify: (message: string) => void notices.push(message), [Symbol.asyncDispose]: () => db.close() };
  }

  testIf("runs one import at a time, and notifies the one that waits", async () => {
    await using context = await aContext();
    const order: string[] = [];
    const firstEnds = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const first = withStaging(context, async () => {
      begun.resolve();
      await firstEnds.promise;
      order.push("first");
    });
    await begun.promise;
    await expect(withStaging(context, async () => expect.unreachable(), 0)).rejects.toThrow("another import is still writing");
    expect(context.notices).toEqual([]);
    const second = withStaging(context, async () => void order.push("second"));
    while (context.notices.length === 0) await Bun.sleep(1);
    firstEnds.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
    expect(context.notices).toEqual(["Waiting for another import to finish"]);
  });

  testIf("runs the next import after one that failed, and leaves no file", async () => {
    await using context = await aContext();
    const failed = withStaging(context, async (staging) => {
      staging.putEvent("1", "{}");
      expect(readdirSync(context.directory)).toContain("import.staging");
      throw new Error("on purpose");
    });
    await expect(failed).rejects.toThrow("on purpose");
    expect(await withStaging(context, async (staging) => staging.counts(), 0)).toEqual({ toWrite: 0, unchanged: 0 });
    expect(readdirSync(context.directory)).not.toContain("import.staging");
  });
});
