/** Requests that share the thread of the reader. */
import { afterAll, expect, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { takingTurns } from "../../src/team/reader.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

test("a request that has held the thread lets the others go on before its next statement, also within a transaction", async () => {
  let ms = 1_000_000;
  const client = new AbortController();
  const catalog = takingTurns(openCatalog(aDirectory(), Date.UTC(2026, 6, 1)), client.signal, () => ms);
  const records = ["1", "2"].map((id) => anOpportunity({ source: { code: "OWN", opportunity_id: id } }));
  const ids = await storeRecords(catalog, records, Date.UTC(2026, 5, 1));
  const order: string[] = [];
  const read = async (name: string, from: Parameters<typeof readOpportunities>[0]) => {
    ms += 30; // Longer than a request may hold the thread.
    setImmediate(() => order.push("another request"));
    expect(await readOpportunities(from, ids, Date.UTC(2026, 6, 1))).toHaveLength(2);
    order.push(name);
  };
  await read("alone", catalog);
  await catalog.readTransaction((sql) => read("in a transaction", sql));
  expect(order).toEqual(["another request", "alone", "another request", "in a transaction"]);
  client.abort();
  await expect(read("for nobody", catalog)).rejects.toThrow("aborted"); // What a client left is not continued.
  expect(order.at(-1)).toBe("another request");
  await catalog.close();
});
