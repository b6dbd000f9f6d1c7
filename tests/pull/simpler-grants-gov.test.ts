/** Pulls from the API of Grants.gov's successor, which a stand-in plays. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Exchange, recordingFetch } from "../../release/exchanges.ts";
import { checkCatalog } from "../../src/changes/check.ts";
import { grantsGov } from "../../src/import/formats/grants-gov/extract.ts";
import { importFiles } from "../../src/import/run.ts";
import { fetchSimplerGrantsGov } from "../../src/pull/simpler-grants-gov.ts";
import { upstreams } from "../../src/pull/upstreams.ts";
import type { Known, Visit } from "../../src/pull/visit.ts";
import { aDirectory, aFile, documentOf, documentsOf, dropScratch, eventsOf } from "../support/imports.ts";
import { legacyXml, type SimplerRecord, simplerRecords } from "../support/simpler-layouts.ts";
import { rawSql } from "../support/sql.ts";
import { zipArchive } from "../support/zip-archive.ts";
import { apiError, gatewayError, type Published, playSimpler, SIMPLER_KEY, simplerExtractOf } from "./simpler-server.ts";
import { type Asked, aNet, aPuller, play } from "./upstream.ts";

afterAll(dropScratch);

const DAY = 86_400_000;
const NOW = Date.parse("2026-06-17T12:00:00Z");

function aPull(published: Published, source = "simpler-grants-gov") {
  const upstream = playSimpler(published);
  const puller = aPuller(source);
  puller.clock.now = NOW;
  return {
    ...puller,
    upstream,
    run: (given: Parameters<typeof puller.turn>[1] = {}) =>
      puller.turn(upstream.base, { key: SIMPLER_KEY, allowRemovals: false, ...given }),
    /** What was asked since the last call: its path, and what of the body differs. */
    asked: () => upstream.asked.splice(0).map(wordsOf),
  };
}

function wordsOf({ method, path, body }: Asked): string {
  const { pagination, filters } = (body ?? {}) as {
    pagination?: { page_offset: number };
    filters?: { post_date?: { start_date: string } };
  };
  const period = filters?.post_date === undefined ? "" : ` from ${filters.post_date.start_date}`;
  return `${method} ${path}${path.endsWith("/search") ? ` ${pagination?.page_offset}${period}` : ""}`;
}

const isDetails = (words: string) => words.startsWith("GET /opportunities/");

const real = simplerRecords();
const aFileOf = (record: SimplerRecord, name = "a.pdf") => ({
  file_name: name,
  file_description: "",
  download_path: `https://files.simpler.grants.gov/opportunities/${record.opportunity_id}/attachments/1/${name}`,
});
const withSummary = (record: SimplerRecord, summary: object) => ({ ...record, summary: { ...record.summary, ...summary } });

describe("pull simpler-grants-gov", () => {
  test("imports the extract once, searches each time, and asks for details where something changed", async () => {
    const published: Published = { records: [...real], extract: simplerExtractOf(real, "2026-06-17") };
    const pull = aPull(published);
    expect(await pull.run()).toMatchObject({ read: 24 + 24 + 24, added: 24, merged: 48, rejected: 0, events: 24 });
    const first = pull.asked();
    expect(first.slice(0, 3)).toEqual([
      "POST /extracts",
      `GET /files/opportunity-data-extracts/${published.extract?.name}`,
      "POST /opportunities/search 1",
    ]);
    expect(first.slice(3).filter(isDetails)).toHaveLength(24);
    expect(await pull.db.all(rawSql("select format, snapshot from imports"))).toEqual([{ format: "grants-gov", snapshot: 1 }]);

    expect(await pull.run()).toMatchObject({ read: 24, unchanged: 24, events: 0 });
    expect(pull.asked()).toEqual(["POST /extracts", "POST /opportunities/search 1"]);

    const [one] = real as [SimplerRecord];
    const hasLists = ({ summary }: SimplerRecord) => Object.values(summary).some((value) => Array.isArray(value) && value.length > 1);
    const [two] = real.slice(1).filter(hasLists) as [SimplerRecord];
    published.records[0] = withSummary(one, { close_date: "2029-05-04" });
    published.records[real.indexOf(two)] = {
      ...two,
      summary: Object.fromEntries(
        Object.entries(two.summary).map(([name, value]) => [name, Array.isArray(value) ? value.toReversed() : value]),
      ),
    };
    expect(await pull.run()).toMatchObject({ changed: 1, events: 1 });
    expect(pull.asked().filter(isDetails)).toEqual([`GET /opportunities/${one.opportunity_id}`]);
    expect(await checkCatalog(pull.db)).toEqual([]);
  });

  test("asks for all details again on the next day, because the search does not show a file", async () => {
    const published: Published = { records: [...real] };
    const pull = aPull(published);
    await pull.run();
    const [one] = real as [SimplerRecord];
    published.records[0] = { ...one, attachments: [aFileOf(one)] };
    expect(await pull.run()).toMatchObject({ changed: 0 });
    pull.asked();
    pull.clock.now += DAY;
    expect(await pull.run()).toMatchObject({ changed: 1, events: 1 });
    expect(pull.asked().filter(isDetails)).toHaveLength(24);
    const events = await eventsOf(pull.db, String(one.legacy_opportunity_id));
    expect(events.at(-1)).toMatchObject({ type: "attachments_changed" });
    expect(await pull.run()).toMatchObject({ changed: 0 }); // The search has no files, and takes none away.
  });

  test("asks for 300 details at most, goes on with the others, and on later days first with those asked for longest ago", async () => {
    const pull = aPull({ records: manyRecords(310) });
    const detailsOfRun = async () => {
      await pull.run();
      return pull.asked().filter(isDetails);
    };
    const first = [await detailsOfRun(), await detailsOfRun(), await detailsOfRun()];
    expect(first.map((each) => each.length)).toEqual([300, 10, 0]);
    pull.clock.now += DAY;
    const second = await detailsOfRun();
    pull.clock.now += DAY;
    const third = await detailsOfRun();
    expect([second.length, third.length, new Set([...second, ...third]).size]).toEqual([300, 300, 310]);
  });

  test("asks for no details of forecasts", async () => {
    const [one, two] = real as [SimplerRecord, SimplerRecord];
    const pull = aPull({
      records: [{ ...withSummary(one, { is_forecast: true, close_date: null }), opportunity_status: "forecasted" }, two],
    });
    await pull.run();
    expect(pull.asked().filter(isDetails)).toEqual([`GET /opportunities/${two.opportunity_id}`]);
    expect((await documentOf(pull.db, String(one.legacy_opportunity_id))).status).toBe("forecast");
  });

  test("removes only what an extract lacks", async () => {
    const published: Published = { records: [...real], extract: simplerExtractOf(real, "2026-06-17") };
    const pull = aPull(published);
    await pull.run();
    const [gone] = published.records.splice(0, 1);
    expect(await pull.run()).toMatchObject({ removed: 0, events: 0 });
    pull.clock.now += DAY;
    published.extract = simplerExtractOf(published.records, "2026-06-18");
    expect(await pull.run()).toMatchObject({ removed: 1 });
    expect((await documentOf(pull.db, String(gone?.legacy_opportunity_id))).status).toBe("archived");
  });

  test("keeps what the search found after the extract was made", async () => {
    const [late, ...others] = real as [SimplerRecord, ...SimplerRecord[]];
    const [old = late] = others;
    // A forecast, for which no details are asked that would be newer still.
    const forecast = (forecasted_close_date: string) => ({
      ...withSummary(old, { is_forecast: true, close_date: null, forecasted_close_date }),
      opportunity_status: "forecasted",
    });
    const extract = simplerExtractOf([forecast("2027-01-01"), ...others.slice(1)], "2026-06-17");
    const pull = aPull({ records: [late, forecast("2027-02-02"), ...others.slice(1)], extract });
    expect(await pull.run()).toMatchObject({ added: 24, removed: 0 });
    expect((await documentOf(pull.db, String(late.legacy_opportunity_id))).status).not.toBe("archived");
    const { dates } = (await documentOf(pull.db, String(old.legacy_opportunity_id))) as never as { dates: { closes_at: string } };
    expect(dates.closes_at.slice(0, 10)).toBe("2027-02-02");
  });

  test("takes over a catalog of the XML extract, and gives it back, without an event", async () => {
    const published: Published = { records: [...real], extract: simplerExtractOf(real, "2026-06-17") };
    const pull = aPull(published);
    const importXml = () =>
      importFiles({ ...aContext(pull), directory: pull.directory }, grantsGov, { files: [aFile(legacyXml(real))], snapshot: true });
    expect(await importXml()).toMatchObject({ added: 24 });
    const before = await documentsOf(pull.db);
    for (const turn of [pull.run, importXml, () => pull.run({ force: true }), importXml])
      expect(await turn()).toMatchObject({ added: 0, changed: 0, removed: 0, rejected: 0, events: 0 });
    expect(await documentsOf(pull.db)).toEqual(before);
  });

  test("goes before the XML extract on the day on which it was pulled, and that one takes over if it fails", async () => {
    const upstream = upstreams.find(({ name }) => name === "grants-gov") ?? expect.unreachable();
    const files = play(({ path }) => {
      const xml = zipArchive("a.xml", Buffer.from(legacyXml(real)));
      return /^\/GrantsDBExtract2026061\dv2\.zip$/.test(path)
        ? new Response(Uint8Array.from(xml), { headers: { "content-type": "application/zip", etag: path } })
        : undefined;
    });
    const [one] = real as [SimplerRecord];
    const pull = aPull({ records: [withSummary(one, { close_date: "2029-05-04" }), ...real.slice(1)] });
    const pullXml = (given: object = {}) => pull.turn(files.base, { upstream, allowRemovals: false, ...given });
    await pull.run();
    expect(await pullXml()).toBeUndefined();
    expect([files.asked, pull.told]).toEqual([
      [],
      ["grants-gov: left out, because simpler-grants-gov had newer records at 2026-06-17T12:00:00.000Z; --force pulls it"],
    ]);
    expect(await pullXml({ force: true })).toMatchObject({ changed: 1 });
    expect(await pull.run()).toMatchObject({ changed: 1 });
    pull.clock.now += DAY;
    expect(await pullXml()).toMatchObject({ changed: 1 });
    pull.clock.now += DAY;
    await pull.run({ force: true });
    pull.clock.now -= DAY; // It was ahead.
    expect(await pullXml()).toMatchObject({ read: 24 });
  });

  test("sends the key to the API alone, and keeps a pace of 60 requests a minute", async () => {
    const pull = aPull({ records: [...real], extract: simplerExtractOf(real, "2026-06-17") });
    await pull.run({ net: { contact: "ann@example.org" } });
    for (const { path, headers } of pull.upstream.asked) {
      expect([path, headers.get("x-api-key")]).toEqual([path, path.startsWith("/files/") ? null : SIMPLER_KEY]);
      expect(headers.get("user-agent")).toContain("ann@example.org");
    }
    expect(pull.waits).toEqual(new Array(pull.upstream.asked.length - 1).fill(1000));
  });
});

describe("when something fails", () => {
  const pages = (turns: number[], response: () => Response): NonNullable<Published["before"]> => {
    let searches = 0;
    return ({ path }) => (path.endsWith("/search") && turns.includes(++searches) ? response() : undefined);
  };

  test.each([
    ["a gateway error", 1000, () => gatewayError(502, "Internal server error")],
    ["too many requests, which waits a minute", 61_000, () => gatewayError(429, "Too Many Requests")],
    ["too many requests with a time", 8000, () => new Response("{}", { status: 429, headers: { "retry-after": "7" } })],
  ])("it asks again after %s", async (_, ms, response) => {
    const pull = aPull({ records: [...real], before: pages([1], response) });
    expect(await pull.run()).toMatchObject({ added: 24 });
    expect(pull.waits.slice(1, 2)).toEqual([ms]);
  });

  test.each([
    [
      "403 for a wrong key",
      () => gatewayError(403, "Forbidden"),
      "it returned 403: the key may be wrong, or disabled because it was not used for 30 days",
    ],
    ["401 for no key", () => apiError(401, "Invalid API key"), "it returned 401: the key may be wrong"],
    ["422", () => apiError(422, "Validation error"), "it returned 422"],
    ["503 again and again", () => gatewayError(503, "Service Unavailable"), "it returned 503 (tried 5 times)"],
    ["a page of a person", () => new Response("<html>", { headers: { "content-type": "text/html" } }), "it has the content type text/html"],
  ])("nothing changes at %s", async (_, response, reason) => {
    const pull = aPull({ records: [...real], before: ({ path }) => (path.endsWith("/search") ? response() : undefined) });
    await expect(pull.run()).rejects.toThrow(reason);
    expect(await documentsOf(pull.db)).toEqual([]);
    expect(await pull.db.all(rawSql("select name from settings where name like 'pulled%'"))).toEqual([]);
  });

  test("no message has the key", async () => {
    const pull = aPull({ records: [], before: () => gatewayError(403, `Forbidden ${SIMPLER_KEY}`) });
    const exchanges: Exchange[] = [];
    const failure: Error = await pull.run({ net: { fetch: recordingFetch(exchanges, SIMPLER_KEY, () => 0) } }).then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(failure.message + JSON.stringify(exchanges)).not.toContain(SIMPLER_KEY);
    expect(exchanges).toMatchObject([{ headers: { "x-api-key": "…" } }]);
  });

  test("a search whose index was replaced between two pages is repeated, and refused in the end", async () => {
    const records = manyRecords(1500);
    const published: Published = { records: [...records] };
    let removed = false;
    published.before = ({ body }) => {
      const { pagination } = (body ?? {}) as { pagination?: { page_offset: number } };
      if (pagination?.page_offset === 2 && !removed) {
        published.records.splice(0, 600); // The second page begins 600 records later.
        removed = true;
      }
      return undefined;
    };
    const { records: found } = await fetched(published);
    expect(found).toBe(900);

    const swinging: Published = { records: [...records] };
    swinging.before = ({ body }) => {
      const { pagination } = (body ?? {}) as { pagination?: { page_offset: number } };
      swinging.records = pagination?.page_offset === 2 ? records.slice(600) : [...records];
      return undefined;
    };
    await expect(fetched(swinging)).rejects.toThrow("it states a total of 1500, but its pages have 1000");
  });

  test("details that fail leave the rest, with a warning, and are asked for by the next pull", async () => {
    let details = 0;
    const published: Published = {
      records: [...real],
      before: ({ path }) => (/^\/opportunities\/[0-9a-f]/.test(path) && ++details > 3 ? gatewayError(503, "") : undefined),
    };
    const pull = aPull(published);
    expect(await pull.run()).toMatchObject({ read: 24 + 3, added: 24, rejected: 0 });
    expect(pull.told.join()).toContain("it returned 503 (tried 5 times); the next pull asks for the details that are left");
    delete published.before;
    pull.asked();
    await pull.run();
    expect(pull.asked().filter(isDetails)).toHaveLength(21);
  });

  test("details of another opportunity are not taken, and are asked for again", async () => {
    const [one, two] = real as [SimplerRecord, SimplerRecord];
    const published: Published = {
      records: [one],
      before: ({ path }) => (path.endsWith(one.opportunity_id) ? Response.json({ data: two, status_code: 200 }) : undefined),
    };
    const pull = aPull(published);
    await pull.run();
    expect(pull.told.join()).toContain(`it is not the opportunity ${one.opportunity_id}`);
    expect(await documentsOf(pull.db)).toHaveLength(1);
    pull.asked();
    await pull.run();
    expect(pull.asked().filter(isDetails)).toHaveLength(1);
  });

  test("details of what was withdrawn meanwhile are left out", async () => {
    const [gone] = real.toSorted((one, other) => (one.opportunity_id < other.opportunity_id ? -1 : 1)) as [SimplerRecord];
    const pull = aPull({
      records: [...real],
      before: ({ path }) => (path.endsWith(gone.opportunity_id) ? apiError(404, "Could not find Opportunity") : undefined),
    });
    expect(await pull.run()).toMatchObject({ read: 24 + 23, added: 24, rejected: 0 });
    expect(pull.told).toEqual([]);
  });

  test("an extract of another size than announced is refused", async () => {
    const pull = aPull({ records: [...real], extract: { ...simplerExtractOf(real, "2026-06-17"), announcedBytes: 7 } });
    await expect(pull.run()).rejects.toThrow(/it has \d+ bytes, not 7 as announced/);
    expect(await documentsOf(pull.db)).toEqual([]);
  });

  test.each([
    ["the extract", 2],
    ["the search", 3],
    ["the details", 10],
    ["the last details", 27],
  ])("a pull that is stopped at %s stores nothing, and the next one everything", async (_, turn) => {
    const stop = new AbortController();
    const published: Published = {
      records: [...real],
      extract: simplerExtractOf(real, "2026-06-17"),
      before: (_, asked) => (asked === turn ? void stop.abort() : undefined),
    };
    const pull = aPull(published);
    await expect(pull.run({ net: { stop: stop.signal } })).rejects.toThrow("it was stopped");
    expect(await documentsOf(pull.db)).toEqual([]);
    pull.asked();
    expect(await pull.run()).toMatchObject({ read: 24 + 24 + 24, added: 24, events: 24 });
    expect(pull.asked()).toHaveLength(3 + 24);
  });

  test("a pull that is killed after its import, before it is noted, is repeated without an event", async () => {
    const pull = aPull({ records: [...real], extract: simplerExtractOf(real, "2026-06-17") });
    pull.db.sqlite.run("create trigger full before insert on settings when new.name like 'pulled%' begin select raise(abort, 'full'); end");
    await expect(pull.run()).rejects.toThrow("all records are stored, and the next pull downloads the same again");
    pull.db.sqlite.run("drop trigger full");
    expect(await pull.run()).toMatchObject({ added: 0, changed: 0, removed: 0, events: 0 });
    expect(await pull.run()).toMatchObject({ read: 24, unchanged: 24 });
  });

  test("an extract without most of the records is refused", async () => {
    const published: Published = { records: [...real], extract: simplerExtractOf(real, "2026-06-17") };
    const pull = aPull(published);
    await pull.run();
    published.records = real.slice(0, 5);
    published.extract = simplerExtractOf(published.records, "2026-06-18");
    await expect(pull.run()).rejects.toThrow("it would remove 19 of the 24 live GRANTS_GOV records");
  });
});

test("a search of more than 10,000 is asked for in periods", async () => {
  const { asked, rows, records } = await fetched({ records: manyRecords(10_500) });
  expect([rows, records]).toEqual([10_500, 10_500]);
  expect(asked.filter((each) => each.includes(" from ")).length).toBeGreaterThan(10);
});

/** Made of real records: with ids, numbers, days and texts of their own. */
function manyRecords(count: number): SimplerRecord[] {
  return Array.from({ length: count }, (_, index) => {
    const record = real[index % real.length] as SimplerRecord;
    return {
      ...record,
      opportunity_id: `${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`,
      legacy_opportunity_id: 1_000_000 + index,
      opportunity_number: `N-${index}`,
      summary: { is_forecast: count > 10_000, post_date: new Date(Date.UTC(2020, 0, 1) + (index % 2000) * DAY).toISOString().slice(0, 10) },
      opportunity_status: "posted",
    };
  });
}

/** What one visit fetches, without an import: the records of the search, and what was asked. */
async function fetched(published: Published, known?: Known): Promise<{ rows: number; records: number; asked: string[] }> {
  const upstream = playSimpler(published);
  const directory = join(aDirectory(), "visit");
  mkdirSync(directory);
  const visit: Visit = {
    net: aNet(upstream.base, { now: () => NOW }),
    directory,
    base: new URL(upstream.base),
    key: SIMPLER_KEY,
    known,
    requests: 0,
    jsonLength: 0,
  };
  const { files } = await fetchSimplerGrantsGov(visit);
  const ids: string[] = [];
  for (const file of files.filter((path) => /search-[^/]*$/.test(path)))
    for (const { opportunity_id } of ((await Bun.file(file).json()) as { data: SimplerRecord[] }).data) ids.push(opportunity_id);
  return { rows: ids.length, records: new Set(ids).size, asked: upstream.asked.map(wordsOf) };
}

function aContext({ db, clock }: Pick<ReturnType<typeof aPull>, "db" | "clock">) {
  return { db, now: () => clock.now, notify: () => undefined, progress: () => undefined };
}
