/** How many mails a search would have sent: the page says it before the watch is saved. */
import { afterAll, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS } from "../../src/text/instant.ts";
import { matchingIds } from "../../src/watch/matching.ts";
import { volumeInWords } from "../../src/watch/volume.ts";
import { dropScratch } from "../support/imports.ts";
import { aWatched } from "./watched.ts";

afterAll(dropScratch);

test("mails are judged by recent changes of what matches, and by when they are sent", async () => {
  const { db, clock, take, add, index } = await aWatched();
  const change = (id: string, n: number) =>
    take([{ source: { code: "OWN", opportunity_id: id }, title: id, status: "open", dates: { closes_at: `2030-01-${10 + n}T00:00:00Z` } }]);
  const begin = clock.now;
  await change("quiet", 0);
  await change("busy", 0);
  await add("all");
  const [quiet = "", busy = ""] = await matchingIds(db, index, { filter: {} }, begin);
  const words = (id: string, every?: string) => volumeInWords(db, [id], { at_least: "material", ...(every && { every }) }, clock.now);
  clock.now = begin + 3 * DAY_MS;
  expect(await words(busy)).toBe(""); // Three days tell nothing.
  for (const day of [10, 11, 12])
    for (const hour of [0, 2]) {
      clock.now = begin + day * DAY_MS + hour * HOUR_MS;
      await change("busy", day + hour);
    }
  clock.now = begin + 20 * DAY_MS;
  await change("new", 0);
  await add("later");
  clock.now = begin + 30 * DAY_MS;
  const added = (await matchingIds(db, index, { filter: {} }, clock.now)).find((id) => ![quiet, busy].includes(id)) ?? "";
  expect(await words(added)).toBe("; about 1 mail a month, judged by the last 30 days"); // What is new is reported whatever its severity.
  expect(await words(busy)).toBe("; about 6 mails a month, judged by the last 30 days");
  expect(await words(busy, "day 08:00")).toBe("; about 3 mails a month, judged by the last 30 days");
  expect(await words(busy, "monday 08:00")).toBe("; about 2 mails a month, judged by the last 30 days");
  clock.now = begin + 100 * DAY_MS;
  expect(await words(quiet)).toBe("; hardly any mails a month, judged by the last 90 days");
});
