import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { redactStored } from "../../src/changes/redact.ts";
import { createApp } from "../../src/http/app.ts";
import { openPrintingStore, type Scope } from "../../src/mirror/store.ts";
import { syncOnce } from "../../src/mirror/sync.ts";
import { BASE_URL, type TestApi, testApi } from "../support/api.ts";
import { aCatalog, dropScratch } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";
import {
  aClient,
  aClientKilledAt,
  aPlace,
  BASE,
  type Client,
  contentsOfLines,
  everything,
  type Place,
  publish,
  served,
  withEvents,
} from "./mirrored.ts";

afterAll(dropScratch);

const recordsOnly: Scope = { baseUrl: BASE, source: [], events: false };

async function sync(client: Client, place: Place, scope: Scope = everything) {
  const store = place.open(scope);
  try {
    return await syncOnce({ ...client, ...scope, store });
  } finally {
    await store.close();
  }
}

/** Whether it was killed. Its files stay as they were at that moment: whatever a store would tidy up at its end does not happen. */
async function killedSync(client: Client, place: Place, scope: Scope): Promise<boolean> {
  const store = place.open(scope);
  try {
    await syncOnce({ ...client, ...scope, store });
    return false;
  } catch (error) {
    expect(error).toEqual(new Error("killed"));
    return true;
  } finally {
    const directory = dirname(place.path);
    cpSync(directory, `${directory}.kept`, { recursive: true });
    await store.close();
    rmSync(directory, { recursive: true });
    renameSync(`${directory}.kept`, directory);
  }
}

async function serving(count: number): Promise<TestApi> {
  const api = await testApi();
  await publish(api, 0, count, "Title");
  return api;
}

describe("syncOnce() into SQLite", () => {
  test("copies everything first, and then what changed", async () => {
    const api = await serving(201);
    const place = aPlace();
    const first = aClient(api);
    expect(await sync(first, place)).toEqual({ records: 201, events: 201, mark: expect.any(String) });
    expect(first.asked).toHaveLength(3 + 201 + 1); // It asks once for /events.json, which this server has not.
    expect(place.contents()).toEqual(await served(api));

    api.clock.now += 60_000;
    await publish(api, 100, 102, "Changed");
    await publish(api, 201, 202, "New");
    const second = aClient(api);
    expect(await sync(second, place)).toEqual({ records: 3, events: 5, mark: expect.any(String) });
    expect(second.asked[0]).toStartWith("/opportunities?updated_since=2026-03-01T12%3A00%3A00.005Z&limit=100");
    expect(place.contents()).toEqual(await served(api));

    const third = aClient(api);
    expect(await sync(third, place)).toEqual({ records: 0, events: 0, mark: expect.any(String) });
    expect(third.asked).toEqual([expect.stringContaining("updated_since="), "/events.json?limit=1000"]);
    expect(place.contents()).toEqual(await served(api));
  });

  test("asks for a page per hundred changed records, and once for the history of each; for unchanged ones never", async () => {
    const api = await serving(101);
    const place = aPlace();
    await sync(aClient(api), place);
    const requests = async () => {
      const client = aClient(api);
      const { records } = await sync(client, place);
      const histories = client.asked.filter((each) => each.includes("/events?"));
      expect(new Set(histories).size).toBe(histories.length);
      const pages = client.asked.filter((each) => each.startsWith("/opportunities?")).length;
      expect(client.asked.length).toBe(pages + histories.length + 1);
      return { records, pages, histories: histories.length };
    };
    expect(await requests()).toEqual({ records: 0, pages: 1, histories: 0 });
    await publish(api, 0, 101, "Title"); // As they are.
    expect(await requests()).toEqual({ records: 0, pages: 1, histories: 0 });
    await publish(api, 0, 100, "Changed");
    expect(await requests()).toEqual({ records: 100, pages: 1, histories: 100 });
    await publish(api, 0, 101, "Changed again");
    expect(await requests()).toEqual({ records: 101, pages: 2, histories: 101 });
    await publish(api, 7, 8, "Changed twice");
    await publish(api, 7, 8, "Changed three times");
    expect(await requests()).toEqual({ records: 1, pages: 1, histories: 1 });
    expect(place.contents()).toEqual(await served(api));
  });

  test("copies nothing from an empty catalog, and continues from there", async () => {
    const api = await testApi();
    const place = aPlace();
    expect(await sync(aClient(api), place)).toEqual({ records: 0, events: 0, mark: null });
    expect(place.contents()).toEqual({ opportunities: {}, events: {} });
    await publish(api, 0, 3, "Title");
    await sync(aClient(api), place);
    expect(place.contents()).toEqual(await served(api));
  });

  test("misses no change during a walk", async () => {
    const api = await serving(201);
    const place = aPlace();
    let pages = 0;
    const client = aClient(api, async (request) => {
      if (++pages > 1) await publish(api, pages * 7, pages * 7 + 5, `Changed in ${pages}`);
      return api.fetch(request);
    });
    await sync(client, place, recordsOnly);
    await sync(aClient(api), place, recordsOnly);
    expect(place.contents().opportunities).toEqual((await served(api)).opportunities);
  });

  test.each([
    ["without histories", recordsOnly, 101],
    ["with histories", everything, 6],
  ])("can be killed at any request, %s", async (_, scope, count) => {
    const api = await serving(count);
    for (let n = 1, killed = true; killed; n++) {
      const place = aPlace();
      for (const round of ["first walk", "poll"]) {
        killed = await killedSync(aClientKilledAt(api, n), place, scope);
        await publish(api, n % count, (n % count) + 3, `Changed after ${n} in the ${round}`);
        await sync(aClient(api), place, scope);
        await publish(api, 0, count, `Changed after ${round} ${n}`);
      }
      await sync(aClient(api), place, scope);
      const { opportunities, events } = await served(api);
      expect(place.contents()).toEqual({ opportunities, events: scope.events ? events : {} });
    }
  });

  test("survives repeated kills while records change", async () => {
    const api = await serving(201);
    const place = aPlace();
    for (let n = 1; n <= 12; n++) {
      await killedSync(aClientKilledAt(api, n % 5), place, recordsOnly);
      await publish(api, n * 11, n * 11 + 40, `Changed after ${n}`);
    }
    await sync(aClient(api), place, recordsOnly);
    expect(place.contents().opportunities).toEqual((await served(api)).opportunities);
  });

  test("follows the pages of a long history", async () => {
    const api = await serving(1);
    for (let n = 0; n < 101; n++) await publish(api, 0, 1, `Title ${n}`);
    const place = aPlace();
    expect(await sync(aClient(api), place)).toMatchObject({ records: 1, events: 102 });
    expect(place.contents()).toEqual(await served(api));
  });

  test("refuses what changed more than a minute ahead of the clock, and keeps its mark", async () => {
    const api = await serving(3);
    const place = aPlace();
    const { mark } = await sync(aClient(api), place);
    const kept = place.contents();
    const now = api.clock.now;
    api.clock.now += 60_000;
    await publish(api, 0, 1, "Changed");
    const at = new Date(api.clock.now).toISOString();
    const behind = { ...aClient(api), now: () => now - 1 };
    await expect(sync(behind, place)).rejects.toThrow(`changed in the future, at ${at}`);
    expect(place.contents()).toEqual(kept);
    const next = { ...aClient(api), now: () => now };
    expect(await sync(next, place)).toMatchObject({ records: 1, mark: at });
    expect(next.asked[0]).toStartWith(`/opportunities?updated_since=${encodeURIComponent(String(mark))}&`);
    expect(place.contents()).toEqual(await served(api));
  });

  test("refuses an event ahead of the clock", async () => {
    const api = await serving(1);
    const ahead = (text: string) => text.replaceAll(/"detected_at":"[^"]*"/g, '"detected_at":"9999-01-01T00:00:00.000Z"');
    const client = aClient(api, async (request) => new Response(ahead(await (await api.fetch(request)).text())));
    const place = aPlace();
    await expect(sync(client, place)).rejects.toThrow("changed in the future, at 9999-01-01T00:00:00.000Z");
    expect((await sync(aClient(api), place)).records).toBe(1);
  });

  test("copies only the given sources", async () => {
    const api = await serving(20);
    const place = aPlace();
    await sync(aClient(api), place, { ...recordsOnly, source: ["SAM"] });
    expect(Object.keys(place.contents().opportunities)).toHaveLength(10);
  });

  test("restarts the walk if the server has a new cursor secret", async () => {
    const api = await serving(201);
    const other = () => {
      const { access, randomBytes } = api;
      const model = { ...api.model, cursorSecret: randomBytes(32) };
      const log = { request: () => undefined, failure: () => undefined, recurring: () => undefined };
      return createApp({ model, access, baseUrl: BASE_URL, files: () => new Map(), now: () => api.clock.now, randomBytes, log });
    };
    const place = aPlace();
    let { fetch }: Pick<TestApi, "fetch"> = api;
    const client = aClient(api, (request) => {
      if (client.asked.length === 3) ({ fetch } = other());
      return fetch(request);
    });
    await sync(client, place, recordsOnly);
    expect(client.asked.map((path) => path.includes("cursor="))).toEqual([false, true, true, false, true, true]);
    expect(place.contents().opportunities).toEqual((await served(api)).opportunities);
  });
});

describe("syncOnce() into SQLite", () => {
  test("continues at the page at which it was killed", async () => {
    const api = await serving(210);
    const place = aPlace();
    await killedSync(aClientKilledAt(api, 2), place, recordsOnly);
    const client = aClient(api);
    await sync(client, place, recordsOnly);
    expect(client.asked).toHaveLength(2);
    expect(place.contents().opportunities).toEqual((await served(api)).opportunities);
  });
});

/** A server that has `/events.json`, with an import of a history between two requests of a client. */
describe("syncOnce() with the events of many records at once", () => {
  const sources = (n: number) => ({ code: n % 2 ? "SAM" : "SBIR", opportunity_id: `N${n}` });
  const anImported = (n: number, summary: string) => ({
    ...{ source: sources(n), type: "status_changed", severity: "noise", summary, changed_fields: ["status"] },
    changes: [{ field: "status", previous: "open", current: "closed" }],
    detected_at: "2020-01-01T00:00:00Z",
  });

  test("asks once for the histories of each page, and once for what was stored since", async () => {
    const api = await serving(250);
    const place = aPlace();
    const first = aClient(api, withEvents(api));
    expect(await sync(first, place)).toMatchObject({ records: 250, events: 250 });
    expect(first.asked.map((path) => path.replace(/\?.*/, ""))).toEqual([
      "/events.json",
      ...["/opportunities", "/events.json", "/opportunities", "/events.json", "/opportunities", "/events.json", "/events.json"],
    ]);
    expect(place.contents()).toEqual(await served(api));
    await publish(api, 0, 100, "Changed");
    const second = aClient(api, withEvents(api));
    expect(await sync(second, place)).toMatchObject({ records: 100, events: 200 });
    expect(second.asked).toHaveLength(3);
    const third = aClient(api, withEvents(api));
    expect(await sync(third, place)).toMatchObject({ records: 0, events: 0 });
    expect(third.asked).toHaveLength(2);
    expect(place.contents()).toEqual(await served(api));
  });

  test("gets what import events adds to a record that does not change, and erased contacts", async () => {
    const api = await serving(30);
    const catalog = await aCatalog(api.model.db);
    const place = aPlace();
    await sync(aClient(api, withEvents(api)), place);
    await catalog.takeEvents([anImported(3, "Ann Zqx, zqx@example.gov"), anImported(4, "Another")]);
    expect(await sync(aClient(api, withEvents(api)), place)).toMatchObject({ records: 0, events: 2 });
    expect(place.contents()).toEqual(await served(api));
    await catalog.takeEvents([
      {
        ...anImported(5, "Mail"),
        changed_fields: ["contacts"],
        changes: [{ field: "contacts", previous: [], current: [{ name: "Zqx" }] }],
      },
    ]);
    await sync(aClient(api, withEvents(api)), place);
    api.clock.now += 1000;
    await redactStored(api.model.db, undefined, api.clock.now);
    expect((await sync(aClient(api, withEvents(api)), place)).records).toBeGreaterThan(0);
    expect(place.contents()).toEqual(await served(api));
  });

  test("misses nothing that is imported between any two of its requests, records or histories", async () => {
    const api = await serving(201);
    const catalog = await aCatalog(api.model.db);
    const place = aPlace();
    let n = 0;
    const importing = (request: Request) => {
      const respond = withEvents(api)(request);
      return respond.then(async (response) => {
        n++;
        await publish(api, 195 + n, 201 + n, `New or changed after request ${n}`);
        await catalog.takeEvents([anImported(1, `After ${n}`), anImported(195 + n, `After ${n}`), anImported(200 - n, `After ${n}`)]);
        return response;
      });
    };
    for (let poll = 0; poll < 4; poll++) await sync(aClient(api, importing), place);
    expect(n).toBeGreaterThan(16);
    await sync(aClient(api, withEvents(api)), place);
    expect(place.contents()).toEqual(await served(api));
  });

  test("can be killed at any request, while records and histories are imported", async () => {
    const api = await serving(101);
    const catalog = await aCatalog(api.model.db);
    for (let n = 1, killed = true; killed; n++) {
      const place = aPlace();
      for (const round of ["first walk", "poll"]) {
        killed = await killedSync(aClientKilledAt(api, n, withEvents(api)), place, everything);
        await publish(api, n, n + 3, `Changed after ${n} in the ${round}`);
        await catalog.takeEvents([anImported(n, `Killed at ${n} in ${round}`), anImported(90, `Killed at ${n} in ${round}`)]);
        if (round === "poll") await sync(aClient(api, withEvents(api)), place);
      }
      await sync(aClient(api, withEvents(api)), place);
      expect(place.contents()).toEqual(await served(api));
    }
  });

  test("reads all events once if the copy began without them, or the server was restored", async () => {
    const api = await serving(30);
    const catalog = await aCatalog(api.model.db);
    const place = aPlace();
    await sync(aClient(api), place); // A server that has only /v1.
    await catalog.takeEvents([anImported(3, "Unseen")]);
    expect(await sync(aClient(api, withEvents(api)), place)).toMatchObject({ records: 0, events: 1 });
    expect(place.contents()).toEqual(await served(api));
    await api.model.db.run(rawSql("update events set seq = seq + 1000"));
    const client = aClient(api, withEvents(api));
    await catalog.takeEvents([anImported(4, "After the restore")]);
    expect(await sync(client, place)).toMatchObject({ records: 0, events: 1 });
    expect(client.asked).toHaveLength(3);
    expect(place.contents()).toEqual(await served(api));
  });

  test.each([
    ["a sign-in page", () => new Response("<html>", { status: 303, headers: { Location: "/sign-in" } })],
    ["no key that it knows", () => new Response("Send a key", { status: 401 })],
    ["another host", () => new Response("This address is not served here.", { status: 421 })],
  ])("asks for each history on its own if beside the API is %s", async (_, other) => {
    const api = await serving(3);
    const place = aPlace();
    const client = aClient(api, (request) => (request.url.includes("/events.json") ? other() : api.fetch(request)));
    expect(await sync(client, place)).toMatchObject({ records: 3, events: 3 });
    expect(client.asked).toHaveLength(1 + 1 + 3);
    expect(place.contents()).toEqual(await served(api));
  });
});

describe("syncOnce() to standard output", () => {
  test("prints each record and its history, and keeps the mark for the next run", async () => {
    const api = await serving(101);
    const printed: string[] = [];
    const store = openPrintingStore((line) => void printed.push(`${line}\n`));
    await syncOnce({ ...aClient(api), ...everything, store });
    expect(contentsOfLines(printed.join(""))).toEqual(await served(api));
    printed.length = 0;
    await publish(api, 5, 6, "Changed");
    await syncOnce({ ...aClient(api), store });
    expect(printed.map((line) => JSON.parse(line).title)).toEqual(["Changed 5\u2028"]);
  });
});
