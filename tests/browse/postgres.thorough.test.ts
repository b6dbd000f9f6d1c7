/** The pages over PostgreSQL. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { catalogPerRequest, openCatalogAt } from "../../db/open.ts";
import { serveBrowse } from "../../src/browse/serve.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

test.if(hasPostgres)("every page is served, with and without filters", async () => {
  const server = await postgresServer();
  const database = await server.freshDatabase({ empty: true });
  const dates = { posted_at: null, opens_at: null, closes_at: "2026-03-05T17:00:00-05:00", response_at: null };
  const stored = await openCatalogAt({ data: "", database }, NOON);
  const [id = ""] = await storeRecords(stored, [anOpportunity({ title: "Quantum sensing", dates })], NOON - 2000);
  await storeRecords(stored, [anOpportunity({ title: "Quantum sensing at sea", dates })], NOON - 1000);
  const index = openSearchFile(aDirectory());
  await catchUp(stored, index);
  await stored.close();

  const failures: unknown[] = [];
  const openCatalog = catalogPerRequest({ data: "", database, mode: "read" }, () => NOON);
  const onFailure = (error: unknown) => void failures.push(error);
  const listener = await serveBrowse({ host: "127.0.0.1", port: 0, openCatalog, openIndex: () => index, now: () => NOON, onFailure });
  const filter = "status=open&words=quantum";
  const paths = [
    `/?${filter}`,
    `/opportunities/${id}`,
    "/changes?at_least=noise",
    `/changes?type=description_changed&at_least=noise&${filter}`,
    `/deadlines?${filter}`,
  ];
  for (const path of paths) {
    const response = await fetch(`http://127.0.0.1:${listener.port}${path}`);
    expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining("Quantum sensing at sea")]);
  }
  let most = 0;
  const count = async () => {
    most = Math.max(most, (await server.backends(new URL(database).pathname.slice(1))).length);
  };
  const atOnce = Array.from({ length: 8 }, () => paths).flat();
  const statuses = await Promise.all(
    atOnce.map(async (path) => {
      const { status } = await fetch(`http://127.0.0.1:${listener.port}${path}`);
      await count();
      return status;
    }),
  );
  expect([new Set(statuses), most <= 4]).toEqual([new Set([200]), true]); // PostgreSQL admits 100 of all programs together.
  const then = await fetch(`http://127.0.0.1:${listener.port}/opportunities/${id}?as_of=${new Date(NOON - 1500).toISOString()}`);
  const past = await then.text();
  expect([then.status, past]).toEqual([200, expect.stringContaining('<p class="past-note" role="note">As it was on ')]);
  expect(past).toContain(">Quantum sensing</h1>");
  const sources = await fetch(`http://127.0.0.1:${listener.port}/sources`);
  expect(await sources.text()).toContain("1 record changed last in these 26 weeks");
  const months = await fetch(`http://127.0.0.1:${listener.port}/sources/months`);
  expect(await months.text()).toMatch(/<th scope="row"><a [^>]*>Mar 2026<\/a><\/th><td>\d<\/td><td>1<\/td><td>0<\/td>/);
  expect(failures).toEqual([]);
  await listener.stop(true);
  index.close();
});
