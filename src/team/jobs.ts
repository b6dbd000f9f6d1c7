/** Work on a schedule. Each run is a child process, so it takes no time from requests, and harms no other if it hangs or crashes. (E-67) */
import { backoffMs } from "../../clients/typescript/src/backoff.ts";
import { messageOf } from "../../db/reason.ts";
import { counter, type Family, gauge } from "../monitoring/families.ts";
import { type ChildProcess, startChild } from "../runtime/supervise.ts";
import { WITHOUT_FTL } from "../runtime/without-ftl.ts";
import { formatDuration } from "../text/in-words.ts";
import { type EpochMs, MINUTE_MS } from "../text/instant.ts";
import type { JobState, RunResult } from "./job-file.ts";

export type Job = {
  name: string;
  args: () => readonly string[];
  everyMs: number;
  limitMs: number;
  /** Jobs of one queue never run at the same time, because imports lock each other out, and two at once would need twice the memory. */
  queue: string;
  onSuccess?: () => void;
  isQuiet?: true;
  runsAtStart?: true;
  /** Whether it should run before its time, at most every `WANTED_EVERY_MS`. Ignored after a failure. */
  isWanted?: () => boolean;
  isNeeded?: () => boolean;
};

type Entry = { job: Job; state: JobState; counts: Record<RunResult, number>; child?: ChildProcess | undefined };

type JobDeps = {
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  now: () => EpochMs;
  onLine: (job: string, line: string) => void;
  onFailure: (message: string) => void;
  saved: readonly JobState[];
  save: (states: readonly JobState[]) => void;
  graceMs?: number;
};

/** After SIGTERM. Downloads end in milliseconds, an import after its chunk in half a second. */
const GRACE_MS = 10_000;
const RETRY_MS = MINUTE_MS;
const STAGGER_MS = 1000;
const WANTED_EVERY_MS = 10_000;
/** Servers on the same machine have priority. */
const NICENESS = 10;

/** Jobs on a schedule. `tick` is called every second, and starts the jobs that are due. */
export function createJobs(jobs: readonly Job[], { graceMs = GRACE_MS, ...deps }: JobDeps) {
  const { now, onLine, onFailure, save } = deps;
  const entries = jobs.map((job, n): Entry => {
    return { job, state: stateAtStart(job, deps.saved, now(), n * STAGGER_MS), counts: { ok: 0, failed: 0, stopped: 0 } };
  });
  const runs = new Set<Promise<void>>();
  const states = () => entries.map(({ state }) => state);
  let isStopping = false;

  const keep = () => {
    try {
      save(states());
    } catch (error) {
      onFailure(`Cannot save how the jobs went: ${messageOf(error)}`);
    }
  };

  const outcomeOf = async (entry: Entry): Promise<string | undefined> => {
    const { name, args, limitMs, isQuiet } = entry.job;
    let lastError: string | undefined;
    let isLate = false;
    const tell = isQuiet ? () => undefined : onLine;
    const child = startChild([...deps.command, ...args()], {
      env: { ...WITHOUT_FTL, ...deps.env },
      name,
      niceness: NICENESS,
      graceMs,
      onOutput: (line) => tell(name, line),
      onError: (line) => {
        lastError = line;
        tell(name, line);
      },
    });
    entry.child = child;
    const limit = setTimeout(() => {
      isLate = true;
      void child.stop();
    }, limitMs);
    const end = await child.ended;
    clearTimeout(limit);
    entry.child = undefined;
    if (isLate) return `It took longer than ${formatDuration(limitMs)}, and was ended`;
    if (end === 0 || end === 3) return undefined; // 3: some records were rejected.
    return typeof end === "number" ? (lastError ?? `It ended with exit code ${end}`) : `It was ended by ${end}`;
  };

  const run = async (entry: Entry): Promise<void> => {
    const { job, state, counts } = entry;
    Object.assign(state, { state: "running", started_at: now() });
    keep();
    const began = performance.now();
    const error = await outcomeOf(entry).catch(messageOf);
    const result: RunResult = isStopping ? "stopped" : error === undefined ? "ok" : "failed";
    Object.assign(state, { state: "waiting", result, took_ms: Math.round(performance.now() - began) });
    if (result === "ok") Object.assign(state, { succeeded_at: now(), failures: 0 });
    if (result === "failed") Object.assign(state, { failed_at: now(), failures: state.failures + 1, error });
    state.next_at = nextAfter(state, job, now());
    counts[result]++;
    if (result === "ok") job.onSuccess?.();
    if (result === "failed")
      onFailure(`The job ${job.name} failed: ${error}. It runs again in ${formatDuration(state.next_at - (state.failed_at ?? now()))}`);
    keep();
  };

  const tick = () => {
    if (isStopping) return;
    for (const entry of entries) {
      const { job, state } = entry;
      state.next_at = Math.min(state.next_at, now() + job.everyMs); // The clock may have been set back since it was chosen.
      if (state.state === "waiting" && state.result !== "failed" && job.isWanted?.() === true)
        state.next_at = Math.min(state.next_at, Math.max(now(), (state.started_at ?? 0) + WANTED_EVERY_MS));
      if (state.state === "running" || state.next_at > now()) continue;
      if (job.isNeeded?.() === false) {
        state.next_at = now() + job.everyMs;
        continue;
      }
      const isFree = entries.every((other) => other.state.state !== "running" || other.job.queue !== job.queue);
      if (!isFree) {
        if (state.state === "waiting") Object.assign(state, { state: "due" });
        continue;
      }
      const running = run(entry).finally(() => runs.delete(running));
      runs.add(running);
    }
  };

  return {
    states,
    tick,
    families: () => familiesOf(entries),
    /** Ends all runs, and returns when they have ended. Those that hang are killed after `graceMs`, or immediately if it `isForced`. */
    stop: async (isForced = false) => {
      isStopping = true;
      for (const { child } of entries) isForced ? child?.kill() : void child?.stop();
      await Promise.all(runs);
    },
  };
}

/** Restores the saved states. A job that was running when the program ended counts as stopped. */
function stateAtStart(job: Job, saved: readonly JobState[], now: EpochMs, delayMs: number): JobState {
  const last = saved.find(({ name }) => name === job.name);
  if (last === undefined) return { ...NEVER_RUN, name: job.name, every_ms: job.everyMs, next_at: now + delayMs };
  const result = last.state === "running" ? "stopped" : last.result;
  const state: JobState = { ...last, every_ms: job.everyMs, state: "waiting", result };
  return { ...state, next_at: job.runsAtStart ? now : Math.max(now + delayMs, nextAfter(state, job, now)) };
}

const NEVER_RUN = {
  state: "waiting",
  started_at: null,
  took_ms: null,
  result: null,
  succeeded_at: null,
  failed_at: null,
  error: null,
  failures: 0,
} as const;

function nextAfter({ result, started_at, failed_at, failures }: JobState, { everyMs }: Job, now: EpochMs): EpochMs {
  const next =
    result === "failed"
      ? (failed_at ?? now) + backoffMs(failures, { firstMs: RETRY_MS, maxMs: everyMs })
      : result === "stopped"
        ? (started_at ?? now) + Math.min(everyMs, RETRY_MS)
        : (started_at ?? now) + everyMs;
  return Math.min(next, now + everyMs); // Also if the clock was set back.
}

function familiesOf(entries: readonly Entry[]): Family[] {
  const runs = entries.flatMap(({ job, counts }) =>
    Object.entries(counts).map(([result, value]) => ({ labels: { job_name: job.name, result }, value })),
  );
  const of = (read: (state: JobState) => number | null) =>
    entries.flatMap(({ state }) => {
      const value = read(state);
      return value === null ? [] : [{ labels: { job_name: state.name }, value: value / 1000 }];
    });
  return [
    counter("fundfeed_job_runs_total", "Runs of a job that ended.", runs),
    gauge(
      "fundfeed_job_duration_seconds",
      "How long the last run of a job took.",
      of(({ took_ms }) => took_ms),
    ),
    gauge(
      "fundfeed_job_last_success_timestamp_seconds",
      "When a job last ended well, as a Unix timestamp.",
      of(({ succeeded_at }) => succeeded_at),
    ),
  ];
}
