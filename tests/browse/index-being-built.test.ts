/** Pages while another program builds the search index, as the job of `up` does. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createBrowseApp } from "../../src/browse/app.tsx";
import { indexOfOthers } from "../../src/browse/index-being-built.tsx";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { storeVersions } from "../support/browse.ts";
import { SAMPLE_NOW } from "../support/demo-data.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

let data: string;
let id: string;
const failures: unknown[] = [];
let get: (path: string, init?: RequestInit) => Promise<Response>;

beforeEach(async () => {
  data = aDirectory();
  const source = { code: "OWN", opportunity_id: "1" };
  [id = ""] = await storeVersions(data, [
    [
      { source, title: "Quantum sensing" },
      { source, title: "Quantum sensing, amended" },
    ],
  ]);
  const openToRead = async () => openCatalog(data, SAMPLE_NOW, { mode: "read" });
  const app = createBrowseApp({
    openCatalog: openToRead,
    searchIndex: indexOfOthers(data, openToRead),
    now: () => SAMPLE_NOW,
    host: "127.0.0.1",
    onFailure: (error) => void failures.push(error),
    up: { hasSignIn: false },
  });
  get = (path, init = {}) => app.fetch(new Request(`http://127.0.0.1${path}`, { ...init, headers: { host: "127.0.0.1" } }));
});
afterEach(() => expect(failures.splice(0)).toEqual([]));
afterAll(dropScratch);

/** Builds the index as the job does. */
async function build(): Promise<void> {
  const [index, catalog] = [openSearchFile(data), openCatalog(data, SAMPLE_NOW, { mode: "read" })];
  await catchUp(catalog, index, undefined, SAMPLE_NOW);
  index.close();
  await catalog.close();
}

const NOTICE = "The search index is being built: it has 0 of 1 records.";

/** What holds until the index is whole. */
async function expectBeingBuilt(): Promise<void> {
  for (const path of ["/", "/sources", "/sources/quality", "/changes", "/changes?since=all", `/opportunities/${id}`]) {
    const response = await get(path);
    expect([path, response.status, await response.text()]).toEqual([path, 200, expect.stringContaining(NOTICE)]);
  }
  expect(await (await get(`/opportunities/${id}`)).text()).toContain("Quantum sensing, amended");
  for (const path of ["/?words=quantum", "/deadlines", "/sources/months", "/changes?words=quantum"]) {
    const response = await get(path);
    expect([path, response.status, await response.text()]).toEqual([path, 503, expect.stringContaining(NOTICE)]);
  }
  for (const path of ["/find.json?words=quantum", "/find.ics", "/changes.atom"]) {
    const response = await get(path);
    expect([path, response.status, response.headers.get("retry-after")]).toEqual([path, 503, "10"]);
    expect(await response.json()).toMatchObject({ detail: NOTICE });
  }
  expect((await get("/events.json")).status).toBe(200);
}

test("before anybody has begun, they show what is there, and say how far the index is", async () => {
  await expectBeingBuilt();
  expect(await Bun.file(join(data, "search.db")).exists()).toBe(false); // A reader writes none.
});

test("while another program holds the index for itself, they do not wait for it", async () => {
  openSearchFile(data).close();
  const builder = new Database(join(data, "search.db"));
  builder.run("begin exclusive");
  await expectBeingBuilt();
  builder.run("rollback");
  builder.close();
});

test("as soon as it is whole, they search it, also while it is built again elsewhere", async () => {
  await expectBeingBuilt();
  await build();
  const found = await (await get("/?words=quantum")).text();
  expect(found).toContain("Quantum sensing, amended");
  expect(found).not.toContain("is being built");
  expect((await get("/find.json?words=quantum")).status).toBe(200);
});

test("a program that commits to a whole index is waited for", async () => {
  await build();
  await get("/");
  const writer = new Database(join(data, "search.db"));
  writer.run("begin exclusive");
  using _waits = spyOn(Bun, "sleep").mockImplementation(async () => void writer.run("commit"));
  expect(await (await get("/?words=quantum")).text()).toContain("Quantum sensing, amended");
  expect(Bun.sleep).toHaveBeenCalledTimes(1);
  writer.close();
});

test("nothing is made for a client that has left", async () => {
  const client = new AbortController();
  client.abort();
  expect((await get("/sources", { signal: client.signal })).status).toBe(503);
});
