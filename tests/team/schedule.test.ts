/** Which jobs `up` has, and which backups it keeps. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { upstreams } from "../../src/pull/upstreams.ts";
import { defaultPulls, jobsOf, type ScheduleOptions } from "../../src/team/schedule.ts";
import { DAY_MS, HOUR_MS } from "../../src/text/instant.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const NOW = Date.parse("2026-11-23T12:00:00.123Z");
const options = (more: Partial<ScheduleOptions>): ScheduleOptions => ({
  pulls: new Map(),
  watchEvery: 0,
  hasWatches: () => true,
  backupEvery: DAY_MS,
  ...more,
});
const jobs = (more: Partial<ScheduleOptions>, commits = () => 1) => jobsOf(options(more), () => NOW, commits);

test("by default every source is pulled, by one upstream of each, and no more often than every six hours", () => {
  const pulled = defaultPulls({});
  expect(Object.fromEntries(Array.from(pulled, ([name, ms]) => [name, ms / HOUR_MS]))).toEqual({
    "grants-gov": 6,
    "sam-gov": 24,
    "sbir-gov": 12,
    dsip: 12,
    darpa: 24,
    "nasa-nspires": 24,
    "nasa-roses": 24,
  });
});

test("an upstream that needs a key is pulled if the key is there", () => {
  const keyed = upstreams.filter(({ keyFrom, everyMs }) => keyFrom !== undefined && everyMs !== undefined);
  expect(keyed.map(({ name }) => name)).toContain("sam-gov-api");
  for (const { name, keyFrom = "" } of keyed) {
    expect([defaultPulls({ [keyFrom]: " " }).has(name), defaultPulls({ [keyFrom]: "secret" }).has(name)]).toEqual([false, true]);
  }
});

test("pulls and backups are in one queue", () => {
  const all = jobs({ pulls: new Map([["dsip", HOUR_MS]]), watchEvery: HOUR_MS, backups: "b" });
  expect(all.map(({ name, queue, everyMs }) => [name, queue, everyMs])).toEqual([
    ["index", "index", HOUR_MS / 6],
    ["pull dsip", "import", HOUR_MS],
    ["watch", "watch", HOUR_MS],
    ["backup", "import", DAY_MS],
  ]);
  expect(jobs({}).map(({ name }) => name)).toEqual(["index"]);
});

test("a backup has the time in its name; after it, the newest fourteen are kept, and what is not a backup", () => {
  const directory = join(aDirectory(), "new", "b");
  const backup = jobs({ backups: directory }).find(({ name }) => name === "backup");
  expect(backup?.args()).toEqual(["backup", join(directory, "2026-11-23T120000Z")]);
  const days = Array.from({ length: 16 }, (_, n) => `2026-11-${String(n + 1).padStart(2, "0")}T031700Z`);
  const ofAClockAhead = days.map((day) => day.replace("2026", "2028"));
  const others = ["before-upgrade", "2026-11-01", "daily", ...ofAClockAhead];
  for (const name of [...days, ...others, "2026-11-20T000000Z.partial"]) mkdirSync(join(directory, name), { recursive: true });
  backup?.onSuccess?.();
  expect(readdirSync(directory).sort()).toEqual([...days.slice(2), ...others].sort());
});

test("a commit to the catalog wakes the index; without notice of commits it looks each minute", () => {
  let commits = 1;
  const [index] = jobs({}, () => commits);
  expect(index?.isWanted?.()).toBe(true);
  index?.args();
  expect(index?.isWanted?.()).toBe(false);
  commits++;
  expect(index?.isWanted?.()).toBe(true);
  const [unnoticed] = jobs({}, () => Number.NaN);
  expect([unnoticed?.isWanted, unnoticed?.everyMs]).toEqual([undefined, HOUR_MS / 60]);
});
