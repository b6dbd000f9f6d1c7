/** Jobs: when they run, and what becomes of those that fail, hang or print too much. Shell scripts stand in for the program. */
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { familiesText } from "../../src/monitoring/families.ts";
import { readJobs, saveJobs } from "../../src/team/job-file.ts";
import { createJobs, type Job } from "../../src/team/jobs.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/text/instant.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { runs as isRunning } from "../support/processes.ts";
import { waitFor } from "../support/wait-for.ts";

type Jobs = ReturnType<typeof createJobs>;

const START = Date.parse("2026-11-23T12:00:00Z");

type Bench = {
  jobs: Jobs;
  /** Moves the clock, and lets what is due start. */
  at: (ms: number) => void;
  /** Waits until a job has ended so many runs. */
  ended: (name: string, runs: number) => Promise<void>;
  stateOf: (name: string) => ReturnType<Jobs["states"]>[number];
  lines: string[];
  failures: string[];
  data: string;
};

const benches: Jobs[] = [];
afterEach(async () => {
  for (const jobs of benches.splice(0)) await jobs.stop(true);
  dropScratch();
});

function aBench(scripts: readonly (Partial<Job> & { name: string; script: string })[], data = aDirectory(), from = START): Bench {
  const clock = { now: from };
  const [lines, failures]: [string[], string[]] = [[], []];
  const ended = new Map<string, number>();
  const jobs = createJobs(
    scripts.map(({ script, ...job }) => ({ args: () => [script], everyMs: HOUR_MS, limitMs: HOUR_MS, queue: job.name, ...job })),
    {
      command: ["/bin/sh", "-c"],
      env: { PATH: process.env.PATH },
      now: () => clock.now,
      onLine: (job, line) => lines.push(`${job}: ${line}`),
      onFailure: (message) => failures.push(message),
      saved: readJobs(data),
      save: (states) => {
        saveJobs(data, states);
        for (const { name, state } of states) {
          const runs = [
            ...familiesText(jobs?.families() ?? []).matchAll(new RegExp(`runs_total\\{job_name="${name}",result="\\w+"\\} (\\d+)`, "g")),
          ];
          if (state !== "running")
            ended.set(
              name,
              runs.reduce((sum, [, count]) => sum + Number(count), 0),
            );
        }
      },
      graceMs: 50,
    },
  );
  benches.push(jobs);
  return {
    jobs,
    lines,
    failures,
    data,
    at: (ms) => {
      clock.now = from + ms;
      jobs.tick();
    },
    ended: async (name, runs) => void (await waitFor(`${name} has ended ${runs} runs`, () => ended.get(name) === runs)),
    stateOf: (name) => jobs.states().find((state) => state.name === name) as ReturnType<Jobs["states"]>[number],
  };
}

test("a job runs at the start and then by its period, and its output is logged", async () => {
  const { at, ended, stateOf, lines } = aBench([{ name: "a", script: "echo out; echo $FUNDFEED_CHILD $BUN_JSC_useFTLJIT >&2" }]);
  at(0);
  await ended("a", 1);
  expect(stateOf("a")).toMatchObject({ state: "waiting", result: "ok", next_at: START + HOUR_MS, succeeded_at: START, error: null });
  at(HOUR_MS - 1);
  expect(stateOf("a").state).toBe("waiting");
  at(HOUR_MS);
  await ended("a", 2);
  expect(lines.sort()).toEqual(["a: a 0", "a: a 0", "a: out", "a: out"]);
});

test("exit code 3, some records rejected, is a success", async () => {
  const { at, ended, stateOf, failures } = aBench([{ name: "a", script: "exit 3" }]);
  at(0);
  await ended("a", 1);
  expect([stateOf("a").result, failures]).toEqual(["ok", []]);
});

test("a failed job runs again after a minute, then after two, up to its period, and by its period after a success", async () => {
  const { at, ended, stateOf, failures, data } = aBench([
    { name: "a", script: "test -e ok || { echo 'Cannot do it' >&2; exit 1; }", everyMs: 5 * MINUTE_MS },
  ]);
  const pauses: number[] = [];
  let time = 0;
  at(time);
  for (let run = 1; run <= 5; run++) {
    await ended("a", run);
    pauses.push(stateOf("a").next_at - START - time);
    time = stateOf("a").next_at - START;
    at(time);
  }
  expect(pauses).toEqual([1, 2, 4, 5, 5].map((minutes) => minutes * MINUTE_MS));
  expect(failures[0]).toBe("The job a failed: Cannot do it. It runs again in 60 seconds");
  expect(readJobs(data)[0]).toMatchObject({ failures: 5, error: "Cannot do it" });
});

test("a program that cannot be started is a failure", async () => {
  const { at, ended, stateOf, jobs } = aBench([
    {
      name: "a",
      script: "",
      args: () => {
        throw new Error("no such program");
      },
    },
  ]);
  at(0);
  await ended("a", 1);
  expect(stateOf("a")).toMatchObject({ result: "failed", error: "no such program" });
  expect(familiesText(jobs.families())).toContain('fundfeed_job_runs_total{job_name="a",result="failed"} 1');
});

test("a crash is reported with its signal, and harms no other job", async () => {
  const { at, ended, stateOf } = aBench([
    { name: "a", script: "kill -SEGV $$" },
    { name: "b", script: "true" },
  ]);
  at(1000);
  await Promise.all([ended("a", 1), ended("b", 1)]);
  expect(stateOf("a")).toMatchObject({ result: "failed", error: "It was ended by SIGSEGV" });
  expect(stateOf("b").result).toBe("ok");
});

test("a job that hangs and ignores SIGTERM is killed after its limit, with what it has started", async () => {
  const data = aDirectory();
  const pid = join(data, "pid");
  const { at, ended, stateOf } = aBench(
    [{ name: "a", script: `trap '' TERM; sleep 1000 & echo $! > ${pid}; wait; sleep 1000`, limitMs: 5000 }], // Within that the shell has begun, also on a busy machine.
    data,
  );
  at(0);
  await ended("a", 1);
  expect(stateOf("a")).toMatchObject({ result: "failed", error: "It took longer than 5 seconds, and was ended" });
  const grandchild = Number(readFileSync(pid, "utf8"));
  await waitFor("the grandchild has ended", () => !isRunning(grandchild));
});

test("a grandchild that keeps the pipe open is not waited for", async () => {
  const data = aDirectory();
  const pid = join(data, "pid");
  const { at, ended, stateOf } = aBench([{ name: "a", script: `sleep 1000 & echo $! > ${pid}` }], data);
  at(0);
  await ended("a", 1);
  const grandchild = Number(readFileSync(pid, "utf8"));
  expect([stateOf("a").result, isRunning(grandchild)]).toEqual(["ok", true]);
  process.kill(grandchild, "SIGKILL");
});

test("a line of 50 MB is cut", async () => {
  const { at, ended, lines } = aBench([{ name: "a", script: "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end" }]);
  at(0);
  await ended("a", 1);
  expect(lines.map((line) => line.length)).toEqual([10_003, 6]);
});

test("jobs of one queue run one after another", async () => {
  const slow = 'while ! test -e "$0"; do sleep 0.02; done';
  const data = aDirectory();
  const gate = join(data, "gate");
  const { at, ended, stateOf } = aBench(
    [
      { name: "a", script: slow.replace("$0", gate), queue: "import" },
      { name: "b", script: "true", queue: "import" },
      { name: "c", script: "true" },
    ],
    data,
  );
  at(2000);
  await ended("c", 1);
  expect([stateOf("a").state, stateOf("b").state]).toEqual(["running", "due"]);
  await Bun.write(gate, "");
  await ended("a", 1);
  at(2000);
  await ended("b", 1);
});

test("a job that is not needed is not run", () => {
  const { at, stateOf } = aBench([{ name: "a", script: "true", isNeeded: () => false }]);
  at(0);
  expect(stateOf("a")).toMatchObject({ state: "waiting", started_at: null, next_at: START + HOUR_MS });
});

test("a restart runs only what is due, as if there had been none", async () => {
  const first = aBench([
    { name: "a", script: "true" },
    { name: "b", script: "exit 1" },
  ]);
  first.at(1000);
  await Promise.all([first.ended("a", 1), first.ended("b", 1)]);
  await first.jobs.stop();
  const second = aBench(
    [
      { name: "a", script: "true" },
      { name: "b", script: "exit 1" },
      { name: "c", script: "true" },
    ],
    first.data,
    START + 2000,
  );
  expect(second.stateOf("a")).toMatchObject({ next_at: START + 1000 + HOUR_MS, succeeded_at: START + 1000 });
  expect(second.stateOf("b").next_at).toBe(START + 1000 + MINUTE_MS);
  expect(second.stateOf("c").next_at).toBe(START + 4000);
});

test("a restart runs a job that runs at each start", async () => {
  const first = aBench([{ name: "a", script: "true", runsAtStart: true }]);
  first.at(0);
  await first.ended("a", 1);
  expect(aBench([{ name: "a", script: "true", runsAtStart: true }], first.data, START + 2000).stateOf("a").next_at).toBe(START + 2000);
});

test("a run that the end of the program cut off is no failure, and runs again a minute after its start", async () => {
  const first = aBench([{ name: "a", script: "sleep 1000" }]);
  first.at(0);
  await first.jobs.stop();
  expect(first.stateOf("a")).toMatchObject({ result: "stopped", failures: 0 });
  const second = aBench([{ name: "a", script: "true" }], first.data, START + 10);
  expect(second.stateOf("a").next_at).toBe(START + MINUTE_MS);
});

test("a run that was under way when the program was killed counts as cut off", () => {
  const first = aBench([{ name: "a", script: "sleep 1000" }]);
  first.at(0);
  expect(readJobs(first.data)[0]?.state).toBe("running");
  expect(aBench([{ name: "a", script: "true" }], first.data, START + 10).stateOf("a")).toMatchObject({
    state: "waiting",
    result: "stopped",
  });
});

test("a clock that was set back delays a job by no more than its period", async () => {
  const first = aBench([{ name: "a", script: "true" }]);
  first.at(0);
  await first.ended("a", 1);
  expect(aBench([{ name: "a", script: "true" }], first.data, START - 100 * HOUR_MS).stateOf("a").next_at).toBe(START - 99 * HOUR_MS);
});

test("a clock that is set back while the program runs delays a job by no more than its period", async () => {
  const { at, ended, stateOf } = aBench([{ name: "a", script: "true" }]);
  at(0);
  await ended("a", 1);
  at(-100 * HOUR_MS);
  at(-100 * HOUR_MS + MINUTE_MS);
  expect(stateOf("a").next_at).toBe(START - 99 * HOUR_MS);
  at(-99 * HOUR_MS);
  await ended("a", 2);
});

test.each(["", "[]", '{"jobs":[{"name":"a"}]}', '{"jobs":7}'])("a damaged file of jobs counts as none: %s", async (text) => {
  const data = aDirectory();
  await Bun.write(join(data, "jobs.json"), text);
  expect(readJobs(data)).toEqual([]);
});

test("stopping ends what runs, waits for it, and starts nothing more", async () => {
  const { at, jobs, stateOf } = aBench([
    { name: "a", script: "trap 'exit 0' TERM; while :; do sleep 0.02; done" },
    { name: "b", script: "trap '' TERM; while :; do sleep 0.02; done" },
  ]);
  at(1000);
  await jobs.stop();
  expect(jobs.states().map(({ state, result }) => [state, result])).toEqual([
    ["waiting", "stopped"],
    ["waiting", "stopped"],
  ]);
  at(5 * HOUR_MS);
  expect(stateOf("a").state).toBe("waiting");
});
