/** `fundfeed status`: how the jobs of `up` went, from the file that it leaves. */
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLockedIn, tryLockIn } from "../../db/sqlite/lock.ts";
import { type JobState, saveJobs } from "../../src/team/job-file.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

const locks = new DisposableStack();
afterAll(() => {
  locks.dispose();
  dropScratch();
});

const NOW = Date.parse("2026-11-23T12:00:00Z");
const MINUTE = 60_000;
const aJob = (job: Partial<JobState>): JobState => ({
  name: "index",
  every_ms: 10 * MINUTE,
  state: "waiting",
  next_at: NOW + 7 * MINUTE,
  started_at: NOW - 3 * MINUTE,
  took_ms: 1500,
  result: "ok",
  succeeded_at: NOW - 3 * MINUTE,
  failed_at: null,
  error: null,
  failures: 0,
  ...job,
});
const JOBS: readonly JobState[] = [
  aJob({}),
  aJob({
    name: "pull grants-gov-details",
    result: "failed",
    error: `Cannot fetch it: ${"no answer ".repeat(12)}`,
    failed_at: NOW - 59 * MINUTE,
  }),
  aJob({ name: "pull sam-gov", state: "running", result: null, took_ms: null }),
  aJob({ name: "watch", started_at: null, took_ms: null, result: null, next_at: NOW - 1 }),
];

/** A data directory in which `up` runs, or has run. */
function aDirectoryOf(jobs: readonly JobState[], isUp: boolean): string {
  const data = aDirectory();
  saveJobs(data, jobs);
  if (isUp) locks.use(tryLockIn(data, "up")); // Otherwise the garbage collector releases it.
  return data;
}
const status = (data: string, ...more: string[]) => fundfeed(["status", "--data", data, ...more], {}, () => NOW);

test("a running up: one line for each job, and why one failed, in 80 columns; exit 1", async () => {
  const { code, out, err } = await status(aDirectoryOf(JOBS, true));
  expect([code, err]).toEqual([1, ""]);
  expect(out).toBe(`job                      last run       result    took      next run
index                    3 minutes ago  ok        1 second  in 7 minutes
pull grants-gov-details  3 minutes ago  failed    1 second  in 7 minutes
pull sam-gov             3 minutes ago  runs now  –         –
watch                    –              –         –         soon

pull grants-gov-details failed 59 minutes ago: Cannot fetch it: no answer no
answer no answer no answer no answer no answer no answer no answer no answer no
answer no answer no answer
`);
});

test("a running up without failures: exit 0", async () => {
  expect((await status(aDirectoryOf([aJob({ failed_at: NOW - 1, error: "once" })], true))).code).toBe(0);
});

test("without a running up, what runs was stopped and nothing comes next; exit 1", async () => {
  const data = aDirectoryOf(JOBS.slice(2, 3), false);
  expect(await status(data)).toEqual({
    code: 1,
    out: "job           last run       result   took  next run\npull sam-gov  3 minutes ago  stopped  –     –\n",
    err: `fundfeed up does not run on ${data}\n`,
  });
});

test("a directory in which up has never run stays as it is; exit 1", async () => {
  const data = join(aDirectory(), "none");
  expect(await status(data)).toEqual({ code: 1, out: "No job has run yet\n", err: `fundfeed up does not run on ${data}\n` });
  expect(existsSync(data)).toBe(false);
});

test("--json has instants and seconds", async () => {
  const { out } = await status(aDirectoryOf(JOBS.slice(0, 1), true), "--json");
  expect(JSON.parse(out)).toEqual({
    running: true,
    jobs: [
      {
        name: "index",
        every_seconds: 600,
        state: "waiting",
        started_at: "2026-11-23T11:57:00.000Z",
        took_seconds: 1.5,
        result: "ok",
        succeeded_at: "2026-11-23T11:57:00.000Z",
        failed_at: null,
        error: null,
        failures: 0,
        next_at: "2026-11-23T12:07:00.000Z",
      },
    ],
  });
});

test("looking for the lock leaves it free", () => {
  const data = aDirectory();
  expect(isLockedIn(data, "up")).toBe(false);
  const lock = tryLockIn(data, "up");
  expect([isLockedIn(data, "up"), tryLockIn(data, "up")]).toEqual([true, undefined]);
  lock?.[Symbol.dispose]();
  expect([isLockedIn(data, "up"), tryLockIn(data, "up") === undefined]).toEqual([false, false]);
});
