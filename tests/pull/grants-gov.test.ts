import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { grantsGovSearch } from "../../src/pull/grants-gov.ts";
import { savePages } from "../../src/pull/pages.ts";
import type { Visit } from "../../src/pull/visit.ts";
import { fewOf } from "../support/few-grants.ts";
import { aDirectory, contentsOf, documentOf, dropScratch } from "../support/imports.ts";
import { realJson } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";
import { zipArchive } from "../support/zip-archive.ts";
import { type Asked, aNet, aPuller, extractOf, play } from "./upstream.ts";

afterAll(dropScratch);

/** A tenth of the opportunities, because it does not matter here what they are. */
const tenthOf = (day: string) => extractOf(day, (text) => fewOf(text, 10));
const EXTRACT = tenthOf("20260730");
const ZIP = { "content-type": "application/zip", etag: '"a"', "last-modified": "Thu, 30 Jul 2026 08:00:00 GMT" };

/** Publishes extracts by day, and says "unchanged" where that is so. */
function publishing(extracts: Record<string, Uint8Array>, headers: Record<string, string> = ZIP) {
  return play(({ path, headers: sent }) => {
    const bytes = extracts[/GrantsDBExtract(\d{8})v2\.zip$/.exec(path)?.[1] ?? ""];
    if (bytes === undefined) return undefined;
    return sent.get("if-none-match") === headers.etag ? new Response(null, { status: 304 }) : new Response(bytes, { headers });
  });
}

const daysAsked = (asked: readonly Asked[]) => asked.map(({ path }) => /\d{8}/.exec(path)?.[0]);

describe("pull grants-gov", () => {
  test("walks back to the newest extract and imports it as a snapshot", async () => {
    const upstream = publishing({ "20260730": extractOf("20260730") });
    const puller = aPuller("grants-gov");

    const outcome = await puller.turn(`${upstream.base}extracts/`);

    expect(daysAsked(upstream.asked)).toEqual(["20260803", "20260802", "20260801", "20260731", "20260730"]);
    expect(outcome).toMatchObject({ read: 494, added: 494, rejected: 0 });
    expect(await puller.db.all(rawSql("select format, snapshot from imports"))).toEqual([{ format: "grants-gov", snapshot: 1 }]);
    expect(readdirSync(puller.directory).filter((name) => name.startsWith(".pull"))).toEqual([]);
  });

  test("uses the date in the Eastern time zone", async () => {
    const upstream = publishing({ "20260802": EXTRACT });
    const puller = aPuller("grants-gov");
    puller.clock.now = Date.UTC(2026, 7, 3, 2);

    await puller.turn(upstream.base);

    expect(daysAsked(upstream.asked)).toEqual(["20260802"]);
  });

  test("asks for the extract of every day in the hour after daylight saving time has begun", async () => {
    const upstream = publishing({ "20260307": EXTRACT, "20260308": EXTRACT });
    const puller = aPuller("grants-gov");
    puller.clock.now = Date.UTC(2026, 2, 9, 4, 30);
    await puller.turn(upstream.base);
    expect(await puller.turn(upstream.base)).toBeUndefined();
    expect(daysAsked(upstream.asked)).toEqual(["20260309", "20260308", "20260309", "20260308"]);
  });

  test("imports no older extract than the one it has, even if the clock is set back", async () => {
    const upstream = publishing({ "20260730": EXTRACT, "20260802": EXTRACT });
    const puller = aPuller("grants-gov");
    await puller.turn(upstream.base);
    puller.clock.now -= 3 * 86_400_000;
    expect(await puller.turn(upstream.base)).toBeUndefined();
    expect(daysAsked(upstream.asked)).toEqual(["20260803", "20260802"]);
  });

  test("imports nothing if the newest extract was imported last", async () => {
    const upstream = publishing({ "20260802": EXTRACT });
    const puller = aPuller("grants-gov");
    const first = await puller.turn(upstream.base);
    const before = await contentsOf(puller.db);

    expect(await puller.turn(upstream.base)).toBeUndefined();

    expect(upstream.asked.at(-1)?.headers.get("if-none-match")).toBe('"a"');
    expect(upstream.asked.at(-1)?.headers.get("if-modified-since")).toBe("Thu, 30 Jul 2026 08:00:00 GMT");
    expect(await contentsOf(puller.db)).toBe(before);
    expect(await puller.turn(upstream.base, { force: true })).toMatchObject({ unchanged: first?.added, changed: 0 });
  });

  test("never imports an extract older than the last one, even if that is gone", async () => {
    const puller = aPuller("grants-gov");
    const extracts: Record<string, Uint8Array> = { "20260802": EXTRACT, "20260801": tenthOf("20260726") };
    const upstream = publishing(extracts);
    await puller.turn(upstream.base);
    delete extracts["20260802"];

    expect(await puller.turn(upstream.base)).toBeUndefined();
    expect(daysAsked(upstream.asked)).toEqual(["20260803", "20260802", "20260803", "20260802"]);
  });

  test("imports the next extract, and stores that one as the last", async () => {
    const puller = aPuller("grants-gov");
    const extracts: Record<string, Uint8Array> = { "20260802": EXTRACT };
    const upstream = publishing(extracts);
    await puller.turn(upstream.base);
    extracts["20260803"] = tenthOf("20260803");

    expect(await puller.turn(upstream.base)).toMatchObject({ rejected: 0, changed: expect.any(Number) });
    expect(await puller.turn(upstream.base)).toBeUndefined();
    expect(daysAsked(upstream.asked)).toEqual(["20260803", "20260802", "20260803", "20260803"]);
  });

  test("fails for a snapshot that would remove too much, and downloads it again the next time", async () => {
    const puller = aPuller("grants-gov");
    const extracts: Record<string, Uint8Array> = { "20260802": tenthOf("20250821") };
    const upstream = publishing(extracts);
    await puller.turn(upstream.base);
    const before = await contentsOf(puller.db);
    extracts["20260803"] = EXTRACT;

    await expect(puller.turn(upstream.base, { allowRemovals: false })).rejects.toThrow("more than 20 %");
    expect(await contentsOf(puller.db)).toBe(before);
    expect(await puller.turn(upstream.base)).toMatchObject({ removed: expect.any(Number) });
  });

  test("fails if there has been no extract for a week", async () => {
    const upstream = publishing({});
    const puller = aPuller("grants-gov");

    await expect(puller.turn(upstream.base)).rejects.toThrow(`Cannot find an extract of the last 7 days at ${upstream.base}`);
    expect(daysAsked(upstream.asked)).toHaveLength(8);
  });

  test.each([
    [
      "a page that tells of maintenance",
      new Response("<html>Down for maintenance</html>", { headers: { "content-type": "text/html" } }),
      "it has the content type text/html, not application/zip",
    ],
    ["such a page that calls itself a zip", new Response("<html>Down</html>", { headers: ZIP }), "root element is html"],
    ["a damaged zip", new Response(EXTRACT.subarray(0, 9_000), { headers: ZIP }), "End of central directory record signature not found"],
    [
      "a zip without XML",
      new Response(zipArchive("readme.txt", Buffer.from("nothing to see")), { headers: ZIP }),
      "it holds no entry like",
    ],
  ])("changes nothing if the extract is %s", async (_, answer, reason) => {
    const puller = aPuller("grants-gov");
    const before = await contentsOf(puller.db);

    await expect(puller.turn(play(() => answer).base)).rejects.toThrow(reason);

    expect(await contentsOf(puller.db)).toBe(before);
    expect(await puller.db.get(rawSql("select count(*) as count from imports"))).toEqual({ count: 0 });
    expect(await puller.db.all(rawSql("select name from settings where name like 'pulled%'"))).toEqual([]);
    expect(readdirSync(puller.directory).filter((name) => name.startsWith(".pull"))).toEqual([]);
  });
});

describe("pull grants-gov-search", () => {
  type Answer = { errorcode: number; msg: string; data: { hitCount: number; oppHits: { id: string }[] } };
  const real = realJson<Answer>("grants-gov/derived/search2-20260803.reconstructed.json");

  /** Gives at most 200 hits at once, whatever is asked for. */
  function searching(change: (answer: Answer, turn: number) => unknown = (answer) => answer) {
    return play(({ path, body }, turn) => {
      if (path !== "/search2") return undefined;
      const { startRecordNum } = body as { startRecordNum: number };
      const oppHits = real.data.oppHits.slice(startRecordNum, startRecordNum + 200);
      return Response.json(change({ ...real, data: { ...real.data, oppHits } }, turn));
    });
  }

  test("imports all pages of the search, whose records must match its count", async () => {
    const upstream = searching();
    const puller = aPuller("grants-gov-search");

    expect(await puller.turn(upstream.base)).toMatchObject({ read: 485, added: 485, rejected: 0 });

    expect(upstream.asked.map(({ body }) => body)).toEqual(
      [0, 200, 400].map((startRecordNum) => ({
        keyword: "",
        oppStatuses: "forecasted|posted",
        rows: 1000,
        startRecordNum,
        sortBy: "openDate|desc",
      })),
    );
  });

  test.each([
    [
      "a hit is missing",
      (answer: Answer) => ({ ...answer, data: { ...answer.data, hitCount: 486 } }),
      "it states a total of 486, but its pages have 485",
    ],
    [
      "pages repeat",
      (answer: Answer) => ({ ...answer, data: { ...answer.data, oppHits: real.data.oppHits.slice(0, 200) } }),
      "its pages have 200",
    ],
    ["there is no count", ({ data: { oppHits } }: Answer) => ({ errorcode: 0, data: { oppHits } }), "its pages have 200"],
    ["it fails inside of a 200", () => ({ errorcode: 5, msg: "Webservice Error" }), "it has the error code 5 (Webservice Error)"],
    ["it says something else", () => ["maintenance"], "error code"],
    ["it says too much", () => ({ errorcode: 5, msg: "x".repeat(1e6) }), /\(x{200}\)$/],
  ])("changes nothing when %s", async (_, change, reason) => {
    const puller = aPuller("grants-gov-search");
    await expect(puller.turn(searching(change).base)).rejects.toThrow(reason);
    expect(await puller.db.get(rawSql("select count(*) as count from imports"))).toEqual({ count: 0 });
  });
});

test.each([
  ["responses", 2, { requests: 19_998, jsonLength: 0 }],
  ["JSON", 1, { requests: 0, jsonLength: 1024 ** 3 - 50 }],
])("a search whose upstream always has another page ends: too much %s", async (_, asked, soFar) => {
  const upstream = play((_, turn) => Response.json({ errorcode: 0, data: { hitCount: 1e9, oppHits: [{ id: turn }] } }));
  const visit: Visit = {
    net: aNet(upstream.base),
    directory: aDirectory(),
    base: new URL(upstream.base),
    key: undefined,
    known: undefined,
    ...soFar,
  };
  const read = savePages(visit, grantsGovSearch(visit));
  await expect(read).rejects.toThrow("it has more than 20,000 responses, or more than 1 GiB of JSON");
  expect(upstream.asked).toHaveLength(asked);
});

describe("pull grants-gov-details", () => {
  test("fetches the details of every hit", async () => {
    const details = { errorcode: 0, data: realJson<object>("grants-gov/opportunity-details-358302.json") };
    const upstream = play(({ path }) => {
      const hits = { errorcode: 0, data: { hitCount: 1, oppHits: [{ id: "358302" }] } };
      return Response.json(path === "/search2" ? hits : details);
    });
    const puller = aPuller("grants-gov-details");

    expect(await puller.turn(upstream.base)).toMatchObject({ read: 1, added: 1, rejected: 0 });

    expect(upstream.asked.map(({ path, body }) => [path, body])).toEqual([
      ["/search2", expect.anything()],
      ["/fetchOpportunity", { opportunityId: 358302 }],
    ]);
    expect((await documentOf(puller.db, "358302")).description).toBeString();
  });
});
